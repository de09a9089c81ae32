import path from 'node:path';
import type { Config, EventLogConfig } from '../../config/config.ts';
import type { Deliveries } from '../../event-log/consumer-groups/deliveries.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import { RECEIVERS } from '../../reactors/reactor-names.ts';
import { assertAccessible } from '../../tools/files/access.ts';
import { assertOwned, databaseFiles, makePrivate } from '../../tools/files/private-files.ts';
import { type Logger, silentLogger } from '../../tools/logger.ts';
import { assertExists } from './backend-not-found.ts';

export type LogOptions = {
  /** No event can be appended. */
  readonly readOnly?: boolean;
  /** The log must exist: a missing embedded one is not created. */
  readonly mustExist?: boolean;
};

/**
 * Opens the configured engine of the event log; modules of other engines are not loaded.
 * @throws {BackendNotFound}
 * @throws {NotPermitted}
 */
export async function openLog(
  { eventLog }: Pick<Config, 'eventLog'>,
  { readOnly = false, mustExist = false }: LogOptions = {},
): Promise<EventLog> {
  if (eventLog.kind === 'sqlite') {
    const { file } = eventLog;
    if (mustExist) assertExists('event log', file);
    if (!readOnly) {
      assertAccessible(file);
      assertOwned(...databaseFiles(file));
    }
    const { SqliteEventLog } = await import('../../event-log/sqlite/sqlite-event-log.ts');
    await using opened = new AsyncDisposableStack();
    const log = opened.use(await SqliteEventLog.open({ file, readOnly }));
    if (!readOnly) makePrivate(...databaseFiles(file)); // only what proved to be a log
    opened.move();
    return log;
  }
  const { EventStoreDbEventLog } = await import('../../event-log/eventstoredb/eventstoredb-event-log.ts');
  return EventStoreDbEventLog.open(eventLog);
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

type DeliveriesOptions = {
  /** Every receiver that will receive in this process; on a server, none gets an event before all of them receive. */
  readonly receivers: readonly string[];
  /** Only their state is read. */
  readonly readOnly?: boolean;
  readonly logger?: Logger;
};

/**
 * Opens the deliveries for the reactors: for an embedded log in this process, with positions stored in the data folder;
 * otherwise shared by all nodes of the log.
 * @throws {NotPermitted}
 */
export async function openDeliveries(
  { eventLog, dataDir }: Pick<Config, 'eventLog' | 'dataDir'>,
  log: EventLog,
  { receivers, readOnly = false, logger = silentLogger }: DeliveriesOptions,
): Promise<Deliveries & Partial<AsyncDisposable>> {
  if (eventLog.kind === 'sqlite') {
    const folder = path.join(dataDir, 'checkpoints');
    if (!readOnly) assertAccessible(folder); // without it all events would be delivered again at every start
    const { CatchUpDeliveries } = await import('../../event-log/consumer-groups/catch-up-deliveries.ts');
    return new CatchUpDeliveries(log, folder);
  }
  const { EventStoreDbDeliveries } = await import(
    '../../event-log/eventstoredb/consumer-groups/eventstoredb-deliveries.ts'
  );
  return new EventStoreDbDeliveries(log, {
    ...eventLog,
    receivers,
    retiredGroups: RECEIVERS, // in older releases each receiver was a separate group on a server
    onDeleted: (group) => logger.info({ group }, 'group of an older release deleted'),
    onOtherSettings: (group, differences) =>
      logger.warn({ group, differences }, 'the group of the reactors has other settings'),
    onFault: (reason) => logger.warn({ reason }, 'no events reach the reactors'),
    onDenied: (group) => logger.warn({ group }, 'group of an older release cannot be deleted by this user'),
  });
}

/** Opens the groups of the reactors. Resolves to `undefined` for a log without a server, which has no groups. */
export async function openGroups(config: EventLogConfig) {
  if (config.kind === 'sqlite') return undefined;
  const { EventStoreDbGroups } = await import(
    '../../event-log/eventstoredb/consumer-groups/eventstoredb-groups.ts'
  );
  return new EventStoreDbGroups({ ...config, retiredGroups: RECEIVERS });
}
