import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';
import { applyEvents } from './apply-events.ts';
import type { AnyProjection } from './projection.ts';
import type { ViewFile } from './store/view-file.ts';

const PAGE = 1000;

/**
 * Applies the log up to its end to a file that is not in use. Reads every event, including those that concern no view:
 * their positions count, too.
 */
export async function catchUp(
  views: ViewFile,
  log: EventLog,
  projections: readonly AnyProjection[],
  signal: AbortSignal,
): Promise<void> {
  let page: RecordedEvent[] = [];
  const flush = (): void => {
    applyEvents(views, projections, page);
    views.save();
    page = [];
  };
  for await (const event of log.readAll({ after: views.lastSeen?.position, signal })) {
    if (page.push(event) === PAGE) flush();
  }
  flush();
}
