import type { EventLog, Position, RecordedEvent } from './event-log.ts';
import { isNestedTooDeeply } from './hash-chain.ts';

/** The log as an auditor reads it: what is damaged comes as a fault in its place, and the reading goes on after it. */
export interface LogAudit extends AsyncDisposable {
  /** Everything up to the end in order, beginning with the event at `from`. */
  events(from?: Position): AsyncIterable<AuditedRecord>;

  /** The events of one stream, oldest first. */
  stream(name: string): AsyncIterable<AuditedRecord>;

  /** How many events there are; `undefined` when the engine does not count them. */
  count(): Promise<number | undefined>;

  /** Faults in how the engine keeps the log, besides those that its events show: files, indexes, schema. */
  structure(): Promise<readonly StorageFault[]>;
}

export type AuditedRecord =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | ({ readonly kind: 'unreadable' } & UnreadableRecord);

/** What stands where an event should be: something that is none, or nothing. */
export type UnreadableRecord = {
  readonly position: Position;
  /** As far as it can be told. */
  readonly stream: string | undefined;
  readonly revision: number | undefined;
  /** In words, as in "… has data that are no JSON". */
  readonly reason: string;
};

export type StorageFault = { readonly file: string; readonly text: string };

/** For engines that look after their own files. */
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
