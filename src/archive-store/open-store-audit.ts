import type { ArchiveStoreConfig } from '../config.ts';
import { auditFolder } from './audit-folder.ts';
import { openArchiveStore } from './open-archive-store.ts';
import type { StoreAudit } from './store-audit.ts';

/** Opens the configured store to be audited; another service looks after its own files. */
export async function openStoreAudit(config: ArchiveStoreConfig, dataDir: string): Promise<StoreAudit> {
  if (config.kind === 'file') {
    const { FilesystemStoreAudit } = await import('./filesystem/filesystem-store-audit.ts');
    return new FilesystemStoreAudit(config.folder);
  }
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await auditFolder(dataDir));
  const store = opening.use(await openArchiveStore(config, folder.path, { mustExist: true }));
  const opened = opening.move();
  return {
    get: (sha256) => store.get(sha256),
    stat: (sha256) => store.stat(sha256),
    checkOut: (sha256) => store.checkOut(sha256),
    list: () => store.list(),
    structure: () => Promise.resolve([]),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
