import { randomUUID } from 'node:crypto';
import type { Logger } from '../logger.ts';
import type { HttpObserver } from './http-observer.ts';
import { routeOf } from './route-of.ts';
import type { ServiceMiddleware } from './service-context.ts';

/** Gives each request its id, the headers every answer has, and a line in the log; tells the observer of it. */
export function observeRequests(logger: Logger, observer: HttpObserver): ServiceMiddleware {
  return async (ctx, next) => {
    const started = performance.now();
    observer.began();
    ctx.state.requestId = randomUUID();
    ctx.set('X-Request-Id', ctx.state.requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Content-Security-Policy', "default-src 'none'");
    ctx.res.once('close', () => {
      const { requestId, login } = ctx.state as Partial<typeof ctx.state>;
      const passed = performance.now() - started;
      const ms = Math.round(passed * 10) / 10;
      const { method } = ctx;
      const path = ctx.req.url?.startsWith('/') ? ctx.req.url.split('?', 1)[0] : undefined;
      const whole = ctx.res.writableFinished;
      const fields = {
        requestId,
        client: login?.client,
        method,
        path,
        status: ctx.res.statusCode,
        ms,
        whole,
      };
      logger.info(fields, 'request');
      const status = ctx.res.headersSent ? ctx.res.statusCode : 'none';
      observer.ended({ method, route: routeOf(ctx), status, seconds: passed / 1000 });
    });
    await next();
  };
}
