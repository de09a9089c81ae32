import type { EventLog, Position, RecordedEvent } from '../event-log.ts';
import { isNestedTooDeeply } from './hash-chain.ts';

/**
 * Reads the log for an audit: a corrupt record is yielded as a fault in its place, and the reading continues after it.
 */
export interface LogAudit extends AsyncDisposable {
  /** Yields all records up to the end in order, beginning with the event at `from`. */
  events(from?: Position): AsyncIterable<AuditedRecord>;

  /** Yields the events of one stream, oldest first. */
  stream(name: string): AsyncIterable<AuditedRecord>;

  /** Resolves to the number of events; `undefined` when the engine does not count them. */
  count(): Promise<number | undefined>;

  /** Resolves to faults of the storage that no event shows: in files, indexes and schema. */
  structure(): Promise<readonly StorageFault[]>;
}

export type AuditedRecord =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | ({ readonly kind: 'unreadable' } & UnreadableRecord);

/** A record that is not a valid event, or that is missing. */
export type UnreadableRecord = {
  readonly position: Position;
  /** The name of the stream, as far as known. */
  readonly stream: string | undefined;
  readonly revision: number | undefined;
  /** A predicate, as in "… has data that are no JSON". */
  readonly reason: string;
};

export type StorageFault = { readonly file: string; readonly text: string };

/** Audits logs whose engine checks its own files. */
export class PlainLogAudit implements LogAudit {
  readonly #log: EventLog;

  constructor(log: EventLog) {
    this.#log = log;
  }

  events(from = ''): AsyncIterable<AuditedRecord> {
    return records(this.#log.readAll(), from);
  }

  stream(name: string): AsyncIterable<AuditedRecord> {
    return records(this.#log.readStream(name));
  }

  count(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  structure(): Promise<readonly StorageFault[]> {
    return Promise.resolve([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#log[Symbol.asyncDispose]();
  }
}

async function* records(events: AsyncIterable<RecordedEvent>, from = ''): AsyncGenerator<AuditedRecord> {
  for await (const event of events) {
    if (event.position < from) continue;
    if (![event.data, event.metadata].some((part) => isNestedTooDeeply(part))) yield { kind: 'event', event };
    else {
      const { position, stream, revision } = event;
      yield { kind: 'unreadable', position, stream, revision, reason: 'nests deeper than any event' };
    }
  }
}
