import type { ArchiveStoreConfig, Config, EventLogConfig } from '../../config/config.ts';
import { realPath } from '../../tools/files/real-path.ts';

export type EnginePlaces = Readonly<ReturnType<typeof enginePlaces>>;

/**
 * Returns the locations of the log and the store, for comparison and display: without passwords, folders by their real
 * paths.
 */
export function enginePlaces({ eventLog, archiveStore }: Pick<Config, 'eventLog' | 'archiveStore'>) {
  return {
    eventLog: eventLog.kind === 'sqlite' ? `sqlite:${realPath(eventLog.file)}` : logIdentity(eventLog),
    archiveStore: storePlace(archiveStore),
  };
}

/** Returns the location of a store, for comparison and display. */
export function storePlace(store: ArchiveStoreConfig): string {
  if (store.kind === 'file') return `file:${realPath(store.folder)}`;
  const { endpoint, bucket, prefix } = store;
  return `s3://${endpoint.host}:${endpoint.port}/${bucket}/${prefix}`;
}

/** Returns the place of a log, for comparison and display. */
export function logIdentity(eventLog: EventLogConfig): string {
  if (eventLog.kind === 'sqlite') return 'sqlite';
  // The credentials end at the first @, and may have a slash. A refused string has another before its hosts.
  const [, hosts] = /^[^/]*\/\/(?:[^:@]+:[^@]+@)?(?:[^?]*@)?([^/?]*)/.exec(eventLog.connectionString) ?? [];
  return `eventstoredb ${hosts}`;
}
