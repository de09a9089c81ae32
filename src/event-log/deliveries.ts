import type { Position, RecordedEvent } from './event-log.ts';

/**
 * Hands the events of some streams to a group of workers, on one node or many: at least once each, and again,
 * here or elsewhere, until it is acknowledged. Events of one stream come in order unless a worker dies.
 */
export interface Deliveries {
  /**
   * Ends normally when `signal` aborts. Survives faults of the engine by resuming by itself. A group that never was
   * received before begins behind `after`, or at the beginning of the log.
   */
  receive(
    group: string,
    streamPrefix: string,
    signal: AbortSignal,
    after?: Position,
  ): AsyncIterable<Delivery>;

  /** Why a group that is being received gets nothing at the moment; `undefined` when all is well with it. */
  trouble(group: string): string | undefined;

  /**
   * How far a group is; whoever has the log open may ask, also while others receive. The prefix is that of its
   * streams. Bounded work. @throws {EventLogUnavailable}
   */
  standing(group: string, streamPrefix: string): Promise<DeliveryStanding>;
}

export type DeliveryStanding = {
  /** Everything of the group up to here is done with; `undefined` before its first event. */
  readonly position: Position | undefined;
  /** Events that are not acknowledged yet, counted up to 1,000. */
  readonly waiting: number;
  /** When the oldest of them happened, RFC 3339. */
  readonly oldest: string | undefined;
};

/** After so many deaths what may be to blame is worked on alone. */
export const DEATHS_OF_CHANCE = 2;

/** What has not killed the process in this time, in milliseconds, no longer keeps others waiting. */
export const PATIENCE_ALONE = 5 * 60_000;

/** An event handed out. */
export type Delivery = {
  readonly event: RecordedEvent;
  /**
   * To be called before it is worked on; who only acknowledges it need not. Resolves to how often that was, this time
   * included and as far as it is known: a number that goes on growing says that its workers die of it. What waits for
   * its turn is not counted. `undefined`: not begun, since there were {@link DEATHS_OF_CHANCE} or more, and of several
   * things under way nobody could tell which is deadly; it has to be begun alone. May be called again where it
   * failed, and is counted once. @throws {EventLogUnavailable}
   */
  begin(how: 'alone' | 'beside others'): Promise<number | undefined>;
  acknowledge(): Promise<void>;
  /**
   * An orderly stop has cut its work off: that it was begun does not count. Absent where stops are told from deaths in
   * another way. @throws {EventLogUnavailable}
   */
  handBack?(): Promise<void>;
};
