import type { EventLogConfig } from '../config.ts';
import type { EventLog } from './event-log.ts';

/** Opens the configured engine; one that is not in use is not even loaded. */
export async function openEventLog({ file }: EventLogConfig): Promise<EventLog> {
  const { SqliteEventLog } = await import('./sqlite-event-log.ts');
  return SqliteEventLog.open({ file });
}
