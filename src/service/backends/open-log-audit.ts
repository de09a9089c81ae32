import type { EventLogConfig } from '../../config/config.ts';
import type { LogAudit } from '../../event-log/integrity/log-audit.ts';

/** Opens the configured log for an audit: read-only, and also if it is corrupt. */
export async function openLogAudit(config: EventLogConfig): Promise<LogAudit> {
  if (config.kind === 'sqlite') {
    const { SqliteLogAudit } = await import('../../event-log/sqlite/sqlite-log-audit.ts');
    return new SqliteLogAudit(config.file);
  }
  const [{ EventStoreDbEventLog }, { PlainLogAudit }] = await Promise.all([
    import('../../event-log/eventstoredb/eventstoredb-event-log.ts'),
    import('../../event-log/integrity/log-audit.ts'),
  ]);
  return new PlainLogAudit(await EventStoreDbEventLog.open(config));
}
