import type { Aggregate } from './domain/aggregates.ts';
import type { Codec } from './domain/codec.ts';
import {
  type EventLog,
  type ExpectedRevision,
  type JsonObject,
  type NewEvent,
  type Position,
  WrongExpectedRevision,
} from './event-log/event-log.ts';
import { chainHash, eventId, sealAfter } from './event-log/hash-chain.ts';
import { traceparent } from './tracing/span.ts';

/** Who acts, and in what connection. */
export type CommandContext = {
  /** UUID. The same command under the same id, decided at the same revision, is appended once. */
  readonly commandId: string;
  readonly actor: Actor;
  /** RFC 3339, UTC. */
  readonly now: string;
  readonly correlationId: string;
  /** Id of the event that caused this command, if one did. */
  readonly causationId?: string;
};

export type Actor = { readonly kind: 'client' | 'operator' | 'reactor' | 'service'; readonly name: string };

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

export type ExecuteOptions<State = unknown> = {
  /** The stream as a command has left it a moment ago: decided on before anything is read. */
  readonly from?: Loaded<State> | undefined;
  /** The stream is known not to exist, so nothing is read first. */
  readonly fresh?: boolean;
  /** The command may have been carried out before: then it is answered as it was then. */
  readonly once?: boolean;
  /** Decide only at this revision; otherwise throw {@link RevisionNotMatched}. */
  readonly atRevision?: number;
};

/** Other writers of this stream won again and again. */
export class ConcurrentWrites extends Error {
  override readonly name = 'ConcurrentWrites';
  readonly code = 'CONCURRENT_WRITES';
}

/** The stream is not at the revision that the caller insisted on. */
export class RevisionNotMatched extends Error {
  override readonly name = 'RevisionNotMatched';
  readonly code = 'REVISION_NOT_MATCHED';
}

/**
 * Load, decide, append; on a lost race the same again with what the winner has left.
 * @throws what `decide` throws; {@link ConcurrentWrites}; EventLogUnavailable
 */
export async function execute<State, Command, Event extends { type: string; data: object }>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  command: Command,
  context: CommandContext,
  options: ExecuteOptions<State> = {},
): Promise<Outcome<State, Event>> {
  const stream = `${aggregate.prefix}${id}`;
  let from = options.fresh ? nothing(aggregate) : options.from;
  for (let attempt = 1; ; attempt += 1) {
    const before = options.once ? await carriedOut(log, aggregate, id, context.commandId) : undefined;
    if (before) return before;
    const loaded = from ?? (await load(log, aggregate, id));
    assertAt(options.atRevision, loaded.revision, stream);
    const events = aggregate.decider.decide(command, loaded.state);
    const state = events.reduce(aggregate.decider.evolve, loaded.state);
    if (events.length === 0) return { state, events, ...standing(loaded, stream) };
    try {
      const unsealed = described(aggregate.codec, events, context);
      const sealed = sealAfter(stream, loaded.revision, loaded.hash, unsealed);
      const appended = await log.append(stream, loaded.revision, sealed);
      return { state, events, hash: chainHash(sealed.at(-1)), ...appended };
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision) || options.fresh) throw error;
      if (attempt === MAX_ATTEMPTS)
        throw new ConcurrentWrites(`${stream} was written to by others ${attempt} times.`);
      from = undefined;
      await pause(attempt);
    }
  }
}

/** Nothing is appended. @throws what {@link execute} would throw of the first of the commands that is not possible. */
export async function assertPossible<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  commands: readonly Command[],
  { atRevision }: Pick<ExecuteOptions, 'atRevision'> = {},
): Promise<void> {
  const { decider, prefix } = aggregate;
  let { state, revision } = await load(log, aggregate, id);
  assertAt(atRevision, revision, `${prefix}${id}`);
  for (const command of commands) state = decider.decide(command, state).reduce(decider.evolve, state);
}

/** The present of a stream; of one that does not exist, the initial state at revision `none`. */
export async function load<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
): Promise<Loaded<State>> {
  let { state, revision, hash, position }: Loaded<State> = nothing(aggregate);
  for await (const stored of log.readStream(`${aggregate.prefix}${id}`)) {
    state = aggregate.decider.evolve(state, aggregate.codec.read(stored));
    ({ revision, position } = stored);
    hash = chainHash(stored);
  }
  return { state, revision, hash, position };
}

/** The stream as the command left it when it was carried out, if it ever was and has appended anything. */
export async function carriedOut<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  commandId: string,
): Promise<Outcome<State, Event> | undefined> {
  let state = aggregate.decider.initial;
  let own: Event[] = [];
  let last: Pick<Outcome<State, Event>, 'revision' | 'hash' | 'position'> | undefined;
  for await (const stored of log.readStream(`${aggregate.prefix}${id}`)) {
    const isOwn = stored.id === eventId(commandId, own.length);
    if (last && !isOwn) break;
    const event = aggregate.codec.read(stored);
    state = aggregate.decider.evolve(state, event);
    if (!isOwn) continue;
    own = [...own, event];
    last = { revision: stored.revision, hash: chainHash(stored), position: stored.position };
  }
  return last && { state, events: own, ...last };
}

const MAX_ATTEMPTS = 30;

function nothing<State, Command, Event>(aggregate: Aggregate<State, Command, Event>): Loaded<State> {
  return { state: aggregate.decider.initial, revision: 'none', hash: null, position: undefined };
}

function assertAt(wanted: number | undefined, revision: ExpectedRevision, stream: string): void {
  if (wanted === undefined || wanted === revision) return;
  throw new RevisionNotMatched(`${stream} is at revision ${revision}, not at ${wanted}.`);
}

function standing(
  { revision, hash, position }: Loaded<unknown>,
  stream: string,
): Pick<Outcome<unknown, unknown>, 'revision' | 'hash' | 'position'> {
  if (revision === 'none' || position === undefined) {
    throw new Error(`A command on the empty stream ${stream} decided nothing.`);
  }
  return { revision, hash, position };
}

function described<Event extends { type: string; data: object }>(
  codec: Codec<Event>,
  events: readonly Event[],
  { commandId, actor, now, correlationId, causationId }: CommandContext,
): NewEvent[] {
  const tracing = traceparent();
  return events.map(({ type, data }, index) => ({
    id: eventId(commandId, index),
    type,
    data: data as JsonObject, // events are declared as plain JSON
    metadata: {
      schemaVersion: codec.versionOf(type),
      occurredAt: now,
      actor,
      $correlationId: correlationId,
      ...(causationId === undefined ? {} : { $causationId: causationId }),
      ...(tracing === undefined ? {} : { traceparent: tracing }),
    },
  }));
}

/** A little longer each time, and never in step with the others. */
function pause(attempt: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(attempt * 2, 50)));
}
