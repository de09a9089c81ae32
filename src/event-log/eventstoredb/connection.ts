import type { EventStoreDBClient } from '@eventstore/db-client';
import { clock } from '../../tools/clock.ts';
import { Backoff, type BackoffOptions } from '../../tools/concurrency/backoff.ts';
import { EventLogUnavailable } from '../event-log.ts';
import { connectionFault } from './connection-fault.ts';
import { DroppableClient } from './droppable-client.ts';
import { CallTimedOut, invalidatesClient, isDisconnected, isTransient, toLogError } from './errors.ts';
import { type Credentials, credentialsOf, type EventStoreDbOptions } from './settings.ts';

/**
 * Options of every call: the credentials, and that only the leader may answer (a follower may lag behind our own
 * appends).
 */
export type CallOptions = {
  readonly credentials: Credentials;
  readonly requiresLeader: true;
  readonly deadline: number;
};

/**
 * Pauses of calls that a request waits for: the longest one may pass unnoticed when the server is back. After an outage
 * of minutes, background work pauses for up to ten seconds: a few more do not matter then, while attempts every two
 * seconds cost much CPU time.
 */
const PAUSES = { firstPause: 50, longestPause: 2000, outageAfter: 120_000, outagePause: 8000 };

/**
 * Milliseconds for which the reason of an outage is used again. While the DNS does not answer, each look occupies a
 * thread of Node's pool for some seconds.
 */
const FAULT_CACHE_MS = 30_000;

/** Performs one call; all its work must end when `signal` aborts. */
export type Action<T> = (client: EventStoreDBClient, options: CallOptions, signal: AbortSignal) => Promise<T>;

/** A connection that survives its clients: an unusable client is dropped, and the next call creates another. */
export class EventStoreDbConnection implements AsyncDisposable {
  readonly callOptions: CallOptions;
  readonly #options: EventStoreDbOptions;
  readonly #pauses: Required<BackoffOptions>;
  readonly #retryTimeout: number;
  readonly #closed = new AbortController();
  /** Aborts when the connection is closed. */
  readonly closed = this.#closed.signal;
  readonly #dropping = new Set<Promise<void>>();
  /** Callbacks for the next call that succeeds. */
  readonly #onSuccess = new Set<() => void>();
  #current: DroppableClient | undefined;
  /** The reason why there was no connection when that was last looked for. */
  #found: { readonly reason: Promise<string | undefined>; readonly until: number } | undefined;

  /** Connects at the first call. @throws {BadConnection} */
  constructor(options: EventStoreDbOptions) {
    const { callTimeout = 10_000, retryTimeout = 20_000 } = options;
    this.#options = options;
    this.#pauses = { ...PAUSES, ...options };
    this.#retryTimeout = retryTimeout;
    this.callOptions = { credentials: credentialsOf(options), requiresLeader: true, deadline: callTimeout };
    this.#current = new DroppableClient(options.connectionString);
  }

  /** @throws {EventLogUnavailable} the connection is closed. */
  client(): DroppableClient {
    if (this.closed.aborted) throw new EventLogUnavailable('The event log in EventStoreDB is closed.');
    this.#current ??= new DroppableClient(this.#options.connectionString);
    return this.#current;
  }

  /** Abandons all work on the client; the next call creates another one. */
  drop(client: DroppableClient): void {
    if (this.#current === client) this.#current = undefined;
    const dropping = client.drop().finally(() => this.#dropping.delete(dropping));
    this.#dropping.add(dropping);
  }

  /** Makes one attempt with a time limit. Rejects with the client's error, or with CallLost. */
  async call<T>(action: Action<T>, signal?: AbortSignal): Promise<T> {
    const client = this.client();
    try {
      const signals = [client.lost, signal].filter((one) => one !== undefined);
      const outcome = await withDeadline(this.callOptions.deadline, signals, (stop) =>
        action(client.driver, this.callOptions, stop),
      );
      this.#found = undefined;
      for (const wake of this.#onSuccess) wake();
      return outcome;
    } catch (error) {
      if (!signal?.aborted && invalidatesClient(error)) this.drop(client);
      throw error;
    }
  }

  /**
   * Repeats the action until it succeeds, fails permanently, or the time limit for retries ends. The action may run
   * several times.
   * @param what begins the sentence of the error that is thrown, as in "The append to x".
   * @param since start of the time limit.
   */
  async persist<T>(
    what: string,
    action: Action<T>,
    signal?: AbortSignal,
    since = clock.monotonic(),
  ): Promise<T> {
    const { firstPause, longestPause } = this.#pauses;
    const backoff = new Backoff({ firstPause, longestPause });
    while (true) {
      try {
        return await this.call(action, signal);
      } catch (error) {
        signal?.throwIfAborted();
        const pause = backoff.next();
        const isOver = this.closed.aborted || clock.monotonic() + pause - since > this.#retryTimeout;
        if (isOver || !isTransient(error)) throw await this.#toLogError(what, error, signal);
        await clock
          .sleep(pause, AbortSignal.any([this.closed, ...(signal ? [signal] : [])]))
          .catch(() => undefined);
      }
    }
  }

  /** Settles like calls; their error becomes that of the log. @param what begins its sentence */
  async orLogError<T>(what: string, calls: Promise<T>): Promise<T> {
    try {
      return await calls;
    } catch (error) {
      throw await this.#toLogError(what, error);
    }
  }

  /** Returns the error of the log for a failed call, with the reason why there is no connection, unless aborted. */
  async #toLogError(what: string, error: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.closed.aborted || !isDisconnected(error)) return toLogError(what, error);
    return toLogError(what, error, await this.#connectionFault(signal));
  }

  /** Resolves to the message of that error; without its reason as soon as `signal` aborts. */
  async lastErrorOf(what: string, error: unknown, signal: AbortSignal): Promise<string> {
    const { message } = (await this.#toLogError(what, error, signal)) as Partial<Error>;
    return message ?? String(error);
  }

  /** Returns the back-off of work that no request waits for; it must be reset whenever the work has succeeded. */
  backgroundBackoff(): Backoff {
    return new Backoff(this.#pauses);
  }

  /**
   * Waits between two attempts of background work. A pause longer than that of a request ends as soon as a call on this
   * connection succeeds: then the server is back.
   */
  async pauseBackground(backoff: Backoff, signal: AbortSignal): Promise<void> {
    const milliseconds = backoff.next();
    const { longestPause } = this.#pauses;
    const success = new AbortController();
    const wake = () => success.abort();
    this.#onSuccess.add(wake);
    await clock.sleep(Math.min(milliseconds, longestPause), signal).catch(() => undefined);
    const rest = milliseconds - longestPause;
    if (rest > 0) await clock.sleep(rest, AbortSignal.any([signal, success.signal])).catch(() => undefined);
    this.#onSuccess.delete(wake);
  }

  /** Looks for the reason once for all calls that fail during an outage of some seconds. */
  #connectionFault(signal?: AbortSignal): Promise<string | undefined> {
    const { closed } = this;
    if (!this.#found || this.#found.until < clock.monotonic()) {
      const reason = connectionFault(this.#options.connectionString, closed).catch(() => undefined);
      this.#found = { reason, until: clock.monotonic() + FAULT_CACHE_MS };
    }
    const { reason } = this.#found;
    const signals = signal ? [closed, signal] : [closed];
    return withDeadline(this.callOptions.deadline, signals, () => reason).catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    if (this.#current) this.drop(this.#current);
    await Promise.all(this.#dropping);
  }
}

/**
 * Rejects when the time limit ends, since the client may never settle its promise. A later outcome of the work is
 * ignored.
 */
async function withDeadline<T>(
  milliseconds: number,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  for (const signal of signals) signal.throwIfAborted();
  const stop = new AbortController();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (reason: unknown): void => {
    reject(reason);
    stop.abort(reason);
  };
  const timer = clock.setTimeout(() => abort(new CallTimedOut()), milliseconds);
  // Not AbortSignal.any: each combined signal costs a weak reference, a finalizer, and time in garbage collections.
  const listeners = signals.map((signal) => [signal, () => abort(signal.reason)] as const);
  for (const [signal, listener] of listeners) signal.addEventListener('abort', listener);
  try {
    return await Promise.race([work(stop.signal), aborted]);
  } finally {
    clock.clearTimeout(timer);
    for (const [signal, listener] of listeners) signal.removeEventListener('abort', listener);
  }
}
