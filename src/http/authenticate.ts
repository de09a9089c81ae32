import type { Credentials } from './credentials.ts';
import type { ServiceContext, ServiceMiddleware } from './service-context.ts';

/** Nothing behind this is reached without acceptable credentials; nothing of it may be kept by a cache. */
export function authenticate(credentials: Credentials, trustProxy: boolean): ServiceMiddleware {
  return async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.state.login = await credentials.verify(ctx.req.headers.authorization, addressOf(ctx, trustProxy));
    await next();
  };
}

/** Behind a trusted proxy the address is the one it saw: the last it has added. */
function addressOf({ req }: ServiceContext, trustProxy: boolean): string {
  const forwarded = trustProxy
    ? String(req.headers['x-forwarded-for'] ?? '')
        .split(',')
        .at(-1)
        ?.trim()
    : undefined;
  return forwarded || (req.socket.remoteAddress ?? 'unknown');
}
