import { gunzipSync } from 'node:zlib';

/** An event as a server of EventStoreDB has stored it. */
export type DumpedEvent = {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  /** Commit and prepare position, which are the same. */
  readonly position: bigint;
  /** Hundreds of nanoseconds since 1970. */
  readonly created: bigint;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
};

/** A persistent subscription to `$all`, as the service had it made, and how far it had come. */
export type DumpedGroup = {
  readonly name: string;
  /** The filter: names of streams begin with it. */
  readonly streamPrefix: string;
  /** Where the group began; `null` for the beginning of the log. */
  readonly startedAfter: string | null;
  readonly messageTimeout: number;
  readonly maxRetryCount: number;
  readonly strategy: 'Pinned' | 'RoundRobin';
  /** Position of the last event before every one that was not acknowledged; `null` before the first. */
  readonly checkpoint: string | null;
  readonly lastKnown: string | null;
  readonly unacknowledged: number;
  readonly parked: number;
};

/** Unpacks events from NDJSON. Data and metadata are text, as all events of the service are JSON. */
export function unpackedEvents(packed: Uint8Array): readonly DumpedEvent[] {
  const lines = gunzipSync(packed).toString().trimEnd().split('\n');
  return lines.map((line) => {
    const { position, created, data, metadata, ...others } = JSON.parse(line) as Line;
    const bytes = { data: Buffer.from(data), metadata: Buffer.from(metadata) };
    return { ...others, ...bytes, position: BigInt(position), created: BigInt(created) };
  });
}

type Line = Omit<DumpedEvent, 'position' | 'created' | 'data' | 'metadata'> &
  Record<'position' | 'created' | 'data' | 'metadata', string>;
