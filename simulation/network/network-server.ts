import type { Incarnation } from '../world/host.ts';
import type { CallName } from '../world/world.ts';

export type NetworkRequest = {
  readonly process: Incarnation;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

export type NetworkAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** The outcome of a request that arrives. */
export type NetworkOutcome =
  | { readonly kind: 'answer'; readonly answer: NetworkAnswer; readonly delay?: number }
  /** The connection is refused, or breaks. */
  | { readonly kind: 'error'; readonly code: 'ECONNREFUSED' | 'ECONNRESET' }
  /** No answer ever comes. */
  | { readonly kind: 'silence' };

/** A simulated HTTP server. */
export interface NetworkServer {
  /** Returns the call that a request counts as. */
  callOf(request: Pick<NetworkRequest, 'method' | 'path'>): CallName | undefined;
  handle(request: NetworkRequest): NetworkOutcome;
}
