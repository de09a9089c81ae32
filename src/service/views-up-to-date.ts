import { counted } from '../domain/description.ts';
import type { EventLog } from '../event-log/event-log.ts';
import { waitingAfter } from '../event-log/waiting-events.ts';
import type { Projector } from '../read-models/projector.ts';
import { clock } from '../tools/clock.ts';

/** What views show may be as old as this, in milliseconds: more means that they do not get on. */
const LONGEST_LAG = 30_000;

/** Rejects with what is wrong while the views of this node do not get on with the log. */
export async function assertUpToDate(
  projector: Pick<Projector, 'reached' | 'trouble'>,
  log: Pick<EventLog, 'head' | 'readAll'>,
  longestLag = LONGEST_LAG,
): Promise<void> {
  if (projector.trouble !== undefined) throw new Error(projector.trouble);
  const reached = new Map(projector.reached.map((view) => [`${view.streamPrefix} ${view.position}`, view]));
  for (const { name, streamPrefix, position } of reached.values()) {
    const { count, oldest } = await waitingAfter(log, position, streamPrefix);
    const lag = oldest === undefined ? 0 : clock.now() - Date.parse(oldest);
    if (lag <= longestLag) continue;
    const seconds = Math.round(lag / 1000);
    throw new Error(
      `${name} does not show ${counted(count, 'event')}, the oldest of ${counted(seconds, 'second')} ago.`,
    );
  }
}
