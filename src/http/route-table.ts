import type { ServiceContext } from './service-context.ts';

/** Paths that require credentials, in the order in which the router tries them: specific ones first. */
export const ROUTES = {
  serviceDocument: '/1/servicedocument',
  collectionService: '/1/servicedocument/:collection',
  resolve: '/1/resolve/*swhid',
  collection: '/1/:collection',
  uploads: '/1/:collection/uploads',
  upload: '/1/:collection/uploads/:upload',
  metadata: '/1/:collection/:deposit/metadata',
  atom: '/1/:collection/:deposit/atom', // spelling of an existing client
  media: '/1/:collection/:deposit/media',
  mediaFeed: '/1/:collection/:deposit/media/feed',
  file: '/1/:collection/:deposit/media/:file',
  status: '/1/:collection/:deposit/status',
  content: '/1/:collection/:deposit/content',
  statement: '/1/:collection/:deposit/statement',
  statementRdf: '/1/:collection/:deposit/statement/rdf',
  collectionEvents: '/1/:collection/events',
  notifications: '/1/:collection/notifications',
  events: '/1/:collection/:deposit/events',
  history: '/1/:collection/:deposit/history',
} as const;

/** Paths that require no credentials. */
export const OPEN_ROUTES = {
  landingPage: '/',
  openApi: '/openapi.json',
  live: '/health/live',
  ready: '/health/ready',
} as const;

export type RouteName = keyof typeof ROUTES;

const HEALTH = /^\/health\/(?:live|ready)(?=\/?$)/;

/** Returns the pattern of the matched route, which contains no text of clients; `none` without a route. */
export function routeOf(ctx: ServiceContext): string {
  // Set by @koa/router. Always a string, since every route here is one.
  const { _matchedRoute: matched } = ctx as { _matchedRoute?: string };
  if (matched !== undefined) return matched;
  const [path = ''] = (ctx.req.url ?? '').split('?', 1);
  return HEALTH.exec(path)?.[0] ?? 'none';
}
