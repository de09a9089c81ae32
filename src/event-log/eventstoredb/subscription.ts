import type { Pauses } from '../../growing-pause.ts';
import type { Position, SubscribeOptions, SubscriptionMessage } from '../event-log.ts';
import { pausing } from '../pausing.ts';
import { hasPrefix } from '../stream-prefix.ts';
import { BackOff } from './back-off.ts';
import type { EventStoreDbConnection } from './connection.ts';
import { CallLost, troubleOf } from './faults.ts';
import type { EventStoreDbPages } from './pages.ts';
import { SubscriptionFeed } from './subscription-feed.ts';

export type SubscriptionSettings = Partial<Pauses> & { readonly quietTime?: number };

/** Follows the log until `signal` aborts. The client ends a subscription at every fault; this one goes on. */
export class EventStoreDbSubscription {
  readonly #connection: EventStoreDbConnection;
  readonly #pages: EventStoreDbPages;
  readonly #prefixes: readonly string[] | undefined;
  readonly #signal: AbortSignal;
  readonly #quietTime: number;
  readonly #backOff: BackOff;
  readonly #onTrouble: (reason: string | undefined) => void;
  /** All up to here was delivered or filtered out. */
  #reached: Position | undefined;
  /** Null before the first time; on an empty log the position is undefined. */
  #told: Position | undefined | null = null;

  constructor(
    connection: EventStoreDbConnection,
    pages: EventStoreDbPages,
    { after, streamPrefixes, onTrouble = () => undefined }: SubscribeOptions,
    signal: AbortSignal,
    settings: SubscriptionSettings,
  ) {
    this.#connection = connection;
    this.#pages = pages;
    this.#prefixes = streamPrefixes;
    this.#signal = signal;
    this.#quietTime = settings.quietTime ?? 5000;
    this.#backOff = new BackOff(settings);
    this.#onTrouble = onTrouble;
    this.#reached = after;
  }

  /** @throws {TypeError} it was to begin at what is no position of this log. */
  async *messages(): AsyncGenerator<SubscriptionMessage> {
    while (!this.#signal.aborted) {
      try {
        yield* this.#session();
      } catch (error) {
        if (error instanceof TypeError) throw error;
        // Whatever else it was, the subscription goes on from where it is: faults of the server pass.
        if (!this.#signal.aborted) this.#onTrouble(troubleOf('Following the event log', error));
      }
      if (!this.#signal.aborted) await pausing(this.#backOff.next(), this.#signal);
    }
  }

  /** One subscription of the client, from the position reached until its end. */
  async *#session(): AsyncGenerator<SubscriptionMessage> {
    const client = this.#connection.client();
    const start = await this.#pages.head(this.#signal);
    await using feed = new SubscriptionFeed(
      client,
      this.#connection.callOptions,
      this.#reached,
      this.#prefixes,
    );
    let isLive = this.#hasReached(start);
    if (isLive) {
      this.#onTrouble(undefined);
      yield* this.#caughtUp();
    }
    while (!this.#signal.aborted) {
      const news = await feed.next(this.#quietTime, this.#signal);
      if (news === undefined) yield* this.#whileQuiet();
      else {
        this.#backOff.reset();
        this.#onTrouble(undefined);
        const events = news.events.filter(({ position }) => !this.#hasReached(position));
        this.#reach(news.upTo);
        if (events.length > 0) yield { kind: 'events', events };
        if (news.isCaughtUp) this.#reach(start);
        isLive ||= news.isCaughtUp || this.#hasReached(start);
        if (isLive && feed.isDrained) yield* this.#caughtUp();
      }
    }
  }

  /**
   * The watchdog. Nothing came: is there nothing to come? Then all up to the head was filtered out, which a
   * server tells only every thousand events, and those before 23.10 do not even tell when all is delivered.
   */
  async *#whileQuiet(): AsyncGenerator<SubscriptionMessage> {
    const head = await this.#pages.head(this.#signal);
    if (!this.#hasReached(head) && (await this.#isMissingAny(head))) {
      throw new CallLost('The server does not deliver what it has.');
    }
    this.#reach(head);
    this.#onTrouble(undefined);
    yield* this.#caughtUp();
  }

  async #isMissingAny(head: Position | undefined): Promise<boolean> {
    let after = this.#reached;
    while (true) {
      const page = await this.#pages.ofAll(after, this.#signal);
      if (page.events.some(({ stream }) => hasPrefix(stream, this.#prefixes))) return true;
      after = page.upTo;
      if (page.atEnd || (head !== undefined && after !== undefined && after >= head)) return false;
    }
  }

  *#caughtUp(): Generator<SubscriptionMessage> {
    if (this.#told === this.#reached || this.#signal.aborted) return;
    this.#told = this.#reached;
    yield { kind: 'caught-up', position: this.#reached };
  }

  #hasReached(position: Position | undefined): boolean {
    return position === undefined || (this.#reached !== undefined && position <= this.#reached);
  }

  #reach(position: Position | undefined): void {
    if (!this.#hasReached(position)) this.#reached = position;
  }
}
