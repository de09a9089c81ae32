import { CodedError, errorsOfCode } from '../tools/coded-error.ts';

/**
 * The event log, as the rest of the service sees it: streams of small JSON events with exact expected revisions, and
 * one total order over all of them. Adapters know nothing about deposits.
 */
export interface EventLog extends AsyncDisposable {
  /**
   * Appends all events or none, durably before it resolves. `expected` is the revision of the stream's last event, or
   * `'none'` for a stream that must not exist. Appending the same event ids again at the same expected revision is
   * answered like the first time. The events must not be changed afterwards: subscribers of this process may get them.
   * @throws {WrongExpectedRevision} another append won, or the stream is not where `expected` says.
   * @throws {EventLogUnavailable} the engine cannot be reached or did not answer; the outcome may be unknown.
   */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    options?: CallTimes,
  ): Promise<Appended>;

  /** Yields the events of one stream, oldest first unless `backwards`; an unknown stream is empty. */
  readStream(stream: string, options?: ReadStreamOptions): AsyncIterable<RecordedEvent>;

  /**
   * Yields every event after `after` (all, when it is absent) up to the end of the log at the time the read reaches it.
   */
  readAll(options?: ReadAllOptions): AsyncIterable<RecordedEvent>;

  /**
   * Yields every event after `after`, then new ones, until `signal` aborts (which ends the iteration normally). Never
   * skips, never repeats an event. Yields `caught-up` each time it has delivered all existing events, first at the
   * latest when it has read those that existed at the start (also on an empty log). Resumes by itself after faults of
   * the engine.
   * @throws {EventLogRestored} the log no longer has the last event that it delivered, or `lastSeen`.
   */
  subscribe(options?: SubscribeOptions): AsyncIterable<SubscriptionMessage>;

  /** Position of the last event, `undefined` on an empty log. Rejects when the engine cannot be reached. */
  head(): Promise<Position | undefined>;

  /** Resolves when events can be read and, as far as known, appended; rejects with the reason. */
  ready(): Promise<void>;
}

/** An opaque token. Tokens of one log are ordered as strings: `a < b` when `a` was appended before `b`. */
export type Position = string;

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export type ExpectedRevision = 'none' | number;

export type NewEvent = {
  /** UUID, lower case. */
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
};

export type RecordedEvent = NewEvent & {
  readonly stream: string;
  /** Number of the event in its stream, from 0, without gaps. */
  readonly revision: number;
  readonly position: Position;
};

/** Returns the time of an event: RFC 3339, UTC. */
export function occurredAt({ metadata }: Pick<RecordedEvent, 'metadata'>): string {
  return (metadata as { occurredAt: string }).occurredAt; // every event of this service has it
}

/** Returns the actor of the event. One that another program appended may have none: then the kind is `unknown`. */
export function actorOf({ metadata }: Pick<RecordedEvent, 'metadata'>): { kind: string; name: string } {
  const { kind, name } = Object(metadata['actor']) as { readonly kind?: Json; readonly name?: Json };
  return typeof kind === 'string' && typeof name === 'string'
    ? { kind, name }
    : { kind: 'unknown', name: '' };
}

/** Whether a stream has one of the prefixes; true without prefixes. */
export function hasPrefix(stream: string, prefixes: readonly string[] | undefined): boolean {
  return prefixes?.some((prefix) => stream.startsWith(prefix)) ?? true;
}

/** Resolves to the last event of a stream, if there is one. */
export async function lastEvent(
  log: Pick<EventLog, 'readStream'>,
  stream: string,
  options: Pick<ReadStreamOptions, 'since' | 'signal'> = {},
): Promise<RecordedEvent | undefined> {
  const [last] = await Array.fromAsync(log.readStream(stream, { ...options, backwards: true, limit: 1 }));
  return last;
}

/** Start of the time limit of a call that the log retries while its engine cannot be reached. */
export type CallTimes = {
  /** By `clock.monotonic()`; by default the moment of the call. A request with several calls has one time limit. */
  readonly since?: number | undefined;
};

/** Identifies an event, and its position in the log. */
export type SeenEvent = Pick<RecordedEvent, 'id' | 'stream' | 'revision' | 'position'>;

/** Resolves to whether the log has exactly this event at this position. */
export async function isInLog(
  log: Pick<EventLog, 'readStream'>,
  { stream, revision, id, position }: SeenEvent,
): Promise<boolean> {
  const [event] = await Array.fromAsync(log.readStream(stream, { from: revision, limit: 1 }));
  return event?.id === id && event.position === position;
}

/** Revision and position of the last event of the append. */
export type Appended = { readonly revision: number; readonly position: Position };

export type ReadStreamOptions = CallTimes & {
  /** First revision to read (the highest one, when `backwards`). */
  readonly from?: number;
  readonly backwards?: boolean;
  readonly limit?: number;
  /** An aborted read rejects with the signal's reason, so that a partial read is never mistaken for a complete one. */
  readonly signal?: AbortSignal | undefined;
};

export type ReadAllOptions = {
  readonly after?: Position | undefined;
  /** Only streams whose name begins with one of these. */
  readonly streamPrefixes?: readonly string[];
  readonly signal?: AbortSignal | undefined;
};

export type SubscribeOptions = ReadAllOptions & {
  /** The event at `after`, if the caller has seen it. */
  readonly lastSeen?: SeenEvent | undefined;
  /** Called with the reason when no events arrive for now, and with `undefined` once all that were missed have. */
  readonly onLastError?: (reason: string | undefined) => void;
};

export type SubscriptionMessage =
  /** At least one event, in order. */
  | { readonly kind: 'events'; readonly events: readonly RecordedEvent[] }
  /** All up to `position` has been delivered or filtered out; `undefined` on an empty log. */
  | { readonly kind: 'caught-up'; readonly position: Position | undefined };

export class WrongExpectedRevision extends errorsOfCode('WRONG_EXPECTED_REVISION') {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly actual: ExpectedRevision | 'unknown';

  constructor(stream: string, expected: ExpectedRevision, actual: ExpectedRevision | 'unknown') {
    super(`Stream ${stream} was expected at revision ${expected} but is at ${actual}.`);
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
  }
}

/** The engine cannot be reached, is too slow or refuses work for now: a transient fault. */
export class EventLogUnavailable extends errorsOfCode('EVENT_LOG_UNAVAILABLE') {}

/** A server has an older log than this process has seen. Only a new start forgets what the log no longer has. */
export class EventLogRestored extends errorsOfCode('EVENT_LOG_RESTORED') {}

/** The file is not a log that this service can use. An operator has to act; a retry changes nothing. */
export class EventLogUnusable extends CodedError<'LOG_DAMAGED' | 'LOG_FORMAT_UNKNOWN'> {}

/**
 * A read ended before a revision that the stream is known to have: for a moment, as with a leader that was deposed, or
 * for good, as after an operator has deleted the stream in the engine.
 */
export class StaleRead extends EventLogUnavailable {}

export function staleRead(stream: string, revision: ExpectedRevision, atLeast: number): StaleRead {
  return new StaleRead(
    `Stale read of ${stream}: it ended at revision ${revision}, but revision ${atLeast} is known.`,
  );
}
