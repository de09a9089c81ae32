import type { IncomingMessage, ServerResponse } from 'node:http';
import { EVENT_STREAM_TYPE } from '../../sword/headers/media-type.ts';
import { beginServerSpan, type ServerSpan } from '../../tools/span.ts';
import { routeOf } from '../route-of.ts';
import type { ServiceMiddleware } from '../service-context.ts';

/** Maximum characters of a path in a span. */
const LONGEST_PATH = 256;

/** Attributes of a request that are known only when it has been answered. */
type AnsweredAs = { readonly requestId: string; readonly route: string };

/** Records each request, except for health, as a span of the trace that its `traceparent` names. It ends with the answer. */
export function traceRequests(): ServiceMiddleware {
  return (ctx, next) => {
    const state: Partial<typeof ctx.state> = ctx.state;
    const answeredAs = (): AnsweredAs => ({ requestId: state.requestId ?? '', route: routeOf(ctx) });
    const span = traceRequest(ctx, answeredAs);
    return span ? span.run(next) : next();
  };
}

/** Returns whether the answer is a stream of events, which ends when its reader leaves. */
function isOpenEnded(res: ServerResponse): boolean {
  return res.headersSent && res.errored === null && res.getHeader('Content-Type') === EVENT_STREAM_TYPE;
}

/** Returns the span of a request, which ends by itself; `undefined` for requests that are not traced. */
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
