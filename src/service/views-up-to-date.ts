import { pluralize } from '../domain/description.ts';
import { lagAfter } from '../event-log/consumer-groups/lag.ts';
import type { EventLog, Position } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import { BEHIND, type Projector } from '../views/projector.ts';

type Log = Pick<EventLog, 'head' | 'readAll'>;

/** Milliseconds after which views that have not applied an event count as stalled. */
const MAX_LAG_MS = 30_000;

/**
 * Returns a check that rejects with the reason while the views of this node do not keep up with the log. It measures
 * the time between its calls. The times of events are those of other nodes, whose clocks may differ.
 */
export function viewsUpToDate(
  projector: Pick<Projector, 'isCurrent' | 'reached' | 'lastError'>,
  log: Log,
): () => Promise<void> {
  /** An end of the log that the views had not reached, and when that was seen. */
  let awaited: { readonly end: Position | undefined; readonly since: number } | undefined;
  return async () => {
    const reason = projector.lastError ?? (projector.isCurrent ? undefined : BEHIND);
    if (reason !== undefined) throw new Error(reason);
    const behind = await firstBehind(projector, log);
    if (!behind) {
      awaited = undefined;
      return;
    }
    const { name, position = '', count } = behind;
    const end = await log.head();
    if (!awaited || (awaited.end !== undefined && position >= awaited.end))
      awaited = { end, since: clock.monotonic() };
    const lag = clock.monotonic() - awaited.since;
    if (lag <= MAX_LAG_MS) return;
    awaited = { ...awaited, end }; // once stalled, they must apply what was appended meanwhile
    const [events, seconds] = [pluralize(count, 'event'), pluralize(Math.round(lag / 1000), 'second')];
    throw new Error(`View ${name} is behind: ${events} not applied for at least ${seconds}.`);
  };
}

/** Resolves to the first view that has not applied all of its events, and their number. */
async function firstBehind({ reached }: Pick<Projector, 'reached'>, log: Log) {
  const distinct = new Map(reached.map((view) => [`${view.streamPrefix} ${view.position}`, view]));
  for (const { name, streamPrefix, position } of distinct.values()) {
    const { count = 0 } = await lagAfter(log, position, streamPrefix); // what was not counted in time is no evidence
    if (count > 0) return { name, position, count };
  }
  return undefined;
}
