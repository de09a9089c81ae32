import type { ServiceContext } from './service-context.ts';

const HEALTH = /^\/health\/(?:live|ready)(?=\/?$)/;

/**
 * Returns the pattern of the route that a request matched, which contains no text of clients; `none` without a route.
 */
export function routeOf(ctx: ServiceContext): string {
  // Set by @koa/router. Always a string, since every route here is one.
  const { _matchedRoute: matched } = ctx as { _matchedRoute?: string };
  if (matched !== undefined) return matched;
  const [path = ''] = (ctx.req.url ?? '').split('?', 1);
  return HEALTH.exec(path)?.[0] ?? 'none';
}
