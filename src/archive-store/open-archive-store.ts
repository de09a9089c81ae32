import path from 'node:path';
import type { ArchiveStoreConfig } from '../config.ts';
import { clock } from '../tools/clock.ts';
import type { ArchiveStore } from './archive-store.ts';
import type { FilesystemStoreOptions } from './filesystem/filesystem-archive-store.ts';
import { IncomingFolder } from './incoming-folder.ts';
import type { MinioArchiveStoreOptions } from './minio/minio-archive-store.ts';

export type OpeningOptions = Pick<MinioArchiveStoreOptions, 'mustExist'> &
  Pick<FilesystemStoreOptions, 'onLost'>;

/** Opens the configured engine; one that is not in use is not even loaded. Parts on their way lie below `dataDir`. */
export async function openArchiveStore(
  config: ArchiveStoreConfig,
  dataDir: string,
  { onLost, ...options }: OpeningOptions = {},
): Promise<ArchiveStore> {
  if (config.kind === 'file') {
    const { FilesystemArchiveStore } = await import('./filesystem/filesystem-archive-store.ts');
    return FilesystemArchiveStore.open({ folder: config.folder, onLost });
  }
  const { MinioArchiveStore } = await import('./minio/minio-archive-store.ts');
  return MinioArchiveStore.open({ ...config, temporaryFolder: temporaryFolder(dataDir), ...options });
}

/**
 * Removes what killed processes have left of archives that they were checking or sending to an S3 store, of files that
 * were not written to for `age` milliseconds; resolves to how many. Call it only where the lock of the data folder is held.
 */
export async function sweepTemporary(dataDir: string, age: number): Promise<number> {
  const folder = await IncomingFolder.open(temporaryFolder(dataDir));
  return await folder.sweep(new Date(clock.now() - age), {});
}

function temporaryFolder(dataDir: string): string {
  return path.join(dataDir, 'incoming');
}
