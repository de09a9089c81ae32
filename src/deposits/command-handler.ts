import type { Aggregate } from '../domain/aggregates.ts';
import type { Codec } from '../domain/codec.ts';
import {
  type EventLog,
  type ExpectedRevision,
  type JsonObject,
  type NewEvent,
  WrongExpectedRevision,
} from '../event-log/event-log.ts';
import { chainHash, eventId, sealAfter } from '../event-log/integrity/hash-chain.ts';
import { clock } from '../tools/clock.ts';
import { random } from '../tools/random.ts';
import { traceparent } from '../tools/span.ts';
import { isBeyond, OutageRetries } from './outage-retries.ts';
import { emptyStream, type Loaded, type LoadOptions, load, type Outcome, replay } from './stream-states.ts';

export { findExecuted, type Loaded, load, type Outcome } from './stream-states.ts';

/** Actor and correlation of a command. */
export type CommandContext = {
  /** UUID. The same command under the same id, decided at the same revision, is appended once. */
  readonly commandId: string;
  readonly actor: Actor;
  /** RFC 3339, UTC. */
  readonly now: string;
  readonly correlationId: string;
  /** Id of the event that caused this command, if any. */
  readonly causationId?: string;
};

export type Actor = { readonly kind: 'client' | 'operator' | 'reactor' | 'service'; readonly name: string };

export type HandleOptions<State = unknown> = {
  /** The stream as a previous command left it; decided on before anything is read. */
  readonly from?: Loaded<State> | undefined;
  /** Whether the stream is known not to exist, so that no read is needed. */
  readonly fresh?: boolean;
  /** Whether the command may have been executed before; if so, its recorded outcome is returned. */
  readonly once?: boolean;
  /** Revision at which to decide; at any other, throws {@link RevisionNotMatched}. */
  readonly atRevision?: number;
  /** The retries of the enclosing request; by default, the command has its own time limit. */
  readonly retries?: OutageRetries;
} & Pick<LoadOptions, 'atLeast'>;

/** Other writers won the race for every one of many appends. */
class ConcurrentWrites extends Error {
  override readonly name = 'ConcurrentWrites';
  readonly code = 'CONCURRENT_WRITES';
}

/** The stream is not at the revision that the caller requires. */
class RevisionNotMatched extends Error {
  override readonly name = 'RevisionNotMatched';
  readonly code = 'REVISION_NOT_MATCHED';
}

/**
 * Load, decide, append; on a lost race the same again with what the winner has left. A rejected append that no read
 * explains is an outage: it is repeated until it is accepted, lost to a writer, or over the time limit.
 * @throws what `decide` throws; {@link ConcurrentWrites}; EventLogUnavailable
 */
export async function handleCommand<State, Command, Event extends { type: string; data: object }>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  command: Command,
  context: CommandContext,
  options: HandleOptions<State> = {},
): Promise<Outcome<State, Event>> {
  const stream = `${aggregate.prefix}${id}`;
  const { once = false, fresh = false, from, atRevision, atLeast, retries = new OutageRetries() } = options;
  const { since } = retries;
  const reread = () => replay<State, Command, Event>(log, aggregate, id, context.commandId, since);
  const before = once ? await reread() : undefined;
  if (before?.outcome) return before.outcome;
  let present = fresh
    ? emptyStream(aggregate)
    : (from ?? before?.present ?? (await load(log, aggregate, id, { since, atLeast })));
  for (let lost = 0; ; ) {
    assertAt(atRevision, present.revision, stream);
    const events = aggregate.decider.decide(command, present.state);
    const state = events.reduce(aggregate.decider.evolve, present.state);
    if (events.length === 0) return { state, events, ...streamHead(present, stream) };
    const unsealed = toNewEvents(aggregate.codec, events, context);
    const sealed = sealAfter(stream, present.revision, present.hash, unsealed);
    try {
      const appended = await log.append(stream, present.revision, sealed, { since });
      return { state, events, hash: chainHash(sealed.at(-1)), ...appended };
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
      await pause(lost + 1);
      const shown = await reread();
      if (shown.outcome) return shown.outcome;
      if (isBeyond(shown.present.revision, present.revision)) {
        if (fresh) throw error;
        lost += 1;
        if (lost === MAX_LOST)
          throw new ConcurrentWrites(`${stream} was written to by others ${lost} times.`);
        ({ present } = shown);
      } else await retries.pause(`The append to ${stream} was rejected, and no read shows another event`);
    }
  }
}

/**
 * Checks commands without appending. @throws what {@link handleCommand} would throw for the first command that is not
 * possible.
 */
export async function assertPossible<State, Command, Event>(
  log: EventLog,
  aggregate: Aggregate<State, Command, Event>,
  id: string | number,
  commands: readonly Command[],
  { atRevision, retries }: Pick<HandleOptions, 'atRevision' | 'retries'> = {},
): Promise<void> {
  const { decider, prefix } = aggregate;
  let { state, revision } = await load(log, aggregate, id, { since: retries?.since });
  assertAt(atRevision, revision, `${prefix}${id}`);
  for (const command of commands) state = decider.decide(command, state).reduce(decider.evolve, state);
}

/** Maximum number of appends that a command may lose to other writers of its stream. */
const MAX_LOST = 30;

function assertAt(wanted: number | undefined, revision: ExpectedRevision, stream: string): void {
  if (wanted === undefined || wanted === revision) return;
  throw new RevisionNotMatched(`${stream} is at revision ${revision}, not at ${wanted}.`);
}

function streamHead(
  { revision, hash, position }: Loaded<unknown>,
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

/** Sleeps a random time, which grows with the attempts, so that writers do not stay in step. */
function pause(attempt: number): Promise<void> {
  return clock.sleep(random.fraction() * Math.min(attempt * 2, 50));
}
