import path from 'node:path';
import type { ArchiveStore } from './archive-store/archive-store.ts';
import { type OpeningOptions, openArchiveStore } from './archive-store/open-archive-store.ts';
import type { S3Place } from './archive-store/s3-url.ts';
import type { Config } from './config.ts';
import type { Deliveries } from './event-log/deliveries.ts';
import type { EventLog } from './event-log/event-log.ts';
import type { GroupAdministration } from './event-log/group-administration.ts';
import {
  askLogServer,
  type LogServer,
  openDeliveries,
  openEventLog,
  openGroups,
} from './event-log/open-event-log.ts';
import { type Logger, silentLogger } from './logger.ts';
import { assertThere } from './missing-engine.ts';
import { assertNotBarred } from './permission.ts';
import { RECEIVERS } from './reactors/reactor-names.ts';
import { files } from './tools/files.ts';
import { originOf } from './views-place.ts';

export { openView, viewsPlace } from './views-place.ts';

/** The event log alone; an embedded one that is not there is made. @throws {NotPermitted} */
export async function openLog(
  { eventLog }: Pick<Config, 'eventLog'>,
  options: { readonly readOnly?: boolean } = {},
): Promise<EventLog> {
  if (eventLog.kind === 'sqlite' && !options.readOnly) assertNotBarred(eventLog.file);
  return await openEventLog(eventLog, options);
}

/** The archive store alone; an embedded one that is not there is made. @throws {NotPermitted} */
export async function openStore(
  { archiveStore, dataDir }: Pick<Config, 'archiveStore' | 'dataDir'>,
  options: OpeningOptions = {},
): Promise<ArchiveStore> {
  assertStoreNotBarred(archiveStore);
  return await openArchiveStore(archiveStore, dataDir, options);
}

function assertStoreNotBarred(archiveStore: Config['archiveStore']): void {
  if (archiveStore.kind !== 'file') return;
  assertNotBarred(archiveStore.folder, path.join(archiveStore.folder, 'small.sqlite'));
}

/** For whoever works on a log that somebody else has made. @throws {EngineMissing} */
export async function openExistingLog(
  config: Pick<Config, 'eventLog'>,
  options: { readonly readOnly?: boolean } = {},
): Promise<EventLog> {
  const { eventLog } = config;
  if (eventLog.kind === 'sqlite') assertThere('event log', eventLog.file);
  return await openLog(config, options);
}

/**
 * For whoever works on a store that somebody else has made.
 * @throws {EngineMissing}
 * @throws {ArchiveStoreUnavailable} as where a bucket is missing
 */
export async function openExistingStore(
  config: Pick<Config, 'archiveStore' | 'dataDir'>,
  options: OpeningOptions = {},
): Promise<ArchiveStore> {
  const { archiveStore } = config;
  if (archiveStore.kind === 'file') assertThere('archive store', archiveStore.folder);
  return await openStore(config, { ...options, mustExist: true });
}

/** What feeds the reactors of this configuration. @throws {NotPermitted} */
export async function openDeliveriesOf(
  config: Config,
  log: EventLog,
  logger: Logger = silentLogger,
): Promise<Deliveries & Partial<AsyncDisposable>> {
  const folder = path.join(config.dataDir, 'checkpoints');
  if (config.eventLog.kind === 'sqlite') assertNotBarred(folder); // all that is done would come again at every start
  return await openDeliveries(config.eventLog, log, folder, {
    receivers: RECEIVERS,
    retiredGroups: RECEIVERS, // until this release each of them was a group of its own on a server
    onDeleted: (group) => logger.info({ group }, 'group of an older release deleted'),
    onDenied: (group) => logger.warn({ group }, 'group of an older release cannot be deleted by this user'),
  });
}

/** Resolves to `undefined` for a log without a server, which has no groups. */
export function openGroupsOf({
  eventLog,
}: Pick<Config, 'eventLog'>): Promise<GroupAdministration | undefined> {
  return openGroups(eventLog, RECEIVERS);
}

/** Resolves to the server that keeps the log, if one does. @throws {EventLogUnavailable} */
export function logServerOf(
  { eventLog }: Pick<Config, 'eventLog'>,
  signal?: AbortSignal,
): Promise<LogServer | undefined> {
  return askLogServer(eventLog, signal);
}

/** Where the engines are, to be compared and shown: without passwords, folders by their real names. */
export type EnginePlaces = { readonly eventLog: string; readonly archiveStore: string };

export function enginePlaces({
  eventLog,
  archiveStore,
}: Pick<Config, 'eventLog' | 'archiveStore'>): EnginePlaces {
  return {
    eventLog: eventLog.kind === 'sqlite' ? `sqlite:${realPath(eventLog.file)}` : originOf(eventLog),
    archiveStore:
      archiveStore.kind === 'file' ? `file:${realPath(archiveStore.folder)}` : s3Place(archiveStore),
  };
}

function realPath(place: string): string {
  return files.existsSync(place) ? files.realpathSync(place) : place;
}

function s3Place({ endpoint: { host, port }, bucket, prefix }: S3Place): string {
  return `s3://${host}:${port}/${bucket}/${prefix}`;
}
