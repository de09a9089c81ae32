import type { EventLogConfig } from '../config.ts';
import type { Deliveries } from './deliveries.ts';
import type { EventLog } from './event-log.ts';
import type { RetiredGroupsOptions } from './eventstoredb/retired-groups.ts';
import type { GroupAdministration } from './group-administration.ts';

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

/** A server that keeps the log. */
export type LogServer = {
  readonly version: string;
  /** A sentence about a defect of this version that operators should know. */
  readonly warning: string | undefined;
};

/** Resolves to `undefined` for a log without a server. @throws {EventLogUnavailable} */
export async function askLogServer(
  config: EventLogConfig,
  signal?: AbortSignal,
): Promise<LogServer | undefined> {
  if (config.kind === 'sqlite') return undefined;
  const { EventStoreDbEventLog } = await import('./eventstoredb/eventstoredb-event-log.ts');
  const { versionWarning } = await import('./eventstoredb/server-version.ts');
  await using log = await EventStoreDbEventLog.open(config);
  const version = await log.serverVersion(signal);
  return { version, warning: versionWarning(version) };
}

export type DeliveryGroups = {
  /** All groups that a node with reactors receives. */
  readonly receivers: readonly string[];
  /** Groups that older releases made on a server. */
  readonly retiredGroups: readonly string[];
};

/** Opens what feeds the reactors: in one process from checkpoints in `folder`, else shared by all nodes of the log. */
export async function openDeliveries(
  config: EventLogConfig,
  log: EventLog,
  folder: string,
  groups: DeliveryGroups & Pick<RetiredGroupsOptions, 'onDeleted' | 'onDenied'>,
): Promise<Deliveries & Partial<AsyncDisposable>> {
  if (config.kind === 'sqlite') {
    const { CatchUpDeliveries } = await import('./catch-up-deliveries.ts');
    return new CatchUpDeliveries(log, folder);
  }
  const { EventStoreDbDeliveries } = await import('./eventstoredb/eventstoredb-deliveries.ts');
  return new EventStoreDbDeliveries(log, { ...config, ...groups });
}

/** Resolves to `undefined` for a log without a server, which has no groups. */
export async function openGroups(
  config: EventLogConfig,
  retiredGroups: readonly string[],
): Promise<GroupAdministration | undefined> {
  if (config.kind === 'sqlite') return undefined;
  const { EventStoreDbGroups } = await import('./eventstoredb/eventstoredb-groups.ts');
  return new EventStoreDbGroups({ ...config, retiredGroups });
}
