import { notAllowed } from '../iris/resource.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';

const ALLOW = 'GET, HEAD, OPTIONS';

/** Serves a resource at a path without credentials; caches may store it. */
export function publicResource(
  path: string,
  answer: (ctx: ServiceContext) => void | Promise<void>,
): ServiceMiddleware {
  return (ctx, next) => (ctx.path === path ? serve(ctx) : next());

  async function serve(ctx: ServiceContext): Promise<void> {
    if (ctx.method === 'OPTIONS') {
      ctx.set('Allow', ALLOW);
      ctx.status = 204;
      return;
    }
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw notAllowed(ctx.method, ALLOW);
    ctx.set('Cache-Control', 'max-age=3600');
    ctx.vary('Accept');
    await answer(ctx);
  }
}
