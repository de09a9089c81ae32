import type { ServiceContext } from './service-context.ts';

const HEALTH = /^\/health\/(?:live|ready)(?=\/?$)/;

/** The pattern of the route that a request came to, without what clients can choose; `none` without a route. */
export function routeOf(ctx: ServiceContext): string {
  // Set by @koa/router; only a string, since every route here is given as one.
  const { _matchedRoute: matched } = ctx as { _matchedRoute?: string };
  if (matched !== undefined) return matched;
  const [path = ''] = (ctx.req.url ?? '').split('?', 1);
  return HEALTH.exec(path)?.[0] ?? 'none';
}
