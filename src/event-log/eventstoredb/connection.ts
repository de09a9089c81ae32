import type { EventStoreDBClient } from '@eventstore/db-client';
import { clock } from '../../tools/clock.ts';
import { EventLogUnavailable } from '../event-log.ts';
import { pausing } from '../pausing.ts';
import { BackOff, LONGEST_PAUSE_MS } from './back-off.ts';
import { EventStoreDbClient } from './client.ts';
import { CallTimedOut, isTransient, spoilsClient, translated } from './faults.ts';
import { type Credentials, credentialsOf, type EventStoreDbOptions } from './settings.ts';

/** With every call: whose it is, and that only the leader may answer (a follower may lag behind our own appends). */
export type CallOptions = {
  readonly credentials: Credentials;
  readonly requiresLeader: true;
  readonly deadline: number;
};

/** Does the work of one call; what it began must end when `signal` aborts. */
export type Action<T> = (client: EventStoreDBClient, options: CallOptions, signal: AbortSignal) => Promise<T>;

/** A connection that outlives its clients: one that spoils is dropped, and the next call has a new one. */
export class EventStoreDbConnection implements AsyncDisposable {
  readonly #options: EventStoreDbOptions;
  readonly #callOptions: CallOptions;
  readonly #callTimeout: number;
  readonly #patience: number;
  readonly #closed = new AbortController();
  readonly #dropping = new Set<Promise<void>>();
  /** Called at the next call that succeeds. */
  readonly #onSuccess = new Set<() => void>();
  #current: EventStoreDbClient | undefined;

  /** Connects at the first call. @throws {BadConnection}. */
  constructor(options: EventStoreDbOptions) {
    const { callTimeout = 10_000, patience = 20_000 } = options;
    this.#options = options;
    this.#callTimeout = callTimeout;
    this.#patience = patience;
    this.#callOptions = { credentials: credentialsOf(options), requiresLeader: true, deadline: callTimeout };
    this.#current = new EventStoreDbClient(options.connectionString);
  }

  /** Aborts when the connection is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  get callOptions(): CallOptions {
    return this.#callOptions;
  }

  /** @throws {EventLogUnavailable} the connection is closed. */
  client(): EventStoreDbClient {
    this.assertOpen();
    this.#current ??= new EventStoreDbClient(this.#options.connectionString);
    return this.#current;
  }

  /** What runs on the client is given up; the next call has a new one. */
  drop(client: EventStoreDbClient): void {
    if (this.#current === client) this.#current = undefined;
    const dropping = client.drop().finally(() => this.#dropping.delete(dropping));
    this.#dropping.add(dropping);
  }

  /** One try, which ends in time. Rejects with the client's error, or with CallLost. */
  async call<T>(action: Action<T>, signal?: AbortSignal): Promise<T> {
    const client = this.client();
    try {
      const signals = [client.lost, signal].filter((one) => one !== undefined);
      const outcome = await inTime(this.#callTimeout, signals, (stop) =>
        action(client.client, this.#callOptions, stop),
      );
      for (const wake of this.#onSuccess) wake();
      return outcome;
    } catch (error) {
      if (!signal?.aborted && spoilsClient(error)) this.drop(client);
      throw error;
    }
  }

  /**
   * Tries until it works, fails for good, or patience ends. What the action does may be done several times.
   * @param what begins the sentence of the error that is thrown, as in "The append to x".
   * @param since when patience began.
   */
  async persist<T>(
    what: string,
    action: Action<T>,
    signal?: AbortSignal,
    since = clock.monotonic(),
  ): Promise<T> {
    const backOff = new BackOff(this.#options);
    while (true) {
      try {
        return await this.call(action, signal);
      } catch (error) {
        signal?.throwIfAborted();
        const pause = backOff.next();
        const isOver = this.#closed.signal.aborted || clock.monotonic() + pause - since > this.#patience;
        if (isOver || !isTransient(error)) throw translated(what, error);
        await pausing(pause, AbortSignal.any([this.#closed.signal, ...(signal ? [signal] : [])]));
      }
    }
  }

  /**
   * Waits between two attempts of background work. A pause longer than that of a request ends as soon as a call on this
   * connection succeeds: then the server is back.
   */
  async pausing(milliseconds: number, signal: AbortSignal): Promise<void> {
    const { longestPause = LONGEST_PAUSE_MS } = this.#options;
    const success = new AbortController();
    const wake = () => success.abort();
    this.#onSuccess.add(wake);
    await pausing(Math.min(milliseconds, longestPause), signal);
    const rest = milliseconds - longestPause;
    if (rest > 0) await pausing(rest, AbortSignal.any([signal, success.signal]));
    this.#onSuccess.delete(wake);
  }

  assertOpen(): void {
    if (this.#closed.signal.aborted)
      throw new EventLogUnavailable('The event log in EventStoreDB is closed.');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    if (this.#current) this.drop(this.#current);
    await Promise.all(this.#dropping);
  }
}

/** The client may never settle: what it does then or later is nobody's concern any more. */
async function inTime<T>(
  milliseconds: number,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const any = AbortSignal.any([stop.signal, ...signals]);
  any.throwIfAborted();
  const timer = clock.setTimeout(() => stop.abort(new CallTimedOut()), milliseconds);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  any.addEventListener('abort', () => reject(any.reason));
  try {
    return await Promise.race([work(any), aborted]);
  } finally {
    clock.clearTimeout(timer);
  }
}
