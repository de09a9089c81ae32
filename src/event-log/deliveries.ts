import type { Position, RecordedEvent } from './event-log.ts';

/**
 * Delivers the events of some streams to the reactors of one node or many: at least once each, and again, here or on
 * another node, until it is acknowledged. Events of one stream come in order unless a node stops or dies.
 */
export interface Deliveries {
  /**
   * Ends normally when `signal` aborts. Survives faults of the engine by resuming by itself. A group that was never
   * received before begins behind the position that `start` resolves to, or at the beginning of the log.
   */
  receive(
    group: string,
    streamPrefix: string,
    signal: AbortSignal,
    start?: GroupStart,
  ): AsyncIterable<Delivery>;

  /**
   * Returns a delivery of an event whose own delivery may have been lost. Its beginnings are counted like those of
   * the original; acknowledging it changes nothing for the group.
   */
  again(group: string, event: RecordedEvent): Delivery;

  /** Why a group that is being received gets nothing at the moment; `undefined` when all is well with it. */
  trouble(group: string): string | undefined;

  /**
   * Returns how far a group is, also while other nodes receive it. The prefix is that of its streams. Bounded work.
   * @throws {EventLogUnavailable}
   */
  standing(group: string, streamPrefix: string): Promise<DeliveryStanding>;
}

/** Asked only for a group that was never received before. */
export type GroupStart = () => Promise<Position | undefined>;

export type DeliveryStanding = {
  /** Everything of the group up to here is done with; `undefined` before its first event. */
  readonly position: Position | undefined;
  /** Events that are not acknowledged yet, counted up to 1,000. */
  readonly waiting: number;
  /** When the oldest of them happened, RFC 3339. */
  readonly oldest: string | undefined;
};

/** An event that was under way at this many deaths of its process is begun only alone. */
export const DEATHS_OF_CHANCE = 2;

/** What has not killed the process in this time, in milliseconds, no longer keeps others waiting. */
export const PATIENCE_ALONE = 5 * 60_000;

/** An event handed out. */
export type Delivery = {
  readonly event: RecordedEvent;
  /**
   * To be called before work on the event begins; acknowledging alone needs no call. Resolves to how often work on it
   * has begun, as far as that is known: a number that keeps growing means that its workers die of it. Waiting is not
   * counted. Resolves to `undefined`, and nothing has begun, when the event was under way at {@link DEATHS_OF_CHANCE}
   * deaths or more and has to be begun alone. May be called again after it failed, and is counted once.
   * @throws {EventLogUnavailable}
   */
  begin(how: 'alone' | 'beside others'): Promise<number | undefined>;
  acknowledge(): Promise<void>;
  /**
   * Records that an orderly stop has cut the work off, so that its beginning does not count. Absent where the engine
   * recognises orderly stops by itself. @throws {EventLogUnavailable}
   */
  handBack?(): Promise<void>;
};
