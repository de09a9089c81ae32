import { mayBeAnywhere } from '../../contents/deposit-filter.ts';
import type { ObjectReader } from '../../contents/object-reader.ts';
import { type ResolvedObject, type Resolver, SEARCHED_TREES } from '../../contents/resolver.ts';
import { formatQualifiedSwhid, InvalidSwhid, parseReference, type Swhid } from '../../swhid/swhid.ts';
import type { RenderContext } from '../../sword/documents/document.ts';
import { badRequest, notFound, quoted } from '../../sword/sword-error.ts';
import { depositIdIn } from '../requests/path-names.ts';
import { untilClientGone } from '../requests/request-body.ts';
import { answerObject } from '../responses/answer-object.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { resource } from './resource.ts';

/** Path before the SWHID, which may contain slashes. */
const PREFIX = '/1/resolve/';

/** Serves the object that a SWHID names among the completed deposits of the client. */
export function resolveHandler(
  resolver: Resolver,
  objects: ObjectReader,
  renderContext: RenderContext,
): ServiceMiddleware {
  return resource<ResolvedObject>({
    find: async (ctx) => {
      const text = ctx.path.slice(PREFIX.length);
      const readings = swhidsIn(text);
      const found = await untilClientGone(ctx, (signal) =>
        resolver.resolve(ctx.state.login, readings, signal),
      );
      if (found) return found;
      const hint = readings.some(mayBeAnywhere) ? ` ${HINT}` : '';
      throw notFound(`No deposit of this client that is done has ${quoted(withoutSlash(text))}.${hint}`);
    },
    handlers: {
      GET: async (ctx, object) => {
        const containing = resolver.depositsWith(ctx.state.login, object, below(ctx));
        await answerObject(ctx, object, containing, objects, renderContext);
      },
    },
  });
}

const HINT = `Only your ${SEARCHED_TREES} newest deposits are searched for files and subfolders; add ;anchor=swh:1:rev:… (or dir, snp) or ;visit=swh:1:snp:… to search an older one.`;

/** Returns the deposit id at which the previous page ended. */
function below({ query }: ServiceContext): number | undefined {
  if (query['below'] === undefined) return undefined;
  const id = depositIdIn(String(query['below']));
  if (id === undefined)
    throw badRequest(`below=${quoted(String(query['below']))} is not the id of a deposit.`);
  return id;
}

/**
 * Parses the end of a path as a SWHID: verbatim or percent-encoded as a whole, each with or without a trailing slash.
 * Usually one reading is valid; of several, the first that names an object counts.
 * @throws {SwordError} 400: no reading is valid.
 */
function swhidsIn(text: string): readonly Swhid[] {
  // If the whole is encoded, its own slashes are too: a trailing one is the path's.
  const texts = [text, withoutSlash(text), ...decoded(withoutSlash(text)), ...decoded(text)];
  const read = texts.flatMap((one) => parsed(one));
  const distinct = new Map(read.map((swhid) => [formatQualifiedSwhid(swhid), swhid]));
  if (distinct.size > 0) return [...distinct.values()];
  throw badRequest(reasonFor(decoded(text)[0] ?? text), {
    verboseDescription: `${quoted(withoutSlash(text))} is not a SWHID such as swh:1:dir: and 40 lower-case hex digits, with or without qualifiers.`,
  });
}

function parsed(text: string): Swhid[] {
  try {
    return [parseReference(text)];
  } catch (error) {
    if (error instanceof InvalidSwhid) return [];
    throw error;
  }
}

function reasonFor(text: string): string {
  try {
    parseReference(withoutSlash(text));
    return `${quoted(text)} is not a SWHID.`;
  } catch (error) {
    return error instanceof InvalidSwhid ? error.message : String(error);
  }
}

function withoutSlash(text: string): string {
  return text.endsWith('/') ? text.slice(0, -1) : text;
}

/** Returns the decoded text, or an empty array if the encoding is broken. */
function decoded(text: string): string[] {
  try {
    return [decodeURIComponent(text)];
  } catch {
    return [];
  }
}
