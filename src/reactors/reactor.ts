import type { RecordedEvent } from '../event-log/event-log.ts';

/** Does outside work when something has happened, and appends the outcome. */
export interface Reactor {
  readonly name: string;
  /** Of the streams it follows. */
  readonly streamPrefix: string;
  reactsTo(event: RecordedEvent): boolean;
  /** Whose work it is: owners have theirs done in turn. */
  ownerOf(event: RecordedEvent): Promise<string>;
  /**
   * Does the work. May be called again for the same event, at any later time and on any node: it looks at the
   * present of the stream first, and an outcome recorded twice changes nothing. `signal` aborts when nobody waits for it
   * any more: a service that stops does so for a while.
   */
  react(event: RecordedEvent, signal: AbortSignal): Promise<void>;
  /**
   * The work has failed again and again: records an outcome that others see, so that nothing waits for ever; of an object
   * that cannot be read, why the deposit waits.
   */
  giveUp(event: RecordedEvent, error: unknown): Promise<void>;
}

/** Keeps the events that no attempt got through, for an operator, or until the object that they need can be read. */
export interface Parking {
  park(reactor: string, event: RecordedEvent, error: unknown): Promise<void>;
  /** Where decisions about the parked events of a reactor are recorded. */
  streamOf(reactor: string): string;
  /**
   * The event that an operator wants to be tried again, when that is what `event` of that stream says, and nothing
   * behind it says otherwise.
   */
  retried(event: RecordedEvent): Promise<RecordedEvent | undefined>;
  /** Ids of the events that wait for an operator, or that one has decided to leave for good. */
  left(reactor: string): Promise<ReadonlySet<string>>;
}
