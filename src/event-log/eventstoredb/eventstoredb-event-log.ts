import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import {
  type Appended,
  type CallTimes,
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
} from '../event-log.ts';
import { EventStoreDbAppends } from './appends.ts';
import { EventStoreDbConnection } from './connection.ts';
import { EventStoreDbPages } from './pages.ts';
import { toLogPosition } from './position.ts';
import { serverVersionOf } from './server-version.ts';
import type { EventStoreDbOptions } from './settings.ts';
import { EventStoreDbSubscription } from './subscription.ts';

/** Time limit for appends in flight when the log is closed. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * The log in an EventStoreDB (22.6 or newer) or KurrentDB, for any number of nodes. The user it connects as must be
 * allowed to read `$all`.
 */
export class EventStoreDbEventLog implements EventLog {
  readonly #options: EventStoreDbOptions;
  readonly #connection: EventStoreDbConnection;
  readonly #pages: EventStoreDbPages;
  readonly #appends: EventStoreDbAppends;
  readonly #closed = new AbortController();

  /** Connects at the first call: a server that cannot be reached now is a transient fault. */
  // oxlint-disable-next-line require-await -- what is thrown must reject, as with every log
  static async open(options: EventStoreDbOptions): Promise<EventStoreDbEventLog> {
    return new EventStoreDbEventLog(options);
  }

  private constructor(options: EventStoreDbOptions) {
    this.#options = options;
    this.#connection = new EventStoreDbConnection(options);
    this.#pages = new EventStoreDbPages(this.#connection);
    this.#appends = new EventStoreDbAppends(this.#connection, this.#pages);
  }

  async append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    { since }: CallTimes = {},
  ): Promise<Appended> {
    this.#assertOpen();
    return this.#appends.append(stream, expected, events, since);
  }

  async *readStream(stream: string, options: ReadStreamOptions = {}): AsyncGenerator<RecordedEvent> {
    const { backwards = false, signal, since } = options;
    let { from, limit: left = Number.MAX_SAFE_INTEGER } = options;
    signal?.throwIfAborted();
    this.#assertOpen();
    while (left > 0) {
      const page = await this.#pages.ofStream({ stream, from, backwards, count: left, since }, signal);
      yield* page.events;
      left -= page.events.length;
      const { upTo = 0, atEnd } = page;
      if (atEnd || (backwards && upTo === 0)) return;
      from = upTo + (backwards ? -1 : 1);
      signal?.throwIfAborted();
    }
  }

  async *readAll({ after, streamPrefixes, signal }: ReadAllOptions = {}): AsyncGenerator<RecordedEvent> {
    signal?.throwIfAborted();
    this.#assertOpen();
    let from = after;
    while (true) {
      const page = await this.#pages.ofAll(from, signal);
      yield* page.events.filter(({ stream }) => hasPrefix(stream, streamPrefixes));
      if (page.atEnd) return;
      from = page.upTo;
      signal?.throwIfAborted();
    }
  }

  async *subscribe(options: SubscribeOptions = {}): AsyncGenerator<SubscriptionMessage> {
    if (options.after !== undefined) toLogPosition(options.after);
    const signals = [this.#closed.signal, options.signal].filter((signal) => signal !== undefined);
    const signal = AbortSignal.any(signals);
    const subscription = new EventStoreDbSubscription(
      this.#connection,
      this.#pages,
      options,
      signal,
      this.#options,
    );
    yield* subscription.messages();
  }

  async head(): Promise<Position | undefined> {
    this.#assertOpen();
    return (await this.#pages.lastEvent())?.position;
  }

  async ready(): Promise<void> {
    await this.head();
  }

  /** Resolves to the version that the server reports; in a cluster that of the leader. */
  async serverVersion(signal?: AbortSignal): Promise<string> {
    this.#assertOpen();
    return this.#connection.persist('Reading the version of the server', serverVersionOf, signal);
  }

  /** Ends subscriptions and gives appends in flight some time; after that their outcome is unknown. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await withTimeout(this.#appends.finished(), CLOSE_TIMEOUT_MS);
    await this.#connection[Symbol.asyncDispose]();
  }

  #assertOpen(): void {
    if (this.#closed.signal.aborted)
      throw new EventLogUnavailable('The event log in EventStoreDB is closed.');
  }
}
