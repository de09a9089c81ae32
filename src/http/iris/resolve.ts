import type { ObjectReader } from '../../contents/object-reader.ts';
import { type ResolvedObject, type Resolver, SEARCHED_TREES } from '../../contents/resolver.ts';
import type { RenderContext } from '../../sword/documents/document.ts';
import { badRequest, notFound, quoted } from '../../sword/sword-error.ts';
import { untilClientGone } from '../requests/request-body.ts';
import { swhidsIn } from '../requests/swhid-in-path.ts';
import { answerObject } from '../responses/answer-object.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { depositIdIn, resource } from './resource.ts';

/** Path before the SWHID, which may contain slashes. */
const PREFIX = '/1/resolve/';

/** Serves the object that a SWHID names among the completed deposits of the client. */
export function resolveIri(
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
      if (!found) throw notFound(`No deposit of this client that is done has ${quoted(text)}. ${HINT}`);
      return found;
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
