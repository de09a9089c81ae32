import { AdminCommands } from '../../../deposits/admin-commands.ts';
import { depositOfStream } from '../../../domain/aggregates.ts';
import type { EventLog } from '../../../event-log/event-log.ts';
import { type ParkedFacts, parkedFacts } from '../../../operations/parked/parked-facts.ts';
import { skipParked } from '../../../operations/parked/skip-parked.ts';
import { ALL_REACTORS } from '../../../reactors/reactor-names.ts';
import type { Viewer } from '../access/sessions.ts';
import type { ParkedRow, ParkedWork } from '../protocol/parked-work.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { ConsoleRefusal, type Route, type ViewerRequest } from '../server/route.ts';

/** Maximum characters of the reason of a skip. */
const MAX_REASON = 1000;

/** Returns the routes of parked events: what waits for a person, and what a person decides. */
export function workRoutes({ log }: ConsoleParts): readonly Route[] {
  return [
    { method: 'GET', path: '/console/api/work', permission: 'service:read', answer: list },
    { method: 'POST', path: '/console/api/work/retry', permission: 'work:act', answer: retry },
    {
      method: 'POST',
      path: '/console/api/work/skip',
      permission: 'work:act',
      needsFreshSession: true,
      answer: skip,
    },
  ];

  async function list(): Promise<ParkedWork> {
    const parked = await Promise.all(ALL_REACTORS.map((reactor) => parkedFacts(log, reactor)));
    return { parked: parked.flat().map(rowOf) };
  }

  async function retry({ body, viewer }: ViewerRequest) {
    const { reactor, eventIds } = body as Readonly<Record<string, unknown>>;
    const ids = Array.isArray(eventIds) ? eventIds : [];
    const name = reactorIn(reactor);
    const parked = await parkedAmong(name, ids);
    const events = await Array.fromAsync(commandsOf(log, viewer).retryParked(name, parked));
    return { retried: events.length };
  }

  async function skip({ ctx, body, viewer }: ViewerRequest): Promise<void> {
    const { reactor, eventId, reason } = body as Readonly<Record<string, unknown>>;
    if (typeof eventId !== 'string' || typeof reason !== 'string' || reason.trim() === '')
      throw new ConsoleRefusal(400, 'NO_REASON', 'Give the reason: it is stored in the log.');
    const text = reason.trim();
    if (text.length > MAX_REASON)
      throw new ConsoleRefusal(400, 'REASON_TOO_LONG', `A reason has at most ${MAX_REASON} characters.`);
    const [event] = await parkedAmong(reactorIn(reactor), [eventId]);
    await skipParked(log, commandsOf(log, viewer), event, text);
    ctx.status = 204;
  }

  /** Resolves to the events among these that are parked. @throws {ConsoleRefusal} none is */
  async function parkedAmong(
    reactor: string,
    ids: readonly unknown[],
  ): Promise<readonly [ParkedFacts, ...ParkedFacts[]]> {
    const [first, ...others] = (await parkedFacts(log, reactor)).filter(({ eventId }) =>
      ids.includes(eventId),
    );
    if (first) return [first, ...others];
    throw new ConsoleRefusal(409, 'NOT_PARKED', 'None of these events is still parked.');
  }
}

function commandsOf(log: EventLog, { kind, name }: Viewer): AdminCommands {
  return new AdminCommands(log, { kind, name });
}

function reactorIn(name: unknown): string {
  const found = ALL_REACTORS.find((reactor) => reactor === name);
  if (found === undefined) throw new ConsoleRefusal(400, 'BAD_REACTOR', 'Unknown reactor.');
  return found;
}

function rowOf({ parkedAt: since, timesParked: times, ...parked }: ParkedFacts): ParkedRow {
  const { reactor, eventId, stream, revision, reason, object = null } = parked;
  const depositId = depositOfStream(stream);
  return { reactor, eventId, stream, depositId, revision, reason, object, since, times };
}
