/** The answer to a request of a client. */
export type Answer = {
  readonly begunAt: number;
  readonly endedAt: number;
  readonly node: string;
  /** The node was stopped at some time during the request. */
  readonly wasPaused: boolean;
  readonly command: 'create' | 'add' | 'replace' | 'remove' | 'complete' | 'delete' | 'annotate' | 'upload';
  /** The name of the deposit in the plan. */
  readonly deposit: string;
  /** The request was the final one. */
  readonly isFinal: boolean;
  readonly key: string | undefined;
  readonly outcome: Success | Failure;
};

export type Success = {
  readonly kind: 'success';
  readonly depositId: number;
  readonly revision: number;
  /** The document in the answer; `undefined` when the deposit is not there. */
  readonly shown: { readonly revision: number } | undefined;
};

export type Failure = {
  readonly kind: 'failure';
  readonly name: string;
  readonly code: string;
  readonly message: string;
};
