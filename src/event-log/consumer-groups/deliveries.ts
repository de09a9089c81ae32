import type { Position, RecordedEvent } from '../event-log.ts';

/**
 * Delivers the events of some streams to the reactors of one node or many: at least once each, and again, here or on
 * another node, until it is acknowledged. Events of one stream come in order unless a node stops or dies.
 *
 * Embedded, each receiver is a consumer group of its own; on a server all receivers share one group.
 */
export interface Deliveries {
  /** Ends normally when `signal` aborts. Resumes by itself after faults of the engine. */
  receive(
    receiver: string,
    streamPrefix: string,
    signal: AbortSignal,
    options?: ReceiveOptions,
  ): AsyncIterable<Delivery>;

  /**
   * Returns a delivery of an event whose own delivery may have been lost. Starts of its processing are counted like
   * those of the original; acknowledging it changes nothing for the receiver.
   */
  redelivery(receiver: string, event: RecordedEvent): Delivery;

  /** Returns why a receiver gets no events at the moment; `undefined` when there is no error. */
  lastError(receiver: string): string | undefined;

  /**
   * Returns the status of a receiver, also while it runs on other nodes. The prefix is that of its streams. The work is
   * bounded.
   * @throws {EventLogUnavailable}
   */
  status(receiver: string, streamPrefix: string): Promise<GroupStatus>;
}

export type ReceiveOptions = {
  /** A group that was never received before starts after this position, or at the beginning of the log. */
  readonly start?: GroupStart | undefined;
  /** Returns whether an event of the streams concerns the receiver; by default all do. Others count as acknowledged. */
  readonly concerns?: (event: RecordedEvent) => boolean;
  /**
   * Resolves to whether there is work to do for an event; by default there is. Where counting costs more, work is counted
   * only if there is any.
   */
  readonly hasWork?: ((event: RecordedEvent) => Promise<boolean>) | undefined;
};

/** Returns the start position of a group. Called only for a group that was never received before. */
export type GroupStart = () => Promise<Position | undefined>;

export type GroupStatus = {
  /** All events of the group up to this position are acknowledged; `undefined` before its first event. */
  readonly position: Position | undefined;
  /** Events that are not acknowledged yet, counted up to 1,000; `undefined` if they could not be counted in time. */
  readonly waiting: number | undefined;
  /** Time of the oldest of them, RFC 3339. */
  readonly oldest: string | undefined;
};

/** An event that was in flight at this many crashes of its process is only processed exclusively. */
export const CRASHES_BEFORE_ISOLATION = 2;

/** Milliseconds after which an exclusive event no longer blocks others, since it has not crashed the process. */
export const ISOLATION_TIMEOUT_MS = 5 * 60_000;

/** An event delivered to a consumer. */
export type Delivery = {
  readonly event: RecordedEvent;
  /**
   * Must be called before work on the event begins; acknowledging alone needs no call. Resolves to how often work on it
   * has begun, as far as known: a number that keeps growing means that the event crashes its workers. Time in a queue
   * is not counted. Resolves to `undefined`, without starting, when the event was in flight at
   * {@link CRASHES_BEFORE_ISOLATION} crashes or more and must be processed exclusively. May be called again after it
   * failed, and is counted once.
   * @throws {EventLogUnavailable}
   */
  begin(how: 'alone' | 'beside others'): Promise<number | undefined>;
  acknowledge(): Promise<void>;
  /**
   * Records that an orderly stop has aborted the work, so that its start does not count. Absent where the engine
   * recognises orderly stops by itself. @throws {EventLogUnavailable}
   */
  handBack?(): Promise<void>;
};
