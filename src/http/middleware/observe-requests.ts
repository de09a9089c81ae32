import type { IncomingMessage, ServerResponse } from 'node:http';
import { clock } from '../../tools/clock.ts';
import type { Logger } from '../../tools/logger.ts';
import { random } from '../../tools/random.ts';
import { routeOf } from '../route-of.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import type { HttpObserver } from './http-observer.ts';

export const REQUEST_ID = 'X-Request-Id';

/** Facts of a request that are known only after its response. */
export type AnsweredAs = { readonly client: string | undefined; readonly route: string };

/** Gives each request its id and the headers of every response, logs it and reports it to the observer. */
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

/**
 * Reports the request to the observer, and its outcome to log and observer once the response has ended. Returns the new
 * id of the request.
 */
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
    const elapsedMs = clock.monotonic() - started;
    const ms = Math.round(elapsedMs * 10) / 10;
    const { method = '', url } = req;
    const path = url?.startsWith('/') ? url.split('?', 1)[0] : undefined;
    const whole = res.writableFinished;
    const status = res.headersSent ? res.statusCode : null; // null: the client closed the connection before the response
    logger.info({ requestId, client, method, path, status, ms, whole }, 'request');
    observer.ended({ method, route, status: status ?? 'none', seconds: elapsedMs / 1000 });
  });
  return requestId;
}
