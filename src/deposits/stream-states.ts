import type { Aggregate } from '../domain/aggregates.ts';
import { type EventLog, type ExpectedRevision, type Position, staleRead } from '../event-log/event-log.ts';
import { chainHash, eventId } from '../event-log/integrity/hash-chain.ts';

/** The state folded from a stream, and the end of the stream. */
export type Loaded<State> = {
  readonly state: State;
  readonly revision: ExpectedRevision;
  readonly hash: string | null;
  /** Position of the last event of the stream. */
  readonly position: Position | undefined;
};

export type Outcome<State, Event> = {
  readonly state: State;
  /** The events appended by the command; empty if it had nothing to change. */
  readonly events: readonly Event[];
  /** Revision of the last event of the stream. */
  readonly revision: number;
  readonly hash: string | null;
  readonly position: Position;
};

export type LoadOptions = {
  /** A revision that the stream is known to have: a read that ends before it is stale. */
  readonly atLeast?: number | undefined;
  /** When the request began, by `clock.monotonic()`. */
  readonly since?: number | undefined;
};

type ContinueFrom<State> = {
  /** The stream as an earlier call has loaded it: only later events are read. */
  readonly from?: Loaded<State> | undefined;
};

/**
 * Loads the current state of a stream; for a missing stream, the initial state at revision `none`.
 * @throws {EventLogUnavailable} the read is stale: for a moment, a deposed leader returns old data.
 */
export async function load<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  { atLeast, since, from = emptyStream(aggregate) }: LoadOptions & ContinueFrom<State> = {},
): Promise<Loaded<State>> {
  let { state, revision, hash, position } = from;
  const next = revision === 'none' ? 0 : revision + 1;
  for await (const stored of log.readStream(`${aggregate.prefix}${id}`, { from: next, since })) {
    state = aggregate.decider.evolve(state, aggregate.codec.read(stored));
    ({ revision, position } = stored);
    hash = chainHash(stored);
  }
  if (atLeast !== undefined && (revision === 'none' || revision < atLeast))
    throw staleRead(`${aggregate.prefix}${id}`, revision, atLeast);
  return { state, revision, hash, position };
}

/** Returns the stream as the command left it; `undefined` if the command was not executed or appended nothing. */
export async function findExecuted<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  commandId: string,
): Promise<Outcome<State, Event> | undefined> {
  return (await replay(log, aggregate, id, commandId)).outcome;
}

type Replayed<State, Event> = {
  readonly present: Loaded<State>;
  /** The stream as the command left it, if the stream has events of the command. */
  readonly outcome: Outcome<State, Event> | undefined;
};

/** Reads a stream, and finds in it the events of a command. */
export async function replay<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  commandId: string,
  since?: number,
): Promise<Replayed<State, Event>> {
  let present = emptyStream(aggregate);
  let outcome: Outcome<State, Event> | undefined;
  for await (const stored of log.readStream(`${aggregate.prefix}${id}`, { since })) {
    const { revision, position } = stored;
    const event = aggregate.codec.read(stored);
    const after = {
      state: aggregate.decider.evolve(present.state, event),
      revision,
      hash: chainHash(stored),
      position,
    };
    const own: readonly Event[] = outcome?.events ?? [];
    if (stored.id === eventId(commandId, own.length)) outcome = { ...after, events: [...own, event] };
    present = after;
  }
  return { present, outcome };
}

/** Returns the state of a stream that does not exist. */
export function emptyStream<State, Command, Event>(
  aggregate: Aggregate<State, Command, Event>,
): Loaded<State> {
  return { state: aggregate.decider.initial, revision: 'none', hash: null, position: undefined };
}
