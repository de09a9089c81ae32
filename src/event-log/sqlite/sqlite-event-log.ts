import { clock } from '../../tools/clock.ts';
import { CommitSignal } from '../commit-signal.ts';
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
import { expectedNumber, toRows } from '../new-event-row.ts';
import { follow, type LogPage, readPages } from '../subscription.ts';
import { unavailable } from './connection.ts';
import { assertUndamaged } from './damage.ts';
import { SqliteNeighbourWatch } from './neighbour-watch.ts';
import { SqlitePages, STREAM_PAGE } from './pages.ts';
import { type CommittedAppend, SqliteWriterThread } from './writer-thread.ts';

export type SqliteEventLogOptions = {
  readonly file: string;
  /** For commands that only look; needs no turn at the write lock. */
  readonly readOnly?: boolean;
  /** How often subscriptions look for commits of other processes, in ms. */
  readonly pollInterval?: number;
};

/**
 * The embedded log: one SQLite file (and `-wal`, `-shm`, `.head` beside it). A thread writes, the caller's thread
 * reads. Other processes of the same machine may read and append too. Never open the file by other means than
 * SQLite in this process: closing it would drop SQLite's locks.
 */
export class SqliteEventLog implements EventLog {
  readonly #file: string;
  readonly #pages: SqlitePages;
  readonly #writer: SqliteWriterThread | undefined;
  readonly #commits: CommitSignal;
  readonly #neighbours: SqliteNeighbourWatch;
  readonly #closed = new AbortController();

  /**
   * @throws {EventLogRefused} the file lost events or is no event log
   * @throws {EventLogUnavailable} it cannot be opened
   */
  static async open({
    file,
    readOnly = false,
    pollInterval = 50,
  }: SqliteEventLogOptions): Promise<SqliteEventLog> {
    const commits = new CommitSignal();
    opening(file, () => assertUndamaged(file));
    let pages: SqlitePages | undefined;
    const onCommit = (committed: readonly CommittedAppend[]): void => {
      pages?.committed(committed);
      commits.committed();
    };
    const writer = readOnly ? undefined : new SqliteWriterThread(file, onCommit);
    await writer?.open();
    try {
      pages = opening(file, () => new SqlitePages(file));
      return new SqliteEventLog(file, pages, writer, commits, pollInterval);
    } catch (error) {
      await writer?.close();
      throw error;
    }
  }

  private constructor(
    file: string,
    pages: SqlitePages,
    writer: SqliteWriterThread | undefined,
    commits: CommitSignal,
    pollInterval: number,
  ) {
    this.#file = file;
    this.#pages = pages;
    this.#writer = writer;
    this.#commits = commits;
    this.#neighbours = new SqliteNeighbourWatch(pages, pollInterval, () => {
      pages.othersCommitted();
      commits.committed();
    });
  }

  /** Transactions this instance made so far; with many appends at once, far fewer than appends. */
  get transactions(): number {
    return this.#writer?.transactions ?? 0;
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    if (!this.#writer) throw new TypeError(`The event log ${this.#file} was opened to be read only.`);
    return this.#writer.append({ stream, expected: expectedNumber(expected), rows: toRows(events) });
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
    return readPages(this, options);
  }

  async *subscribe(options: SubscribeOptions = {}): AsyncGenerator<SubscriptionMessage> {
    const signals = [this.#closed.signal, options.signal].filter((signal) => signal !== undefined);
    using _watch = this.#neighbours.watch();
    yield* follow(this, this.#commits, options, AbortSignal.any(signals));
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

  pageAfter(after: Position | undefined, streamPrefixes: readonly string[] | undefined): LogPage {
    this.#assertOpen();
    return this.#pages.pageAfter(after, streamPrefixes);
  }

  newsAfter(after: Position | undefined, streamPrefixes: readonly string[] | undefined): LogPage {
    this.#assertOpen();
    return this.#pages.newsAfter(after, streamPrefixes);
  }

  /** Ends subscriptions, waits for appends under way, and leaves one file with an empty WAL. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#closed.signal.aborted) {
      this.#closed.abort();
      this.#neighbours.stop();
      this.#pages.close();
    }
    await this.#writer?.close();
  }

  #assertOpen(): void {
    if (this.#closed.signal.aborted) throw new EventLogUnavailable(`The event log ${this.#file} is closed.`);
  }
}

function opening<T>(file: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw unavailable(file, error);
  }
}
