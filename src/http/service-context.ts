import type Koa from 'koa';
import type { ClientLogin } from '../../projections/client-logins.ts';
import type { UploadInUse } from './receiving/upload-in-use.ts';

/** What the middleware has found out by the time a handler runs. */
export type ServiceState = {
  /** UUID, also the correlation id of all that follows from the request. */
  requestId: string;
  /** Who asks. */
  login: ClientLogin;
  /** The `Allow` of the resource in its present state. */
  allow: () => string;
  /** What the request has named in place of a body. */
  upload?: UploadInUse;
};

export type ServiceContext = Koa.ParameterizedContext<ServiceState>;

export type ServiceMiddleware = Koa.Middleware<ServiceState>;
