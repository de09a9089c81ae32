/** An event that a reactor gave up, as an operator sees it. */
export type ParkedRow = {
  readonly reactor: string;
  readonly eventId: string;
  readonly stream: string;
  readonly depositId: number | null;
  /** Number of the event in its stream. */
  readonly revision: number;
  readonly reason: string;
  /** Digest of the object that could not be read; the event continues once the object is readable. */
  readonly object: string | null;
  /** When it was parked last. */
  readonly since: string;
  /** How often it was parked. */
  readonly times: number;
};

export type ParkedWork = { readonly parked: readonly ParkedRow[] };
