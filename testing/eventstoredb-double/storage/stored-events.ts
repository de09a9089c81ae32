export type ProposedEvent = {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
};

export type StoredEvent = ProposedEvent & {
  readonly stream: string;
  readonly revision: number;
  /** Commit and prepare position alike, as for every event that was not written in an explicit transaction. */
  readonly position: bigint;
  /** Hundreds of nanoseconds since 1970. */
  readonly created: bigint;
};

/** Bytes that the server adds to an event on disk, besides its own parts. */
const OVERHEAD_BYTES = 100;

/** Returns the bytes of the event in the log. The next event begins behind them. */
export function sizeOf({ stream, type, data, metadata }: Omit<StoredEvent, 'position'>): bigint {
  return BigInt(OVERHEAD_BYTES + stream.length + type.length + data.length + metadata.length);
}

/** Returns whether `$all` leaves the stream out: checkpoints and parked events of groups on `$all`. */
export function isHiddenFromAll(stream: string): boolean {
  return /^\$persistentsubscription-\$all::.*-(checkpoint|parked)$/.test(stream);
}
