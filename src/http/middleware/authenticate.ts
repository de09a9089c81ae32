import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import type { Credentials } from './credentials.ts';

/** Requires valid credentials for all later middleware and forbids caching of their responses. */
export function authenticate(credentials: Credentials, trustProxy: boolean): ServiceMiddleware {
  return async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    const verify = () => credentials.verify(ctx.req.headers.authorization, addressOf(ctx, trustProxy));
    ctx.state.login = await verify();
    ctx.state.verifyAgain = verify;
    await next();
  };
}

/**
 * Returns the client's address. Behind a trusted proxy it is the last one in `X-Forwarded-For`, which the proxy added.
 */
export function addressOf({ req }: ServiceContext, trustProxy: boolean): string {
  const forwarded = trustProxy
    ? String(req.headers['x-forwarded-for'] ?? '')
        .split(',')
        .at(-1)
        ?.trim()
    : undefined;
  return forwarded || (req.socket.remoteAddress ?? 'unknown');
}
