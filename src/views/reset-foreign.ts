import { type EventLog, isInLog } from '../event-log/event-log.ts';
import type { ViewFile } from './store/view-file.ts';

/**
 * Empties views of another log. A restored or migrated log has the same events at other positions; a log that diverged
 * has other events at the same positions. Views belong to a log only if it has, exactly at their position, the event
 * that they applied last.
 */
export async function resetForeign(log: EventLog, views: ViewFile): Promise<void> {
  const isEmpty = (await log.head()) === undefined; // always asked: without the log the service must not start
  const { lastSeen } = views;
  if (lastSeen !== undefined && (isEmpty || !(await isInLog(log, lastSeen)))) views.clear();
}
