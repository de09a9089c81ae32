import type { ObjectBytes } from '../../resolving/object-bytes.ts';
import { type ResolvedObject, type Resolver, SEARCHED_TREES } from '../../resolving/resolver.ts';
import type { Language } from '../../sword/documents/language.ts';
import { badRequest, notFound, quoted } from '../../sword/sword-error.ts';
import { answerObject } from '../answering/answer-object.ts';
import { swhidsIn } from '../answering/swhid-in-path.ts';
import { depositIdIn, resource } from '../resource.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';

/** Behind it is a SWHID, in which there may be slashes. */
const PREFIX = '/1/resolve/';

/** What a SWHID names among the deposits of the client that are done. */
export function resolveIri(resolver: Resolver, objects: ObjectBytes, language: Language): ServiceMiddleware {
  return resource<ResolvedObject>({
    find: async (ctx) => {
      const text = ctx.path.slice(PREFIX.length);
      const found = await resolver.resolve(ctx.state.login, swhidsIn(text));
      if (!found) throw notFound(`No deposit of this client that is done has ${quoted(text)}. ${HINT}`);
      return found;
    },
    handlers: {
      GET: async (ctx, object) => {
        const withIt = resolver.depositsWith(ctx.state.login, object, below(ctx));
        await answerObject(ctx, object, withIt, objects, language);
      },
    },
  });
}

const HINT = `A content, or a directory inside a deposit, is looked for in the ${SEARCHED_TREES} newest trees; in older ones it is found with ;anchor=swh:1:rev:… (or the dir or snp) or ;visit=swh:1:snp:… of the deposit.`;

/** Where the deposits of another page ended. */
function below({ query }: ServiceContext): number | undefined {
  if (query['below'] === undefined) return undefined;
  const id = depositIdIn(String(query['below']));
  if (id === undefined)
    throw badRequest(`below=${quoted(String(query['below']))} is not the id of a deposit.`);
  return id;
}
