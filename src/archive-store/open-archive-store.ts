import path from 'node:path';
import type { ArchiveStoreConfig } from '../config.ts';
import type { ArchiveStore } from './archive-store.ts';
import type { MinioArchiveStoreOptions } from './minio-archive-store.ts';

/** Opens the configured engine; one that is not in use is not even loaded. Parts on their way lie below `dataDir`. */
export async function openArchiveStore(
  config: ArchiveStoreConfig,
  dataDir: string,
  options: Pick<MinioArchiveStoreOptions, 'mustExist'> = {},
): Promise<ArchiveStore> {
  if (config.kind === 'file') {
    const { FilesystemArchiveStore } = await import('./filesystem-archive-store.ts');
    return FilesystemArchiveStore.open({ folder: config.folder });
  }
  const { MinioArchiveStore } = await import('./minio-archive-store.ts');
  const temporaryFolder = path.join(dataDir, 'incoming');
  return MinioArchiveStore.open({ ...config, temporaryFolder, ...options });
}
