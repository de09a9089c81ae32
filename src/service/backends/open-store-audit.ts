import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ArchiveStoreConfig } from '../../config/config.ts';
import type { StoreAudit } from '../../object-store/object-store.ts';
import { files } from '../../tools/files.ts';
import { openObjectStore } from './open-object-store.ts';

/** Opens the configured store for an audit; an S3 service checks its own files. */
export async function openStoreAudit(config: ArchiveStoreConfig, dataDir: string): Promise<StoreAudit> {
  if (config.kind === 'file') {
    const { FilesystemStoreAudit } = await import('../../object-store/filesystem/filesystem-store-audit.ts');
    return new FilesystemStoreAudit(config.folder);
  }
  await using opening = new AsyncDisposableStack();
  const isWritable = await files.access(dataDir, files.constants.W_OK).then(
    () => true,
    () => false,
  );
  const folder = isWritable ? dataDir : await files.mkdtemp(path.join(tmpdir(), 'deposit-audit-'));
  if (!isWritable) opening.defer(() => files.rm(folder, { recursive: true, force: true }));
  const store = opening.use(await openObjectStore(config, folder, { mustExist: true }));
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
