import type { EventLogConfig } from '../config.ts';
import type { LogAudit } from './log-audit.ts';

/** Opens the configured log to be audited: nothing is written, and no damage keeps it from being opened. */
export async function openLogAudit(config: EventLogConfig): Promise<LogAudit> {
  if (config.kind === 'sqlite') {
    const { SqliteLogAudit } = await import('./sqlite/sqlite-log-audit.ts');
    return new SqliteLogAudit(config.file);
  }
  const [{ EventStoreDbEventLog }, { PlainLogAudit }] = await Promise.all([
    import('./eventstoredb/eventstoredb-event-log.ts'),
    import('./log-audit.ts'),
  ]);
  return new PlainLogAudit(await EventStoreDbEventLog.open(config));
}
