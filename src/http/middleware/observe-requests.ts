import type { IncomingMessage, ServerResponse } from 'node:http';
import { EVENT_STREAM_TYPE } from '../../sword/headers/media-type.ts';
import { clock } from '../../tools/clock.ts';
import type { Logger } from '../../tools/logger.ts';
import { random } from '../../tools/random.ts';
import { beginServerSpan, NO_SERVER_SPAN } from '../../tools/span.ts';
import type { HttpObserver } from '../http-observer.ts';
import { routeOf } from '../route-table.ts';
import type { ServiceMiddleware } from '../service-context.ts';

export const REQUEST_ID = 'X-Request-Id';

/** Maximum characters of a path in a span. */
const LONGEST_PATH = 256;

/** Facts of a request that are known only after its response. */
export type AnsweredAs = { readonly client: string | undefined; readonly route: string };

export type ObservingOptions = {
  readonly logger: Logger;
  readonly observer: HttpObserver;
  /** Scheme that clients use, also if a proxy ends TLS. */
  readonly scheme: 'http' | 'https';
};

/** Gives each request its id and the headers of every response, and observes it. */
export function observeRequests(options: ObservingOptions): ServiceMiddleware {
  return (ctx, next) => {
    const state: Partial<typeof ctx.state> = ctx.state;
    const answeredAs = (): AnsweredAs => ({ client: state.login?.client, route: routeOf(ctx) });
    const { requestId, run } = observeRequest(ctx, options, answeredAs);
    state.requestId = requestId;
    ctx.set(REQUEST_ID, requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Content-Security-Policy', "default-src 'none'");
    return run(next);
  };
}

/**
 * Observes a request: its outcome is logged and reported to the observer once the response has ended. Each request,
 * except for health, is a span of the trace that its `traceparent` names. Returns the new id of the request, and a
 * function that runs work in the span.
 */
export function observeRequest(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  { logger, observer, scheme }: ObservingOptions,
  answeredAs: () => AnsweredAs,
): { readonly requestId: string; readonly run: <Result>(work: () => Result) => Result } {
  const started = clock.monotonic();
  const requestId = random.uuid();
  const { method = '', url = '' } = req;
  const [target = ''] = url.split('?', 1);
  const span = target.startsWith('/health/')
    ? NO_SERVER_SPAN
    : beginServerSpan(method, req.headers, {
        'http.request.method': method,
        'url.scheme': scheme,
        'url.path': target.slice(0, LONGEST_PATH),
      });
  observer.began();
  res.once('close', () => {
    const { client, route } = answeredAs();
    const elapsedMs = clock.monotonic() - started;
    const ms = Math.round(elapsedMs * 10) / 10;
    const path = req.url?.startsWith('/') ? req.url.split('?', 1)[0] : undefined;
    const { statusCode, writableFinished: whole } = res;
    const status = res.headersSent ? statusCode : null; // null: the client closed the connection before the response
    logger.info({ requestId, client, method, path, status, ms, whole }, 'request');
    observer.ended({ method, route, status: status ?? 'none', seconds: elapsedMs / 1000 });
    const attributes = {
      'http.route': route,
      'http.response.status_code': statusCode,
      'deposit.request': requestId,
    };
    const failed = statusCode >= 500 || !(whole || isOpenEnded(res));
    span.end(route === 'none' ? method : `${method} ${route}`, attributes, failed);
  });
  return { requestId, run: span.run };
}

/** Returns whether the answer is a stream of events, which ends when its reader leaves. */
function isOpenEnded(res: ServerResponse): boolean {
  return res.headersSent && res.errored === null && res.getHeader('Content-Type') === EVENT_STREAM_TYPE;
}
