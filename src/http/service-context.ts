import type Koa from 'koa';
import type { ClientLogin } from '../../projections/client-logins.ts';

/** What the middleware has found out by the time a handler runs. */
export type ServiceState = {
  /** UUID, also the correlation id of all that follows from the request. */
  requestId: string;
  /** Who asks. */
  login: ClientLogin;
  /** The `Allow` of the resource in its present state. */
  allow: string;
};

export type ServiceContext = Koa.ParameterizedContext<ServiceState>;

export type ServiceMiddleware = Koa.Middleware<ServiceState>;
