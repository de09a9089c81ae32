import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../logger.ts';
import { clock } from '../tools/clock.ts';
import { random } from '../tools/random.ts';
import type { HttpObserver } from './http-observer.ts';
import { routeOf } from './route-of.ts';
import type { ServiceMiddleware } from './service-context.ts';

export const REQUEST_ID = 'X-Request-Id';

/** What of a request is only known when it has been answered. */
export type AnsweredAs = { readonly client: string | undefined; readonly route: string };

/** Gives each request its id, the headers every answer has, and a line in the log; tells the observer of it. */
export function observeRequests(logger: Logger, observer: HttpObserver): ServiceMiddleware {
  return (ctx, next) => {
    const state: Partial<typeof ctx.state> = ctx.state;
    const answeredAs = (): AnsweredAs => ({ client: state.login?.client, route: routeOf(ctx) });
    state.requestId = observeRequest(ctx, { logger, observer }, answeredAs);
    ctx.set(REQUEST_ID, state.requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Content-Security-Policy', "default-src 'none'");
    return next();
  };
}

/** Tells log and observer of the request, the rest of it as soon as its answer has ended. Returns a new id for it. */
export function observeRequest(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  { logger, observer }: { readonly logger: Logger; readonly observer: HttpObserver },
  answeredAs: () => AnsweredAs,
): string {
  const started = clock.monotonic();
  const requestId = random.uuid();
  observer.began();
  res.once('close', () => {
    const { client, route } = answeredAs();
    const passed = clock.monotonic() - started;
    const ms = Math.round(passed * 10) / 10;
    const { method = '', url } = req;
    const path = url?.startsWith('/') ? url.split('?', 1)[0] : undefined;
    const whole = res.writableFinished;
    const status = res.headersSent ? res.statusCode : null; // of a client that has gone before it was answered
    logger.info({ requestId, client, method, path, status, ms, whole }, 'request');
    observer.ended({ method, route, status: status ?? 'none', seconds: passed / 1000 });
  });
  return requestId;
}
