import type { Aggregate } from '../domain/aggregates.ts';
import type { Codec } from '../domain/codec.ts';
import {
  type EventLog,
  type ExpectedRevision,
  type JsonObject,
  type NewEvent,
  type Position,
  staleRead,
  WrongExpectedRevision,
} from '../event-log/event-log.ts';
import { chainHash, eventId, sealAfter } from '../event-log/integrity/hash-chain.ts';
import { isBeyond, OutageRetries, pauseAfterLostRace } from '../event-log/outage-retries.ts';
import { clock } from '../tools/clock.ts';
import { errorsOfCode } from '../tools/coded-error.ts';
import { random } from '../tools/random.ts';
import { traceparent } from '../tools/span.ts';
import type { KeptStates } from './kept-states.ts';
import { emptyStream, type StreamState } from './stream-state.ts';

/** Actor and correlation of a command. */
export type CommandContext = {
  /** Equal for repetitions of the command, which is appended once at a revision: its events have ids made from this. */
  readonly commandId: string;
  readonly actor: Actor;
  /** RFC 3339, UTC. */
  readonly now: string;
  readonly correlationId: string;
  /** Id of the event that caused this command, if any. */
  readonly causationId?: string;
};

/** Causes a command. An `operator` names themselves; a `person` has signed in to the console. */
export type Actor = {
  readonly kind: 'client' | 'operator' | 'person' | 'reactor' | 'service';
  readonly name: string;
};

/** Returns the context of a command that neither a request nor an event has caused. */
export function newContext(actor: Actor): CommandContext {
  const [commandId, correlationId] = [random.uuid(), random.uuid()];
  return { commandId, correlationId, actor, now: clock.date().toISOString() };
}

/** The stream as a command left it. */
export type Outcome<State, Event> = StreamState<State> & {
  readonly revision: number;
  readonly position: Position;
  /** The events appended by the command; empty if it had nothing to change. */
  readonly events: readonly Event[];
};

export type StateRead<State, Event> = StreamState<State> & {
  /** The outcome of the command with the given id, if the stream has its events. */
  readonly executed?: Outcome<State, Event> | undefined;
};

export type ReadStateOptions<State> = {
  /** The stream as an earlier call has read it: only later events are read. */
  readonly from?: StreamState<State> | undefined;
  /** A revision that the stream is known to have: a read that ends before it is stale. */
  readonly atLeast?: number | undefined;
  /** When the request began, by `clock.monotonic()`. */
  readonly since?: number | undefined;
  /** The command whose events to recognise in the stream. */
  readonly commandId?: string;
};

/** A command that is decided on what those before it leave, and whose events are appended together with theirs. */
export type NextCommand<State, Command> = {
  readonly commandFor: (state: State) => Command;
  readonly context: CommandContext;
};

export type HandleOptions<State = unknown, Command = unknown> = {
  /** The stream as a previous command left it; decided on before anything is read. */
  readonly from?: StreamState<State> | undefined;
  /** Whether the stream is known not to exist, so that no read is needed. */
  readonly fresh?: boolean;
  /** Required revision: at any other, a command that is not refused throws {@link RevisionNotMatched}. */
  readonly atRevision?: number;
  /** The retries of the enclosing request; by default, the command has its own time limit. */
  readonly retries?: OutageRetries;
  /** Decided after the command, unless it changes nothing. If other writers have executed the command, these are skipped. */
  readonly next?: readonly NextCommand<State, Command>[];
  /** Keeps the stream as the command leaves it. */
  readonly kept?: KeptStates<State> | undefined;
} & Pick<ReadStateOptions<State>, 'atLeast'>;

/** Other writers won the race for every one of many appends. */
class ConcurrentWrites extends errorsOfCode('CONCURRENT_WRITES') {}

/** The stream is not at the revision that the caller requires. */
class RevisionNotMatched extends errorsOfCode('REVISION_NOT_MATCHED') {}

/**
 * Read, decide, append; on a lost race the same again with what the winner has left. A rejected append that no read
 * explains is an outage: it is repeated until it is accepted, lost to a writer, or over the time limit.
 * @throws what `decide` throws; {@link ConcurrentWrites}; EventLogUnavailable
 */
export async function handleCommand<State, Command, Event extends { type: string; data: object }>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  command: Command,
  context: CommandContext,
  options: HandleOptions<State, Command> = {},
): Promise<Outcome<State, Event>> {
  const stream = `${aggregate.prefix}${id}`;
  const {
    fresh = false,
    from,
    atRevision,
    atLeast,
    retries = new OutageRetries(),
    kept,
    next = [],
  } = options;
  const { since } = retries;
  const { commandId } = context;
  const read = (least?: number) =>
    readState<State, Command, Event>(log, aggregate, id, { since, atLeast: least, commandId });
  let present: StateRead<State, Event> = fresh ? emptyStream(aggregate) : (from ?? (await read(atLeast)));
  if (present.executed) return present.executed;
  for (let lost = 0; ; ) {
    const { events, state, unsealed } = decideAll(aggregate, present.state, command, context, next);
    assertAt(atRevision, present.revision, stream);
    if (events.length === 0) return { state, events, ...streamHead(present, stream) };
    const sealed = sealAfter(stream, present.revision, present.hash, unsealed);
    try {
      const appended = await log.append(stream, present.revision, sealed, { since });
      const left = { state, hash: chainHash(sealed.at(-1)), ...appended };
      kept?.keep(stream, left, sealed.map(chainHash));
      return { ...left, events };
    } catch (error) {
      kept?.drop(stream);
      if (!(error instanceof WrongExpectedRevision)) throw error;
      await pauseAfterLostRace(Math.min((lost + 1) * 2, 50));
      const shown = await read();
      if (shown.executed) return shown.executed;
      if (isBeyond(shown.revision, present.revision)) {
        if (fresh) throw error;
        lost += 1;
        if (lost === MAX_LOST)
          throw new ConcurrentWrites(`${stream} was written to by others ${lost} times.`);
        present = shown;
      } else await retries.pauseUnexplained(stream);
    }
  }
}

/** Decides a command, and those after it if it gives events. */
function decideAll<State, Command, Event extends { type: string; data: object }>(
  { decider, codec }: Aggregate<State, Command, Event>,
  present: State,
  command: Command,
  context: CommandContext,
  next: readonly NextCommand<State, Command>[],
) {
  const events = [...decider.decide(command, present)];
  const unsealed = toNewEvents(codec, events, context);
  let state = events.reduce(decider.evolve, present);
  for (const { commandFor, context: own } of events.length > 0 ? next : []) {
    const more = decider.decide(commandFor(state), state);
    events.push(...more);
    unsealed.push(...toNewEvents(codec, more, own));
    state = more.reduce(decider.evolve, state);
  }
  return { events, state, unsealed };
}

/** Checks commands without appending. @throws the refusal of the first that {@link handleCommand} refuses. */
export async function assertPossible<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  commands: readonly Command[],
  { atRevision, retries }: Pick<HandleOptions, 'atRevision' | 'retries'> = {},
): Promise<void> {
  const { decider, prefix } = aggregate;
  let { state, revision } = await readState(log, aggregate, id, { since: retries?.since });
  for (const command of commands) state = decider.decide(command, state).reduce(decider.evolve, state);
  assertAt(atRevision, revision, `${prefix}${id}`);
}

/**
 * Reads the current state of a stream; for a missing stream, the initial state at revision `none`.
 * @throws {EventLogUnavailable} the read is stale: for a moment, a deposed leader returns old data.
 */
export async function readState<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  { atLeast, since, commandId, from = emptyStream(aggregate) }: ReadStateOptions<State> = {},
): Promise<StateRead<State, Event>> {
  const stream = `${aggregate.prefix}${id}`;
  let present = from;
  let executed: Outcome<State, Event> | undefined;
  let own = commandId && eventId(commandId, 0);
  const next = from.revision === 'none' ? 0 : from.revision + 1;
  for await (const stored of log.readStream(stream, { from: next, since })) {
    const { revision, position } = stored;
    const event = aggregate.codec.read(stored);
    const state = aggregate.decider.evolve(present.state, event);
    const after = { state, revision, hash: chainHash(stored), position };
    if (commandId && stored.id === own) {
      executed = { ...after, events: [...(executed?.events ?? []), event] };
      own = eventId(commandId, executed.events.length);
    }
    present = after;
  }
  if (atLeast !== undefined && (present.revision === 'none' || present.revision < atLeast))
    throw staleRead(stream, present.revision, atLeast);
  return { ...present, executed };
}

/** Maximum number of appends that a command may lose to other writers of its stream. */
const MAX_LOST = 30;

function assertAt(wanted: number | undefined, revision: ExpectedRevision, stream: string): void {
  if (wanted === undefined || wanted === revision) return;
  throw new RevisionNotMatched(`${stream} is at revision ${revision}, not at ${wanted}.`);
}

function streamHead(
  { revision, hash, position }: StreamState<unknown>,
  stream: string,
): Pick<Outcome<unknown, unknown>, 'revision' | 'hash' | 'position'> {
  if (revision === 'none' || position === undefined) {
    throw new Error(`A command on the empty stream ${stream} decided nothing.`);
  }
  return { revision, hash, position };
}

function toNewEvents<Event extends { type: string; data: object }>(
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
