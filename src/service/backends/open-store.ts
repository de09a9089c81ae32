import path from 'node:path';
import type { Config } from '../../config/config.ts';
import type { FilesystemStoreOptions } from '../../object-store/filesystem/filesystem-object-store.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import type { MinioArchiveStoreOptions } from '../../object-store/s3/s3-object-store.ts';
import { assertAccessible } from '../../tools/files/access.ts';
import { assertOwned, databaseFiles, makePrivate } from '../../tools/files/private-files.ts';
import { assertExists } from './backend-not-found.ts';
import { assertOwnFolder } from './own-folder.ts';

export type StoreOptions = Pick<MinioArchiveStoreOptions, 'recentBytes'> &
  Pick<FilesystemStoreOptions, 'onLost'> & {
    /** The store must exist: a missing folder or bucket is not created. */
    readonly mustExist?: boolean;
  };

/**
 * Opens the configured engine of the object store; modules of other engines are not loaded. Parts of uploads in progress
 * are stored below `dataDir`.
 * @throws {BackendNotFound}
 * @throws {FolderNotOwn}
 * @throws {NotPermitted}
 * @throws {ObjectStoreUnavailable} for example if the bucket must exist and is missing
 */
export async function openStore(
  { archiveStore, dataDir }: Pick<Config, 'archiveStore' | 'dataDir'>,
  { mustExist = false, onLost, recentBytes }: StoreOptions = {},
): Promise<ObjectStore> {
  if (archiveStore.kind === 'file') {
    const { folder } = archiveStore;
    if (mustExist) assertExists('archive store', folder);
    const database = path.join(folder, 'small.sqlite');
    assertAccessible(folder, database);
    assertOwned(folder, ...databaseFiles(database));
    assertOwnFolder('archive store', folder);
    const { FilesystemObjectStore } = await import(
      '../../object-store/filesystem/filesystem-object-store.ts'
    );
    await using opened = new AsyncDisposableStack();
    const store = opened.use(await FilesystemObjectStore.open({ folder, onLost }));
    makePrivate(folder, ...databaseFiles(database)); // only what proved to be a store
    opened.move();
    return store;
  }
  const { S3ObjectStore } = await import('../../object-store/s3/s3-object-store.ts');
  const temporaryFolder = path.join(dataDir, 'incoming');
  return S3ObjectStore.open({ ...archiveStore, temporaryFolder, mustExist, recentBytes });
}
