import type { ArchiveStoreConfig, Config, EventLogConfig } from '../../config/config.ts';
import type { S3Place } from '../../config/s3-url.ts';
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
  return store.kind === 'file' ? `file:${realPath(store.folder)}` : s3Place(store);
}

/** Returns the place of a log, for comparison and display. */
export function logIdentity(eventLog: EventLogConfig): string {
  if (eventLog.kind === 'sqlite') return 'sqlite';
  // The credentials end at the first @, and may have a slash. A refused string has another before its hosts.
  const [, hosts] = /^[^/]*\/\/(?:[^:@]+:[^@]+@)?(?:[^?]*@)?([^/?]*)/.exec(eventLog.connectionString) ?? [];
  return `eventstoredb ${hosts}`;
}

function s3Place({ endpoint: { host, port }, bucket, prefix }: S3Place): string {
  return `s3://${host}:${port}/${bucket}/${prefix}`;
}
