import type { EventLogConfig } from '../../config/config.ts';
import type { ConsumerGroups } from '../../event-log/consumer-groups/consumer-group.ts';
import type { GroupAdministration } from '../../event-log/consumer-groups/group-administration.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import type { RetiredGroupsOptions } from '../../event-log/eventstoredb/consumer-groups/retired-groups.ts';
import type { LogAudit } from '../../event-log/integrity/log-audit.ts';

/**
 * Opens the configured engine; modules of other engines are not loaded. With `readOnly`, no event can be
 * appended.
 */
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

/** A server that stores the log. */
export type LogServer = {
  readonly version: string;
  /** A sentence about a defect of this version for operators. */
  readonly warning: string | undefined;
};

/** Resolves to `undefined` for a log without a server. @throws {EventLogUnavailable} */
export async function askLogServer(
  config: EventLogConfig,
  signal?: AbortSignal,
): Promise<LogServer | undefined> {
  if (config.kind === 'sqlite') return undefined;
  const { EventStoreDbEventLog } = await import('../../event-log/eventstoredb/eventstoredb-event-log.ts');
  const { versionWarning } = await import('../../event-log/eventstoredb/server-version.ts');
  await using log = await EventStoreDbEventLog.open(config);
  const version = await log.serverVersion(signal);
  return { version, warning: versionWarning(version) };
}

export type DeliveryGroups = {
  /** All groups that a node with reactors receives. */
  readonly receivers: readonly string[];
  /** Groups that older releases created on a server. */
  readonly retiredGroups: readonly string[];
};

/**
 * Opens the deliveries for the reactors: for an embedded log in this process, with positions stored in
 * `folder`; otherwise shared by all nodes of the log.
 */
export async function openDeliveries(
  config: EventLogConfig,
  log: EventLog,
  folder: string,
  groups: DeliveryGroups & Pick<RetiredGroupsOptions, 'onDeleted' | 'onDenied'>,
): Promise<ConsumerGroups & Partial<AsyncDisposable>> {
  if (config.kind === 'sqlite') {
    const { CatchUpDeliveries } = await import('../../event-log/consumer-groups/catch-up-deliveries.ts');
    return new CatchUpDeliveries(log, folder);
  }
  const { EventStoreDbDeliveries } = await import(
    '../../event-log/eventstoredb/consumer-groups/eventstoredb-deliveries.ts'
  );
  return new EventStoreDbDeliveries(log, { ...config, ...groups });
}

/** Resolves to `undefined` for a log without a server, which has no groups. */
export async function openGroups(
  config: EventLogConfig,
  retiredGroups: readonly string[],
): Promise<GroupAdministration | undefined> {
  if (config.kind === 'sqlite') return undefined;
  const { EventStoreDbGroups } = await import(
    '../../event-log/eventstoredb/consumer-groups/eventstoredb-groups.ts'
  );
  return new EventStoreDbGroups({ ...config, retiredGroups });
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
