import type { ArchiveStoreConfig } from '../../config/config.ts';
import { auditFolder } from '../../object-store/audit-folder.ts';
import type { StoreAudit } from '../../object-store/store-audit.ts';
import { openObjectStore } from './open-object-store.ts';

/** Opens the configured store for an audit; an S3 service checks its own files. */
export async function openStoreAudit(config: ArchiveStoreConfig, dataDir: string): Promise<StoreAudit> {
  if (config.kind === 'file') {
    const { FilesystemStoreAudit } = await import('../../object-store/filesystem/filesystem-store-audit.ts');
    return new FilesystemStoreAudit(config.folder);
  }
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await auditFolder(dataDir));
  const store = opening.use(await openObjectStore(config, folder.path, { mustExist: true }));
  const opened = opening.move();
  return {
    get: (sha256) => store.get(sha256),
    stat: (sha256) => store.stat(sha256),
    materialize: (sha256) => store.materialize(sha256),
    list: () => store.list(),
    structure: () => Promise.resolve([]),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
