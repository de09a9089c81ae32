/** A request of a client. Marks name contents; two invocations have the same mark only if one repeats the other. */
export type Invocation = {
  readonly kind: 'create' | 'add' | 'replace' | 'complete' | 'delete' | 'status' | 'receipt';
  /** Missing in a creation. */
  readonly deposit?: number;
  /** Marks of the archive and of the entry that the request brings. */
  readonly archive?: string;
  readonly entry?: string;
  /** Whether the request completes the deposit. */
  readonly isFinal?: boolean;
  /** The `Idempotency-Key`. */
  readonly key?: string;
  /** The revision in `If-Match`. */
  readonly ifMatch?: number;
};

/** The facts about a deposit in an answer. Facts that it does not show are missing. */
export type Shown = {
  readonly deposit?: number;
  /** From the `ETag`. */
  readonly revision?: number;
  readonly status?: string;
  /** Marks of the archives, in their order. */
  readonly archives?: readonly string[];
  readonly entries?: readonly string[];
};

/** One request as its client saw it: a line of the history. Times are microseconds of a monotonic clock. */
export type Operation = Invocation & {
  readonly client: number;
  readonly node: string;
  readonly call: number;
  readonly return: number;
  /** The status code; 0: no answer. */
  readonly code: number;
  readonly shown?: Shown;
  /** The node may have answered with an earlier state: it did not reach the log, or read from a leader that was deposed. */
  readonly mayLag?: boolean;
};

/** `unknown`: the request may have been carried out or not, at any time since it was sent. */
export type Outcome = 'done' | 'refused' | 'unknown';

export function outcomeOf({ code }: Pick<Operation, 'code'>): Outcome {
  if (code === 0 || code >= 500) return 'unknown';
  return code < 400 ? 'done' : 'refused';
}

export function isRead({ kind }: Pick<Invocation, 'kind'>): boolean {
  return kind === 'status' || kind === 'receipt';
}
