import type { RecordedEvent } from '../event-log/event-log.ts';

/** Does work outside the log in reaction to an event, and appends the outcome. */
export interface Reactor {
  readonly name: string;
  /** Prefix of the names of the streams that the reactor follows. */
  readonly streamPrefix: string;
  reactsTo(event: RecordedEvent): boolean;
  /** Returns whether the event asked for work that is known to be done: {@link reactsTo} returns `false` for it. */
  isDone?(event: RecordedEvent): boolean;
  /** The client that owns the event's deposit. The runner schedules owners round-robin. */
  ownerOf(event: RecordedEvent): Promise<string>;
  /** Returns how many slots of the runner the work takes, which bound its memory: by default one. */
  slotsOf?(event: RecordedEvent): number;
  /** Resolves to whether {@link react} would find work to do now. Reads only the log and views. */
  hasWork(event: RecordedEvent): Promise<boolean>;
  /**
   * Does the work. It may be called again for the same event, at any later time and on any node. So it reads the
   * current state of the stream first, and an outcome recorded twice changes nothing. `signal` aborts when the runner
   * no longer waits: a service that stops waits only for a limited time.
   */
  react(event: RecordedEvent, signal: AbortSignal): Promise<void>;
  /**
   * Records the outcome after the work has failed repeatedly, so that nothing waits forever. For an object that cannot
   * be read, records why the deposit waits.
   */
  giveUp(event: RecordedEvent, error: unknown): Promise<void>;
}
