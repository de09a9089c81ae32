import type { Backoff } from '../../tools/concurrency/backoff.ts';
import {
  EventLogRestored,
  hasPrefix,
  type Position,
  type RecordedEvent,
  type SeenEvent,
  type SubscribeOptions,
  type SubscriptionMessage,
} from '../event-log.ts';
import { InvalidPosition } from '../position.ts';
import type { EventStoreDbConnection } from './connection.ts';
import { CallLost } from './errors.ts';
import type { EventStoreDbPages } from './pages.ts';
import type { EventStoreDbOptions } from './settings.ts';
import { type Hint, SubscriptionBatches } from './subscription-batches.ts';

/**
 * Reads in a row, over seven seconds or more, that have to miss an event before it counts as gone: a leader that was cut
 * off answers with old data for a moment.
 */
const READS_OF_A_GONE_EVENT = 10;

/**
 * Follows the log until `signal` aborts. The client ends a subscription at every fault; this class resumes it.
 *
 * No information of the server about events that it has not sent moves a position, since a defect of the server could
 * then skip an event permanently. Positions come from delivered events, and from reads of this class that found no
 * event to deliver. Each such read covers the events filtered out after the last delivered one. It happens when the
 * server has sent everything, after each thousand events that it filters out, and after a time of silence.
 */
export class EventStoreDbSubscription {
  readonly #connection: EventStoreDbConnection;
  readonly #pages: EventStoreDbPages;
  readonly #prefixes: readonly string[] | undefined;
  readonly #signal: AbortSignal;
  readonly #quietTime: number;
  readonly #backoff: Backoff;
  readonly #onLastError: (reason: string | undefined) => void;
  /** Position of the last event that was delivered. An event at or before it is a copy. */
  #delivered: Position | undefined;
  /** All events up to this position were delivered, or read and found to be filtered out. */
  #reached: Position | undefined;
  /** The event there; `undefined` before the first one, if the caller does not know it. */
  #lastSeen: SeenEvent | undefined;
  /** Whether all events that existed when the session began have been delivered. */
  #isLive = false;
  /** The position that was last reported as caught up; null if events were delivered since. */
  #reported: Position | undefined | null = null;

  constructor(
    connection: EventStoreDbConnection,
    pages: EventStoreDbPages,
    { after, lastSeen, streamPrefixes, onLastError = () => undefined }: SubscribeOptions,
    signal: AbortSignal,
    { quietTime = 5000 }: Pick<EventStoreDbOptions, 'quietTime'>,
  ) {
    this.#connection = connection;
    this.#pages = pages.tryingOnce;
    this.#prefixes = streamPrefixes;
    this.#signal = signal;
    this.#quietTime = quietTime;
    this.#backoff = connection.backgroundBackoff();
    this.#onLastError = onLastError;
    this.#delivered = after;
    this.#lastSeen = lastSeen;
    this.#reached = after;
  }

  /**
   * @throws {InvalidPosition} the start position is not one of this log.
   * @throws {EventLogRestored}
   */
  async *messages(): AsyncGenerator<SubscriptionMessage> {
    while (!this.#signal.aborted) {
      try {
        yield* this.#session();
      } catch (error) {
        if (error instanceof InvalidPosition || error instanceof EventLogRestored) throw error;
        // After any other error the subscription resumes from its position: faults of the server are
        // transient.
        const reason = await this.#connection.lastErrorOf('Following the event log', error, this.#signal);
        if (!this.#signal.aborted) this.#onLastError(reason);
      }
      if (!this.#signal.aborted) await this.#connection.pauseBackground(this.#backoff, this.#signal);
    }
  }

  /** Runs one subscription of the client, from the position reached until its end. */
  async *#session(): AsyncGenerator<SubscriptionMessage> {
    if (this.#lastSeen) await this.#assertInLog(this.#lastSeen);
    const start = (await this.#pages.lastEvent(this.#signal))?.position;
    await using batches = new SubscriptionBatches(
      this.#connection.client(),
      this.#connection.callOptions,
      this.#reached,
      this.#prefixes,
      this.#signal,
    );
    this.#isLive = this.#hasReached(start);
    if (this.#isLive) yield* this.#caughtUp();
    // What a read finds after silence may have arrived meanwhile: it is missing if silence follows.
    let isAwaited = false;
    while (!this.#signal.aborted) {
      const batch = await batches.next(this.#quietTime);
      if (batch === undefined) {
        const isAtHead = await this.#readToHead();
        if (!isAtHead && isAwaited) throw new CallLost('The server does not deliver what it has.');
        isAwaited = !isAtHead;
        if (isAwaited) continue;
        this.#isLive = true;
        this.#backoff.reset();
      } else {
        isAwaited = false;
        this.#backoff.reset();
        const events = this.#delivering(batch.events);
        if (events.length > 0) yield { kind: 'events', events };
        this.#isLive ||= this.#hasReached(start);
        if (this.#isLive) this.#onLastError(undefined);
        if (!batches.isDrained || !(await this.#advanceOnHint(batch.hint, events.length))) continue;
      }
      yield* this.#caughtUp();
    }
  }

  /** A log with other events, or without events, would leave gaps in what the caller has seen. @throws {EventLogRestored} */
  async #assertInLog({ stream, revision, id, position }: SeenEvent): Promise<void> {
    const backoff = this.#connection.backgroundBackoff();
    const place = { stream, from: revision, backwards: false, count: 1 };
    for (let reads = 1; ; reads += 1) {
      const [event] = (await this.#pages.ofStream(place, this.#signal)).events;
      if (event?.id === id && event.position === position) return;
      if (reads === READS_OF_A_GONE_EVENT)
        throw new EventLogRestored(
          `The event log does not have event ${id} at revision ${revision} of ${stream}, which this node has seen: it was replaced by an older or another log. The next start builds the views from it; see "A log that goes back" in docs/backup.md.`,
        );
      this.#onLastError('Following the event log failed: it lacks the last event that this node has seen.');
      await this.#connection.pauseBackground(backoff, this.#signal);
    }
  }

  /**
   * Reads to the head if a hint of the server is a reason to: to become live, or to advance although no event was
   * delivered. Resolves to whether all existing events were delivered.
   */
  async #advanceOnHint(hint: Hint | undefined, count: number): Promise<boolean> {
    const isReason = this.#isLive ? hint !== undefined && count === 0 : hint === 'caughtUp';
    if (isReason && !(await this.#readToHead())) return false; // the rest is about to be delivered
    this.#isLive ||= isReason;
    return this.#isLive;
  }

  /** Returns the events that were not delivered before, neither by an earlier batch nor within this one. */
  #delivering(events: readonly RecordedEvent[]): RecordedEvent[] {
    const fresh: RecordedEvent[] = [];
    for (const event of events) {
      const { position } = event;
      if (this.#delivered !== undefined && position <= this.#delivered) continue;
      this.#delivered = position;
      this.#reach(event);
      fresh.push(event);
    }
    if (fresh.length > 0) this.#reported = null;
    return fresh;
  }

  /**
   * Advances to the head past filtered-out events. Resolves to false at an event that the server has yet to send.
   * Servers before 23.10 do not report when all is delivered, and some stop silently.
   */
  async #readToHead(): Promise<boolean> {
    const head = await this.#pages.lastEvent(this.#signal);
    if (head === undefined) return true;
    for (let readTo = this.#reached; !this.#hasReached(head.position); ) {
      const { events, upTo, atEnd } = await this.#pages.ofAll(readTo, this.#signal);
      if (events.some(({ stream }) => hasPrefix(stream, this.#prefixes))) return false;
      if (atEnd || upTo === undefined || upTo >= head.position) this.#reach(head);
      else this.#reach(events.at(-1)); // after each page, so that a failed read does not lose that progress
      readTo = upTo;
    }
    return true;
  }

  *#caughtUp(): Generator<SubscriptionMessage> {
    this.#onLastError(undefined);
    if (this.#reported === this.#reached || this.#signal.aborted) return;
    this.#reported = this.#reached;
    yield { kind: 'caught-up', position: this.#reached };
  }

  #hasReached(position: Position | undefined): boolean {
    return position === undefined || (this.#reached !== undefined && position <= this.#reached);
  }

  #reach(event: SeenEvent | undefined): void {
    if (!event || this.#hasReached(event.position)) return;
    this.#reached = event.position;
    this.#lastSeen = event;
  }
}
