import { clock } from '../tools/clock.ts';
import { Backoff } from '../tools/concurrency/backoff.ts';
import {
  EventLogUnavailable,
  hasPrefix,
  type Position,
  type RecordedEvent,
  type SubscribeOptions,
  type SubscriptionMessage,
} from './event-log.ts';
import type { LogPage, ReadPage } from './log-pages.ts';

type LogFollowerOptions = {
  readonly read: ReadPage;
  /** Returns whether another process has appended since the last call, and the milliseconds between two calls. */
  readonly poll?: { readonly hasChanged: () => boolean; readonly interval: number };
};

/** A subscriber, with the function that wakes it while it waits for a commit. */
type Subscriber = { wake?: () => void };

const PAUSES = { firstPause: 50, longestPause: 5000 };
/** Number of events held in memory, and of further ones after which the oldest are dropped in one step. */
const [MAX_EVENTS, TRIM_SLACK] = [1_000, 100];

/**
 * Follows a log for all subscribers of this process. The writer pushes what it has committed, which is delivered from
 * memory; what other processes committed is read once for all. A subscriber that is further behind reads cold pages. A
 * subscriber is only a position here, so a slow one costs no memory.
 */
export class LogFollower implements Disposable {
  readonly #options: LogFollowerOptions;
  readonly #stop = new AbortController();
  /** In the order of their subscriptions, in which they are woken. */
  readonly #subscribers = new Set<Subscriber>();
  /** Changes with every commit. */
  #commits = 0;
  #timer: NodeJS.Timeout | undefined;
  /** All events after `#after` up to `#upTo`, in order. */
  #events: RecordedEvent[] = [];
  #after: Position = '';
  #upTo: Position | undefined;
  /** Whether the log may have events after `#upTo`. */
  #mayHaveMore = true;

  constructor(options: LogFollowerOptions) {
    this.#options = options;
  }

  /** Delivers a commit of this process. The events follow `before` without a gap; they are created only if needed. */
  committed(before: Position, upTo: Position, events: () => readonly RecordedEvent[]): void {
    if (this.#upTo === before) this.#extend(upTo, events());
    else if (this.#upTo !== undefined && this.#upTo < upTo) this.#mayHaveMore = true;
    this.#wake();
  }

  /** Implements {@link EventLog.subscribe}. */
  async *subscribe(options: SubscribeOptions): AsyncGenerator<SubscriptionMessage> {
    const signals = [this.#stop.signal, options.signal].filter((signal) => signal !== undefined);
    const signal = AbortSignal.any(signals);
    const subscriber: Subscriber = {};
    const wake = (): void => subscriber.wake?.();
    signal.addEventListener('abort', wake);
    this.#subscribers.add(subscriber);
    this.#startPolling();
    try {
      yield* this.#messages(options, subscriber, signal);
    } finally {
      signal.removeEventListener('abort', wake);
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#stopPolling();
    }
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#stopPolling();
  }

  async *#messages(
    { after, streamPrefixes, onLastError }: SubscribeOptions,
    subscriber: Subscriber,
    signal: AbortSignal,
  ): AsyncGenerator<SubscriptionMessage> {
    let reached = after;
    /** Null before the first report; on an empty log the position is undefined. */
    let reported: Position | undefined | null = null;
    const backoff = new Backoff(PAUSES);
    while (!signal.aborted) {
      const seen = this.#commits;
      const page = this.#pageUnlessUnavailable(reached, streamPrefixes);
      onLastError?.(page instanceof EventLogUnavailable ? page.message : undefined);
      if (page instanceof EventLogUnavailable) {
        await clock.sleep(backoff.next(), signal).catch(() => undefined);
        continue;
      }
      backoff.reset();
      reached = page.upTo;
      if (page.events.length > 0) yield { kind: 'events', events: page.events };
      if (!page.atEnd) {
        await clock.nextTurn();
        continue;
      }
      if (reported !== reached && !signal.aborted) {
        reported = reached;
        yield { kind: 'caught-up', position: reached };
      }
      await this.#nextCommit(seen, subscriber, signal);
    }
  }

  #pageUnlessUnavailable(after: Position | undefined, prefixes: readonly string[] | undefined) {
    try {
      return this.#warmPage(after, prefixes) ?? this.#coldPage(after, prefixes);
    } catch (error) {
      if (error instanceof EventLogUnavailable) return error;
      throw error;
    }
  }

  /** Returns `undefined` if the events after `after` are not in memory. */
  #warmPage(after: Position = '', prefixes: readonly string[] | undefined): LogPage | undefined {
    if (this.#upTo === undefined || after < this.#after || after > this.#upTo) return undefined;
    if (this.#mayHaveMore) {
      const { events, upTo, atEnd } = this.#options.read(this.#upTo, undefined);
      this.#extend(upTo ?? this.#upTo, events);
      this.#mayHaveMore = !atEnd;
      if (after < this.#after) return undefined;
    }
    const first = this.#events.findLastIndex(({ position }) => position <= after) + 1;
    const events = this.#events.slice(first).filter(({ stream }) => hasPrefix(stream, prefixes));
    return { events, upTo: this.#upTo, atEnd: !this.#mayHaveMore };
  }

  /** Reads a page of the log; at its end the memory begins, unless it has reached further. */
  #coldPage(after: Position | undefined, prefixes: readonly string[] | undefined): LogPage {
    const page = this.#options.read(after, prefixes);
    const { upTo, atEnd } = page;
    if (atEnd && upTo !== undefined && (this.#upTo === undefined || this.#upTo < upTo)) {
      this.#events = [];
      [this.#after, this.#upTo, this.#mayHaveMore] = [upTo, upTo, false];
    }
    return page;
  }

  #extend(upTo: Position, events: readonly RecordedEvent[]): void {
    this.#events.push(...events);
    this.#upTo = upTo;
    if (this.#events.length < MAX_EVENTS + TRIM_SLACK) return;
    const dropped = this.#events.splice(0, this.#events.length - MAX_EVENTS);
    this.#after = dropped.at(-1)?.position ?? this.#after;
  }

  /** Resolves when the log has grown since `seen` commits, or `signal` aborts. */
  async #nextCommit(seen: number, subscriber: Subscriber, signal: AbortSignal): Promise<void> {
    if (this.#commits !== seen || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    subscriber.wake = resolve;
    await promise;
  }

  #wake(): void {
    this.#commits += 1;
    for (const { wake } of this.#subscribers) wake?.();
  }

  #startPolling(): void {
    const { poll } = this.#options;
    if (!poll || this.#timer || this.#stop.signal.aborted) return;
    const look = (): void => {
      if (!poll.hasChanged()) return;
      this.#mayHaveMore = true;
      this.#wake();
    };
    this.#timer = clock.setInterval(look, poll.interval);
  }

  #stopPolling(): void {
    clock.clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
