import path from 'node:path';
import type { Config } from '../../config/config.ts';
import type { S3Place } from '../../config/s3-url.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { assertAccessible } from '../../tools/files/access.ts';
import { databaseFiles, makePrivate } from '../../tools/files/private-files.ts';
import { files } from '../../tools/files.ts';
import { assertExists } from './backend-not-found.ts';
import { openEventLog } from './open-event-log.ts';
import { type OpeningOptions, openObjectStore } from './open-object-store.ts';
import { logIdentity } from './view-directory.ts';

export { openView, type StoredView, viewDirectory } from './view-directory.ts';

/** Opens only the event log; creates a missing embedded one. @throws {NotPermitted} */
export async function openLog(
  { eventLog }: Pick<Config, 'eventLog'>,
  options: { readonly readOnly?: boolean } = {},
): Promise<EventLog> {
  if (eventLog.kind === 'sqlite' && !options.readOnly) {
    assertAccessible(eventLog.file);
    makePrivate(...databaseFiles(eventLog.file));
  }
  return await openEventLog(eventLog, options);
}

/** Opens only the archive store; creates a missing embedded one. @throws {NotPermitted} */
export async function openStore(
  { archiveStore, dataDir }: Pick<Config, 'archiveStore' | 'dataDir'>,
  options: OpeningOptions = {},
): Promise<ObjectStore> {
  assertStoreAccessible(archiveStore);
  return await openObjectStore(archiveStore, dataDir, options);
}

function assertStoreAccessible(archiveStore: Config['archiveStore']): void {
  if (archiveStore.kind !== 'file') return;
  const { folder } = archiveStore;
  const database = path.join(folder, 'small.sqlite');
  assertAccessible(folder, database);
  makePrivate(folder, ...databaseFiles(database));
}

/** Opens a log that must exist. @throws {BackendNotFound} */
export async function openExistingLog(
  config: Pick<Config, 'eventLog'>,
  options: { readonly readOnly?: boolean } = {},
): Promise<EventLog> {
  const { eventLog } = config;
  if (eventLog.kind === 'sqlite') assertExists('event log', eventLog.file);
  return await openLog(config, options);
}

/**
 * Opens a store that must exist.
 * @throws {BackendNotFound}
 * @throws {ObjectStoreUnavailable} for example if the bucket is missing
 */
export async function openExistingStore(
  config: Pick<Config, 'archiveStore' | 'dataDir'>,
  options: OpeningOptions = {},
): Promise<ObjectStore> {
  const { archiveStore } = config;
  if (archiveStore.kind === 'file') assertExists('archive store', archiveStore.folder);
  return await openStore(config, { ...options, mustExist: true });
}

export type EnginePlaces = Readonly<ReturnType<typeof enginePlaces>>;

/**
 * Returns the locations of the log and the store, for comparison and display: without passwords, folders by their real
 * paths.
 */
export function enginePlaces({ eventLog, archiveStore }: Pick<Config, 'eventLog' | 'archiveStore'>) {
  return {
    eventLog: eventLog.kind === 'sqlite' ? `sqlite:${realPath(eventLog.file)}` : logIdentity(eventLog),
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
