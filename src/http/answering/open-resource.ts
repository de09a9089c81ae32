import { notAllowed } from '../resource.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';

const ALLOW = 'GET, HEAD, OPTIONS';

/** What can be read at a path without credentials, and kept by caches. */
export function openResource(
  path: string,
  answer: (ctx: ServiceContext) => void | Promise<void>,
): ServiceMiddleware {
  return (ctx, next) => (ctx.path === path ? tell(ctx) : next());

  async function tell(ctx: ServiceContext): Promise<void> {
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
