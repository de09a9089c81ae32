import path from 'node:path';
import type { Config, EventLogConfig } from '../../config/config.ts';
import type { ConsumerGroups } from '../../event-log/consumer-groups/consumer-group.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import type { LogAudit } from '../../event-log/integrity/log-audit.ts';
import { RECEIVERS } from '../../reactors/reactor-names.ts';
import { assertAccessible } from '../../tools/files/access.ts';
import { type Logger, silentLogger } from '../../tools/logger.ts';

/** Opens the configured engine; modules of other engines are not loaded. With `readOnly`, no event can be appended. */
export async function openEventLog(
  config: EventLogConfig,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): Promise<EventLog> {
  if (config.kind === 'sqlite') {
    const { SqliteEventLog } = await import('../../event-log/sqlite/sqlite-event-log.ts');
    return SqliteEventLog.open({ file: config.file, readOnly });
  }
  const { EventStoreDbEventLog } = await import('../../event-log/eventstoredb/eventstoredb-event-log.ts');
  return EventStoreDbEventLog.open(config);
}

/**
 * Resolves to the version of the server that stores the log, and a sentence for operators about a defect of this
 * version; to `undefined` without a server. @throws {EventLogUnavailable}
 */
export async function askLogServer(config: EventLogConfig, signal?: AbortSignal) {
  if (config.kind === 'sqlite') return undefined;
  const { EventStoreDbEventLog } = await import('../../event-log/eventstoredb/eventstoredb-event-log.ts');
  const { versionWarning } = await import('../../event-log/eventstoredb/server-version.ts');
  await using log = await EventStoreDbEventLog.open(config);
  const version = await log.serverVersion(signal);
  return { version, warning: versionWarning(version) };
}

/**
 * Opens the deliveries for the reactors: for an embedded log in this process, with positions stored in the data folder;
 * otherwise shared by all nodes of the log.
 * @throws {NotPermitted}
 */
export async function openDeliveries(
  { eventLog, dataDir }: Pick<Config, 'eventLog' | 'dataDir'>,
  log: EventLog,
  logger: Logger = silentLogger,
): Promise<ConsumerGroups & Partial<AsyncDisposable>> {
  if (eventLog.kind === 'sqlite') {
    const folder = path.join(dataDir, 'checkpoints');
    assertAccessible(folder); // without it all events would be delivered again at every start
    const { CatchUpDeliveries } = await import('../../event-log/consumer-groups/catch-up-deliveries.ts');
    return new CatchUpDeliveries(log, folder);
  }
  const { EventStoreDbDeliveries } = await import(
    '../../event-log/eventstoredb/consumer-groups/eventstoredb-deliveries.ts'
  );
  return new EventStoreDbDeliveries(log, {
    ...eventLog,
    receivers: RECEIVERS,
    retiredGroups: RECEIVERS, // in older releases each receiver was a separate group on a server
    onDeleted: (group) => logger.info({ group }, 'group of an older release deleted'),
    onDenied: (group) => logger.warn({ group }, 'group of an older release cannot be deleted by this user'),
  });
}

/** Resolves to `undefined` for a log without a server, which has no groups. */
export async function openGroups(config: EventLogConfig) {
  if (config.kind === 'sqlite') return undefined;
  const { EventStoreDbGroups } = await import(
    '../../event-log/eventstoredb/consumer-groups/eventstoredb-groups.ts'
  );
  return new EventStoreDbGroups({ ...config, retiredGroups: RECEIVERS });
}

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
