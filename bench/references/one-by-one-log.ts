import {
  type Appended,
  type EventLog,
  type ExpectedRevision,
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
import { expectedNumber, toExpected, toRows } from '../../src/event-log/new-event-row.ts';
import { toPosition } from '../../src/event-log/position.ts';
import { SqliteAppends } from '../../src/event-log/sqlite/appends.ts';
import { committedEvents, SqlitePages } from '../../src/event-log/sqlite/pages.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';

/**
 * Uses the same SQLite file as most servers do: each append is a transaction with its own sync, on the thread that
 * serves requests.
 */
export class OneByOneLog implements EventLog {
  readonly #appends: SqliteAppends;
  readonly #pages: SqlitePages;
  readonly #reads: SqliteEventLog;
  readonly #follower: LogFollower;

  static async open(file: string): Promise<OneByOneLog> {
    const appends = new SqliteAppends(file); // creates the file, so it comes first
    return new OneByOneLog(file, appends, await SqliteEventLog.open({ file, readOnly: true }));
  }

  private constructor(file: string, appends: SqliteAppends, reads: SqliteEventLog) {
    this.#appends = appends;
    const pages = new SqlitePages(file);
    this.#pages = pages;
    this.#follower = new LogFollower({ read: (...page) => pages.pageAfter(...page) });
    this.#reads = reads;
  }

  // oxlint-disable-next-line require-await -- what is thrown must reject, as with every log
  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    const rows = toRows(events);
    const [answer] = this.#appends.commit([{ stream, expected: expectedNumber(expected), rows }]);
    if (answer?.kind !== 'appended')
      throw new WrongExpectedRevision(stream, expected, toExpected(answer?.actual ?? -1));
    const { revision, position } = answer;
    this.#follower.committed(toPosition(position - rows.length), toPosition(position), () =>
      committedEvents({ stream, rows, revision, position }),
    );
    return { revision, position: toPosition(position) };
  }

  readStream(stream: string, options?: ReadStreamOptions): AsyncIterable<RecordedEvent> {
    return this.#reads.readStream(stream, options);
  }

  readAll(options?: ReadAllOptions): AsyncIterable<RecordedEvent> {
    return this.#reads.readAll(options);
  }

  subscribe(options: SubscribeOptions = {}): AsyncIterable<SubscriptionMessage> {
    return this.#follower.subscribe(options);
  }

  head(): Promise<Position | undefined> {
    return this.#reads.head();
  }

  ready(): Promise<void> {
    return this.#reads.ready();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#follower[Symbol.dispose]();
    await this.#reads[Symbol.asyncDispose]();
    this.#pages.close();
    this.#appends.close();
  }
}
