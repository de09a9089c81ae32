import type { Aggregate } from './domain/aggregates.ts';
import { type EventLog, type ExpectedRevision, type Position, staleRead } from './event-log/event-log.ts';
import { chainHash, eventId } from './event-log/hash-chain.ts';

/** A stream folded to its present. */
export type Loaded<State> = {
  readonly state: State;
  readonly revision: ExpectedRevision;
  readonly hash: string | null;
  /** Position of its last event. */
  readonly position: Position | undefined;
};

export type Outcome<State, Event> = {
  readonly state: State;
  /** Appended now; none when all was so already. */
  readonly events: readonly Event[];
  /** Of the last event of the stream. */
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

/**
 * Loads the present of a stream; of one that does not exist, the initial state at revision `none`.
 * @throws {EventLogUnavailable} the read is stale: a leader that was deposed answers for a moment with old data.
 */
export async function load<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  { atLeast, since }: LoadOptions = {},
): Promise<Loaded<State>> {
  let { state, revision, hash, position }: Loaded<State> = nothing(aggregate);
  for await (const stored of log.readStream(`${aggregate.prefix}${id}`, { since })) {
    state = aggregate.decider.evolve(state, aggregate.codec.read(stored));
    ({ revision, position } = stored);
    hash = chainHash(stored);
  }
  if (atLeast !== undefined && (revision === 'none' || revision < atLeast))
    throw staleRead(`${aggregate.prefix}${id}`, revision, atLeast);
  return { state, revision, hash, position };
}

/** The stream as the command left it when it was carried out, if it ever was and has appended anything. */
export async function carriedOut<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  commandId: string,
): Promise<Outcome<State, Event> | undefined> {
  return (await replay(log, aggregate, id, commandId)).outcome;
}

type Replayed<State, Event> = {
  readonly present: Loaded<State>;
  /** The stream as the command left it, if it has events of the command. */
  readonly outcome: Outcome<State, Event> | undefined;
};

/** Reads a stream, and finds in it what a command has appended. */
export async function replay<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  commandId: string,
  since?: number,
): Promise<Replayed<State, Event>> {
  let present = nothing(aggregate);
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

/** The present of a stream that does not exist. */
export function nothing<State, Command, Event>(aggregate: Aggregate<State, Command, Event>): Loaded<State> {
  return { state: aggregate.decider.initial, revision: 'none', hash: null, position: undefined };
}
