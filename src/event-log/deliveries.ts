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

/** An event handed out. */
export type Delivery = {
  readonly event: RecordedEvent;
  /**
   * How often it has been handed out, this time included, as far as it is known: a number that goes on growing
   * says that its workers die of it.
   */
  readonly count: number;
  acknowledge(): Promise<void>;
};
