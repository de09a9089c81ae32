import type { EventLogConfig } from '../config.ts';
import type { Deliveries } from './deliveries.ts';
import type { EventLog } from './event-log.ts';

/** Opens the configured engine; one that is not in use is not even loaded. `readOnly`: nothing is going to be appended. */
export async function openEventLog(
  config: EventLogConfig,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): Promise<EventLog> {
  if (config.kind === 'sqlite') {
    const { SqliteEventLog } = await import('./sqlite/sqlite-event-log.ts');
    return SqliteEventLog.open({ file: config.file, readOnly });
  }
  const { EventStoreDbEventLog } = await import('./eventstoredb/eventstoredb-event-log.ts');
  return EventStoreDbEventLog.open(config);
}

/** What feeds the reactors: in one process from checkpoints in `folder`, else shared by all nodes of the log. */
export async function openDeliveries(
  config: EventLogConfig,
  log: EventLog,
  folder: string,
): Promise<Deliveries & Partial<AsyncDisposable>> {
  if (config.kind === 'sqlite') {
    const { CatchUpDeliveries } = await import('./catch-up-deliveries.ts');
    return new CatchUpDeliveries(log, folder);
  }
  const { EventStoreDbDeliveries } = await import('./eventstoredb/eventstoredb-deliveries.ts');
  return new EventStoreDbDeliveries(log, config);
}
