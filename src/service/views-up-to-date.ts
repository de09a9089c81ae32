import { pluralize } from '../domain/description.ts';
import { lagAfter } from '../event-log/consumer-groups/lag.ts';
import type { EventLog } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import { BEHIND, type Projector } from '../views/projector.ts';

/** Maximum age of events that a view has not applied; beyond it the view counts as stalled. */
const MAX_LAG_MS = 30_000;

/** Rejects with the reason while the views of this node do not keep up with the log. */
export async function assertUpToDate(
  projector: Pick<Projector, 'isCurrent' | 'reached' | 'lastError'>,
  log: Pick<EventLog, 'head' | 'readAll'>,
  longestLag = MAX_LAG_MS,
): Promise<void> {
  const reason = projector.lastError ?? (projector.isCurrent ? undefined : BEHIND);
  if (reason !== undefined) throw new Error(reason);
  const reached = new Map(projector.reached.map((view) => [`${view.streamPrefix} ${view.position}`, view]));
  for (const { name, streamPrefix, position } of reached.values()) {
    const { count, oldest } = await lagAfter(log, position, streamPrefix);
    const lag = oldest === undefined ? 0 : clock.now() - Date.parse(oldest);
    if (count === undefined || lag <= longestLag) continue; // what was not counted in time is no evidence
    const seconds = Math.round(lag / 1000);
    throw new Error(
      `View ${name} is behind: ${pluralize(count, 'event')} not applied, the oldest ${pluralize(seconds, 'second')} old.`,
    );
  }
}
