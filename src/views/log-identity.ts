import { type EventLog, isInLog } from '../event-log/event-log.ts';
import type { EventRef, ViewTable } from './view-store.ts';

/**
 * Empties the tables that belong to another log. A restored or migrated log has the same events at other
 * positions; a log that diverged has other events at the same positions. A table belongs to this log only if
 * the log has, exactly at the table's position, the event that the table applied last.
 */
export async function resetForeignViews(log: EventLog, tables: readonly ViewTable[]): Promise<void> {
  const isEmpty = (await log.head()) === undefined; // always asked: without the log the service must not start
  await Promise.all(
    tables.map(async (table) => {
      if (table.position === undefined) return;
      const last = lastSeenOf(table);
      if (isEmpty || last === undefined || !(await isInLog(log, last))) table.clear();
    }),
  );
}

/**
 * Returns the event that the view applied last; `undefined` if an older release wrote the file, which stored
 * only the position.
 */
export function lastSeenOf({
  position,
  lastSeen,
}: Pick<ViewTable, 'position' | 'lastSeen'>): EventRef | undefined {
  return lastSeen?.position === position ? lastSeen : undefined;
}
