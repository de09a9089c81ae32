import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ArchiveStoreConfig } from '../../config/config.ts';
import type { FilesystemStoreOptions } from '../../object-store/filesystem/filesystem-object-store.ts';
import type { ObjectStore, StoreAudit } from '../../object-store/object-store.ts';
import type { MinioArchiveStoreOptions } from '../../object-store/s3/s3-object-store.ts';
import { files } from '../../tools/files.ts';

export type OpeningOptions = Pick<MinioArchiveStoreOptions, 'mustExist' | 'recentBytes'> &
  Pick<FilesystemStoreOptions, 'onLost'>;

/**
 * Opens the configured engine; modules of other engines are not loaded. Parts of uploads in progress are stored below
 * `dataDir`.
 */
export async function openObjectStore(
  config: ArchiveStoreConfig,
  dataDir: string,
  { onLost, ...options }: OpeningOptions = {},
): Promise<ObjectStore> {
  if (config.kind === 'file') {
    const { FilesystemObjectStore } = await import(
      '../../object-store/filesystem/filesystem-object-store.ts'
    );
    return FilesystemObjectStore.open({ folder: config.folder, onLost });
  }
  const { S3ObjectStore } = await import('../../object-store/s3/s3-object-store.ts');
  return S3ObjectStore.open({ ...config, temporaryFolder: path.join(dataDir, 'incoming'), ...options });
}

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
    get: (sha256, from) => store.get(sha256, from),
    stat: (sha256) => store.stat(sha256),
    materialize: (sha256) => store.materialize(sha256),
    list: () => store.list(),
    structure: () => Promise.resolve([]),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
