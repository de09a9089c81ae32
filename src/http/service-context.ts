import type Koa from 'koa';
import type { ClientLogin } from '../../projections/client-logins.ts';

/** Holds what the middleware found out before a handler runs. */
export type RequestState = {
  /** UUID, also the correlation id of all that follows from the request. */
  requestId: string;
  /** The client that sent the request. */
  login: ClientLogin;
  /** Verifies the credentials of the request again, by the views as they are now. */
  verifyAgain: () => Promise<ClientLogin>;
  /** The `Allow` of the resource in its present state. */
  allow: () => string;
  /** The lock of the upload that the request names in place of a body. */
  namedUpload?: Disposable;
};

export type ServiceContext = Koa.ParameterizedContext<RequestState>;

export type ServiceMiddleware = Koa.Middleware<RequestState>;
