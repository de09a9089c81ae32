import type { ArchiveStoreConfig } from '../config.ts';
import type { ArchiveStore } from './archive-store.ts';

/** Opens the configured engine; one that is not in use is not even loaded. */
export async function openArchiveStore({ folder }: ArchiveStoreConfig): Promise<ArchiveStore> {
  const { FilesystemArchiveStore } = await import('./filesystem-archive-store.ts');
  return FilesystemArchiveStore.open({ folder });
}
