import { files } from '../tools/files.ts';

/** Which folder it is, whatever paths and mounts lead to it; a copy is another one. */
export type FolderIdentity = { readonly device: string; readonly inode: string };

export function identityOf(folder: string): FolderIdentity {
  const { dev, ino } = files.statSync(folder, { bigint: true });
  return { device: String(dev), inode: String(ino) };
}
