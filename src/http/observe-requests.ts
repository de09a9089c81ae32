import { randomUUID } from 'node:crypto';
import type { Logger } from '../logger.ts';
import type { ServiceMiddleware } from './service-context.ts';

/** Gives each request its id, the headers every answer has, and a line in the log. */
export function observeRequests(logger: Logger): ServiceMiddleware {
  return async (ctx, next) => {
    const started = performance.now();
    ctx.state.requestId = randomUUID();
    ctx.set('X-Request-Id', ctx.state.requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Content-Security-Policy', "default-src 'none'");
    ctx.res.once('close', () => {
      const { requestId, login } = ctx.state as Partial<typeof ctx.state>;
      const ms = Math.round((performance.now() - started) * 10) / 10;
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
    });
    await next();
  };
}
