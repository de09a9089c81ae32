import { beginServerSpan } from '../tracing/span.ts';
import { routeOf } from './route-of.ts';
import type { ServiceMiddleware } from './service-context.ts';

/** Of a path in a span: clients can send much more. */
const LONGEST_PATH = 256;

/** Each request but those for health is a span, part of the trace its `traceparent` names; it ends with its answer. */
export function traceRequests(): ServiceMiddleware {
  return (ctx, next) => {
    const { method, req, res } = ctx;
    const [path = ''] = (req.url ?? '').split('?', 1);
    if (path.startsWith('/health/')) return next();
    const span = beginServerSpan(method, req.headers, {
      'http.request.method': method,
      'url.path': path.slice(0, LONGEST_PATH),
    });
    res.once('close', () => {
      const route = routeOf(ctx);
      const { requestId = '' } = ctx.state as Partial<typeof ctx.state>;
      const attributes = {
        'http.route': route,
        'http.response.status_code': res.statusCode,
        'deposit.request': requestId,
      };
      const failed = res.statusCode >= 500 || !res.writableFinished;
      span.end(route === 'none' ? method : `${method} ${route}`, attributes, failed);
    });
    return span.run(next);
  };
}
