import { refuseMediation } from '../../sword/headers/on-behalf-of.ts';
import { notAllowed } from '../../sword/sword-error.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

/** Handlers by method. HEAD is served by GET unless it has its own handler; OPTIONS is always possible. */
export type Handlers<Target> = {
  readonly [M in Method]?: (ctx: ServiceContext, target: Target) => Promise<void>;
};

export type Resource<Target> = {
  /** Finds what the path names; rejects with 404. */
  readonly find: (ctx: ServiceContext) => Promise<Target>;
  readonly handlers: Handlers<Target>;
  /** Returns whether a method is possible in the target's present state. Default: all are. */
  readonly possible?: (target: Target, method: Method, ctx: ServiceContext) => boolean;
};

/** Routes the methods of one resource. Order of the checks: 405 for the route, 404, mediation, then the handler. */
export function resource<Target>({
  find,
  handlers,
  possible = () => true,
}: Resource<Target>): ServiceMiddleware {
  return async (ctx) => {
    const method = ctx.method === 'HEAD' && !handlers.HEAD ? 'GET' : ctx.method;
    const handler = isMethod(method) ? handlers[method] : undefined;
    if (!handler && method !== 'OPTIONS') {
      const target = await find(ctx).catch(() => undefined);
      throw notAllowed(
        ctx.method,
        allowed(handlers, (one) => target === undefined || possible(target, one, ctx)),
      );
    }
    const target = await find(ctx);
    ctx.state.allow = () => allowed(handlers, (one) => possible(target, one, ctx));
    if (!handler) {
      ctx.set('Allow', ctx.state.allow());
      ctx.status = 204;
      return;
    }
    if (method !== 'GET' && method !== 'HEAD') refuseMediation(ctx.req.headers['on-behalf-of']);
    await handler(ctx, target);
  };
}

function allowed<Target>(handlers: Handlers<Target>, possible: (method: Method) => boolean): string {
  const methods = METHODS.filter((method) => handlers[method] && possible(method));
  return methods
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .concat('OPTIONS')
    .join(', ');
}

function isMethod(method: string): method is Method {
  return METHODS.some((known) => known === method);
}
