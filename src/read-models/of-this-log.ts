import { type EventLog, isInLog } from '../event-log/event-log.ts';
import type { Seen, ViewTable } from './view-store.ts';

/**
 * Empties the tables that are of another log, however much this one looks like it: a restored or migrated log has the
 * same events at other positions, and one that went another way has other events at the same ones. A table is of a
 * log that has, exactly at its position, the very event that it has seen last.
 */
export async function clearOfOtherLogs(log: EventLog, tables: readonly ViewTable[]): Promise<void> {
  const isEmpty = (await log.head()) === undefined; // asked in any case: without the log no service starts
  await Promise.all(
    tables.map(async (table) => {
      if (table.position === undefined) return;
      const last = markOf(table);
      if (isEmpty || last === undefined || !(await isInLog(log, last))) table.clear();
    }),
  );
}

/** What the view has seen last; `undefined` where an older release has written, which moves the position alone. */
export function markOf({ position, lastSeen }: Pick<ViewTable, 'position' | 'lastSeen'>): Seen | undefined {
  return lastSeen?.position === position ? lastSeen : undefined;
}
