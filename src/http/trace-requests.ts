import type { IncomingMessage, ServerResponse } from 'node:http';
import { beginServerSpan, type ServerSpan } from '../tracing/span.ts';
import { EVENTS_TYPE } from './events/answer-events.ts';
import { routeOf } from './route-of.ts';
import type { ServiceMiddleware } from './service-context.ts';

/** Of a path in a span: clients can send much more. */
const LONGEST_PATH = 256;

/** What of a request is only known when it has been answered. */
type AnsweredAs = { readonly requestId: string; readonly route: string };

/** Each request but those for health is a span, part of the trace its `traceparent` names; it ends with its answer. */
export function traceRequests(): ServiceMiddleware {
  return (ctx, next) => {
    const state: Partial<typeof ctx.state> = ctx.state;
    const answeredAs = (): AnsweredAs => ({ requestId: state.requestId ?? '', route: routeOf(ctx) });
    const span = traceRequest(ctx, answeredAs);
    return span ? span.run(next) : next();
  };
}

/** A stream of events is left by its reader: that is its ordinary end. */
function isOpenEnded(res: ServerResponse): boolean {
  return res.headersSent && res.errored === null && res.getHeader('Content-Type') === EVENTS_TYPE;
}

/** The span of a request, which ends by itself; `undefined` where there is to be none. */
export function traceRequest(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  answeredAs: () => AnsweredAs,
): ServerSpan | undefined {
  const { method = '', url = '', headers } = req;
  const [path = ''] = url.split('?', 1);
  if (path.startsWith('/health/')) return undefined;
  const span = beginServerSpan(method, headers, {
    'http.request.method': method,
    'url.path': path.slice(0, LONGEST_PATH),
  });
  res.once('close', () => {
    const { requestId, route } = answeredAs();
    const attributes = {
      'http.route': route,
      'http.response.status_code': res.statusCode,
      'deposit.request': requestId,
    };
    const failed = res.statusCode >= 500 || !(res.writableFinished || isOpenEnded(res));
    span.end(route === 'none' ? method : `${method} ${route}`, attributes, failed);
  });
  return span;
}
