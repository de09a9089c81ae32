import { clock } from '../../tools/clock.ts';
import { openTwice } from '../../tools/sqlite/found-twice.ts';
import {
  type Appended,
  type EventLog,
  EventLogUnavailable,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  type RecordedEvent,
  type SubscribeOptions,
  type SubscriptionMessage,
} from '../event-log.ts';
import { LogFollower } from '../log-follower.ts';
import { type ReadPage, readPages } from '../log-pages.ts';
import { expectedNumber } from '../new-event-row.ts';
import { toPosition } from '../position.ts';
import { orUnavailable } from './connection.ts';
import { assertUndamaged } from './corruption-check.ts';
import { type CommittedAppend, LogWriterClient } from './log-writer-client.ts';
import { committedEvents, SqlitePages, STREAM_PAGE } from './pages.ts';

export type SqliteEventLogOptions = {
  readonly file: string;
  /** For commands that only read; does not acquire the write lock. */
  readonly readOnly?: boolean;
  /** Interval at which subscriptions check for commits of other processes, in ms. */
  readonly pollInterval?: number;
};

/**
 * The embedded log: one SQLite file, with `-wal`, `-shm` and `.head` files. A thread writes, the caller's thread reads.
 * Other processes of the same machine may read and append too. Never open the file by other means than SQLite in this
 * process: closing it would drop SQLite's locks.
 */
export class SqliteEventLog implements EventLog {
  readonly #file: string;
  readonly #pages: SqlitePages;
  readonly #writer: LogWriterClient | undefined;
  readonly #follower: LogFollower;
  #isClosed = false;

  /**
   * @throws {EventLogUnusable} the file lost events or is not an event log
   * @throws {EventLogUnavailable} it cannot be opened
   */
  static async open({
    file,
    readOnly = false,
    pollInterval = 50,
  }: SqliteEventLogOptions): Promise<SqliteEventLog> {
    orUnavailable(file, () => assertUndamaged(file));
    let log: SqliteEventLog | undefined;
    const onCommit = (appends: readonly CommittedAppend[]): void => {
      if (log) log.#committed(appends);
    };
    const writer = readOnly ? undefined : new LogWriterClient(file, onCommit);
    await writer?.open();
    try {
      const pages = orUnavailable(file, () => openTwice(() => new SqlitePages(file)));
      log = new SqliteEventLog(file, pages, writer, pollInterval);
      return log;
    } catch (error) {
      await writer?.close();
      throw error;
    }
  }

  private constructor(
    file: string,
    pages: SqlitePages,
    writer: LogWriterClient | undefined,
    interval: number,
  ) {
    this.#file = file;
    this.#pages = pages;
    this.#writer = writer;
    const poll = { hasChanged: () => pages.hasChanged(), interval };
    this.#follower = new LogFollower({ read: (...page) => pages.pageAfter(...page), poll });
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    if (!this.#writer) throw new TypeError(`The event log ${this.#file} was opened read-only.`);
    return this.#writer.append({ stream, expected: expectedNumber(expected) }, events);
  }

  async *readStream(stream: string, options: ReadStreamOptions = {}): AsyncGenerator<RecordedEvent> {
    const { backwards = false, limit = Number.MAX_SAFE_INTEGER, signal } = options;
    let from = options.from ?? (backwards ? Number.MAX_SAFE_INTEGER : 0);
    let left = limit;
    while (true) {
      signal?.throwIfAborted();
      this.#assertOpen();
      const { events, length, last } = this.#pages.streamPage(stream, from, backwards, left);
      yield* events;
      left -= length;
      if (last === undefined || length < STREAM_PAGE || left === 0) return;
      from = last + (backwards ? -1 : 1);
      await clock.nextTurn();
    }
  }

  readAll(options: ReadAllOptions = {}): AsyncIterable<RecordedEvent> {
    const read: ReadPage = (after, streamPrefixes) => {
      this.#assertOpen();
      return this.#pages.pageAfter(after, streamPrefixes);
    };
    return readPages(read, options);
  }

  subscribe(options: SubscribeOptions = {}): AsyncIterable<SubscriptionMessage> {
    return this.#follower.subscribe(options);
  }

  // oxlint-disable-next-line require-await -- a fault must reject
  async head(): Promise<Position | undefined> {
    this.#assertOpen();
    return this.#pages.head();
  }

  async ready(): Promise<void> {
    await this.head();
    await this.#writer?.ready();
  }

  /** Ends subscriptions, waits for appends in flight, and leaves one file with an empty WAL. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#follower[Symbol.dispose]();
      this.#pages.close();
    }
    await this.#writer?.close();
  }

  #committed(appends: readonly CommittedAppend[]): void {
    for (const append of appends) {
      const before = toPosition(append.position - append.events.length);
      this.#follower.committed(before, toPosition(append.position), () => committedEvents(append));
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new EventLogUnavailable(`The event log ${this.#file} is closed.`);
  }
}
