import { notAllowed } from '../../sword/sword-error.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';

type Answer = (ctx: ServiceContext) => void | Promise<void>;

/** Serves the resources that need no credentials, by path. */
export function publicResources(resources: ReadonlyMap<string, Answer>): ServiceMiddleware {
  return (ctx, next) => {
    const answer = resources.get(ctx.path);
    return answer ? answer(ctx) : next();
  };
}

const ALLOW = 'GET, HEAD, OPTIONS';

/** Returns a document that caches may store. */
export function publicDocument(answer: Answer): Answer {
  return async (ctx) => {
    if (ctx.method === 'OPTIONS') {
      ctx.set('Allow', ALLOW);
      ctx.status = 204;
      return;
    }
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw notAllowed(ctx.method, ALLOW);
    ctx.set('Cache-Control', 'max-age=3600');
    ctx.vary('Accept');
    await answer(ctx);
  };
}
