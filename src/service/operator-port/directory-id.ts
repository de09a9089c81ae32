import { errorsOfCode } from '../../tools/coded-error.ts';
import { files } from '../../tools/files.ts';

/** Identity of a folder, independent of paths and mounts; a copy has another identity. */
export type DirectoryId = { readonly device: string; readonly inode: string };

/** The data folder of a running service has lost its path. */
class DataFolderMoved extends errorsOfCode('DATA_FOLDER_MOVED') {}

/** @throws {DataFolderMoved} */
export function identityOf(folder: string): DirectoryId {
  const found = files.statSync(folder, { bigint: true, throwIfNoEntry: false });
  if (found) return { device: String(found.dev), inode: String(found.ino) };
  throw new DataFolderMoved(
    `The data folder ${folder} was moved or deleted while it was in use. Bring it back, or stop the service before you move it.`,
  );
}
