import { type EventLog, isInLog, type Position } from '../event-log/event-log.ts';
import type { ViewFile } from './store/view-file.ts';

/**
 * Empties views of another log. A restored or migrated log has the same events at other positions; a log that diverged
 * has other events at the same positions. Views belong to a log only if it has, exactly at their position, the event
 * that they applied last. Resolves to the head of the log.
 */
export async function resetForeign(log: EventLog, views: ViewFile): Promise<Position | undefined> {
  const head = await log.head(); // always asked: without the log the service must not start
  const { lastSeen } = views;
  if (lastSeen !== undefined && (head === undefined || !(await isInLog(log, lastSeen)))) views.clear();
  return head;
}
