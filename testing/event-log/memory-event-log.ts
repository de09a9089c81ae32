import {
  type Appended,
  type EventLog,
  EventLogUnavailable,
  type ExpectedRevision,
  hasPrefix,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  type RecordedEvent,
  type SubscribeOptions,
  type SubscriptionMessage,
  WrongExpectedRevision,
} from '../../src/event-log/event-log.ts';
import { LogFollower } from '../../src/event-log/log-follower.ts';
import { type LogPage, readPages } from '../../src/event-log/log-pages.ts';
import { expectedNumber, type NewEventRow, toExpected, toRows } from '../../src/event-log/new-event-row.ts';
import { positionNumber, toPosition } from '../../src/event-log/position.ts';

const PAGE = 1_000;

type StoredRow = {
  readonly row: NewEventRow;
  readonly stream: string;
  readonly revision: number;
  number: number;
};

/** The whole port without a disk, for tests: events are kept as JSON text until the log is disposed. */
export class MemoryEventLog implements EventLog {
  readonly #all: StoredRow[] = [];
  readonly #streams = new Map<string, StoredRow[]>();
  readonly #follower = new LogFollower({ read: (...page) => this.#page(...page) });
  #isClosed = false;

  // oxlint-disable-next-line require-await -- what is thrown must reject, as with every log
  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    const rows = toRows(events);
    const wanted = expectedNumber(expected);
    this.#assertOpen();
    const stored = this.#streams.get(stream) ?? [];
    const before = this.#all.length;
    if (stored.length - 1 !== wanted) return appendedBefore(stream, expected, stored, rows);
    for (const row of rows) {
      const entry = { row, stream, revision: stored.length, number: this.#all.length + 1 };
      stored.push(entry);
      this.#all.push(entry);
    }
    this.#streams.set(stream, stored);
    const position = toPosition(this.#all.length);
    this.#follower.committed(toPosition(before), position, () => this.#all.slice(before).map(toEvent));
    return { revision: stored.length - 1, position };
  }

  async *readStream(stream: string, options: ReadStreamOptions = {}): AsyncGenerator<RecordedEvent> {
    const {
      backwards = false,
      from = backwards ? Number.MAX_SAFE_INTEGER : 0,
      limit = Number.MAX_SAFE_INTEGER,
    } = options;
    options.signal?.throwIfAborted();
    this.#assertOpen();
    const stored = this.#streams.get(stream) ?? [];
    const chosen = backwards
      ? stored.slice(0, Math.max(0, from + 1)).toReversed()
      : stored.slice(Math.max(0, from));
    yield* chosen.slice(0, limit).map(toEvent);
  }

  readAll(options: ReadAllOptions = {}): AsyncIterable<RecordedEvent> {
    return readPages((...page) => this.#page(...page), options);
  }

  subscribe(options: SubscribeOptions = {}): AsyncIterable<SubscriptionMessage> {
    return this.#follower.subscribe(options);
  }

  // oxlint-disable-next-line require-await -- as above
  async head(): Promise<Position | undefined> {
    this.#assertOpen();
    return this.#all.length === 0 ? undefined : toPosition(this.#all.length);
  }

  #page(after: Position | undefined, streamPrefixes: readonly string[] | undefined): LogPage {
    this.#assertOpen();
    const start = positionNumber(after);
    const page = this.#all.slice(start, start + PAGE);
    const upTo = start + page.length;
    const wanted = page.filter(({ stream }) => hasPrefix(stream, streamPrefixes));
    return {
      events: wanted.map(toEvent),
      upTo: upTo === 0 ? undefined : toPosition(upTo),
      atEnd: upTo >= this.#all.length,
    };
  }

  // oxlint-disable-next-line require-await -- there is nothing to wait for
  async ready(): Promise<void> {
    await this.head();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#follower[Symbol.dispose]();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new EventLogUnavailable('The event log in memory is closed.');
  }
}

/** Returns the first answer if the same ids are already at the positions of this append. */
function appendedBefore(
  stream: string,
  expected: ExpectedRevision,
  stored: readonly StoredRow[],
  rows: readonly NewEventRow[],
): Appended {
  const start = expectedNumber(expected) + 1;
  const there = stored.slice(start, start + rows.length);
  const last = there.at(-1);
  const same = there.length === rows.length && there.every(({ row }, index) => row[0] === rows[index]?.[0]);
  if (!same || !last) throw new WrongExpectedRevision(stream, expected, toExpected(stored.length - 1));
  return { revision: last.revision, position: toPosition(last.number) };
}

function toEvent({ row: [id, type, data, metadata], stream, revision, number }: StoredRow): RecordedEvent {
  return {
    id,
    type,
    data: JSON.parse(data),
    metadata: JSON.parse(metadata),
    stream,
    revision,
    position: toPosition(number),
  };
}
