import type { Position, RecordedEvent, SubscribeOptions, SubscriptionMessage } from '../event-log.ts';
import { InvalidPosition } from '../invalid-position.ts';
import { hasPrefix } from '../stream-prefix.ts';
import { BackOff, type BackOffSettings } from './back-off.ts';
import type { EventStoreDbConnection } from './connection.ts';
import { CallLost, troubleOf } from './faults.ts';
import type { EventStoreDbPages } from './pages.ts';
import { type Hint, SubscriptionFeed } from './subscription-feed.ts';

export type SubscriptionSettings = BackOffSettings & { readonly quietTime?: number };

/**
 * Follows the log until `signal` aborts. The client ends a subscription at every fault; this one goes on.
 *
 * Nothing that the server says about events it has not sent moves a position, since a defect of the server would then
 * make an event be skipped for good. Positions come from delivered events, and from reads of our own that found nothing
 * to deliver. This costs such a read of what was filtered out behind the last event: when the server has sent
 * everything, after each thousand events that it leaves out, and after a time of silence.
 */
export class EventStoreDbSubscription {
  readonly #connection: EventStoreDbConnection;
  readonly #pages: EventStoreDbPages;
  readonly #prefixes: readonly string[] | undefined;
  readonly #signal: AbortSignal;
  readonly #quietTime: number;
  readonly #backOff: BackOff;
  readonly #onTrouble: (reason: string | undefined) => void;
  /** Position of the last event that was delivered. What comes at or before it is a copy. */
  #delivered: Position | undefined;
  /** All up to here was delivered, or read and found to be filtered out. */
  #reached: Position | undefined;
  /** Everything that was there when the session began has been delivered. */
  #isLive = false;
  /** The position that was last reported as caught up with; null if events came since. */
  #reported: Position | undefined | null = null;

  constructor(
    connection: EventStoreDbConnection,
    pages: EventStoreDbPages,
    { after, streamPrefixes, onTrouble = () => undefined }: SubscribeOptions,
    signal: AbortSignal,
    settings: SubscriptionSettings,
  ) {
    this.#connection = connection;
    this.#pages = pages.tryingOnce;
    this.#prefixes = streamPrefixes;
    this.#signal = signal;
    this.#quietTime = settings.quietTime ?? 5000;
    this.#backOff = BackOff.forBackground(settings);
    this.#onTrouble = onTrouble;
    this.#delivered = after;
    this.#reached = after;
  }

  /** @throws {InvalidPosition} the position it was to begin at is not one of this log. */
  async *messages(): AsyncGenerator<SubscriptionMessage> {
    while (!this.#signal.aborted) {
      try {
        yield* this.#session();
      } catch (error) {
        if (error instanceof InvalidPosition) throw error;
        // Whatever else it was, the subscription goes on from where it is: faults of the server pass.
        if (!this.#signal.aborted) this.#onTrouble(troubleOf('Following the event log', error));
      }
      if (!this.#signal.aborted) await this.#connection.pausing(this.#backOff.next(), this.#signal);
    }
  }

  /** One subscription of the client, from the position reached until its end. */
  async *#session(): AsyncGenerator<SubscriptionMessage> {
    const start = await this.#pages.head(this.#signal);
    await using feed = new SubscriptionFeed(
      this.#connection.client(),
      this.#connection.callOptions,
      this.#reached,
      this.#prefixes,
    );
    this.#isLive = this.#hasReached(start);
    if (this.#isLive) {
      this.#onTrouble(undefined);
      yield* this.#caughtUp();
    }
    while (!this.#signal.aborted) {
      const news = await feed.next(this.#quietTime, this.#signal);
      if (news === undefined) await this.#assertNoneMissing();
      this.#onTrouble(undefined);
      if (news !== undefined) {
        this.#backOff.reset();
        const events = this.#delivering(news.events);
        if (events.length > 0) yield { kind: 'events', events };
        this.#isLive ||= this.#hasReached(start);
        if (!feed.isDrained || !(await this.#isCaughtUp(news.hint, events.length))) continue;
      }
      yield* this.#caughtUp();
    }
  }

  /** The watchdog. Servers before 23.10 do not say when all is delivered, and some stop without a word. */
  async #assertNoneMissing(): Promise<void> {
    if (!(await this.#hasPassedAll())) throw new CallLost('The server does not deliver what it has.');
    this.#isLive = true;
    this.#backOff.reset();
  }

  /**
   * Returns whether everything there is was delivered. Reads to find out if a hint of the server makes it worth it: to
   * become live, or to move on although no event came.
   */
  async #isCaughtUp(hint: Hint | undefined, count: number): Promise<boolean> {
    const isWorthReading = this.#isLive ? hint !== undefined && count === 0 : hint === 'caughtUp';
    if (isWorthReading && !(await this.#hasPassedAll())) return false; // the rest is about to come
    this.#isLive ||= isWorthReading;
    return this.#isLive;
  }

  /** Returns the events that were not delivered before, neither by an earlier batch nor within this one. */
  #delivering(events: readonly RecordedEvent[]): RecordedEvent[] {
    const fresh: RecordedEvent[] = [];
    for (const event of events) {
      const { position } = event;
      if (this.#delivered !== undefined && position <= this.#delivered) continue;
      this.#delivered = position;
      this.#reach(position);
      fresh.push(event);
    }
    if (fresh.length > 0) this.#reported = null;
    return fresh;
  }

  /** Reads on to the head. Returns whether that passed no event that the server has yet to send. */
  async #hasPassedAll(): Promise<boolean> {
    const head = await this.#pages.head(this.#signal);
    if (await this.#isMissingAny(head)) return false;
    this.#reach(head);
    return true;
  }

  /** Moves on with each page that has nothing to deliver, so that a read that fails is not all in vain. */
  async #isMissingAny(head: Position | undefined): Promise<boolean> {
    while (!this.#hasReached(head)) {
      const { events, upTo, atEnd } = await this.#pages.ofAll(this.#reached, this.#signal);
      if (events.some(({ stream }) => hasPrefix(stream, this.#prefixes))) return true;
      if (atEnd || upTo === undefined || (head !== undefined && upTo >= head)) return false;
      this.#reach(upTo);
    }
    return false;
  }

  *#caughtUp(): Generator<SubscriptionMessage> {
    if (this.#reported === this.#reached || this.#signal.aborted) return;
    this.#reported = this.#reached;
    yield { kind: 'caught-up', position: this.#reached };
  }

  #hasReached(position: Position | undefined): boolean {
    return position === undefined || (this.#reached !== undefined && position <= this.#reached);
  }

  #reach(position: Position | undefined): void {
    if (!this.#hasReached(position)) this.#reached = position;
  }
}
