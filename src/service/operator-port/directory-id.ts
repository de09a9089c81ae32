import { files } from '../../tools/files.ts';

/** Identity of a folder, independent of paths and mounts; a copy has another identity. */
export type DirectoryId = { readonly device: string; readonly inode: string };

export function identityOf(folder: string): DirectoryId {
  const { dev, ino } = files.statSync(folder, { bigint: true });
  return { device: String(dev), inode: String(ino) };
}
