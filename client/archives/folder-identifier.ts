import { closeSync, readSync } from 'node:fs';
import { contentId, contentIdOf } from '../../src/swhid/content.ts';
import { type Directory, directoryId, type Leaf } from '../../src/swhid/directory.ts';
import { changedFault, openMember } from './file-on-disk.ts';
import { type FolderMember, unreadable } from './folder-members.ts';

/**
 * Returns the directory identifier, 40 hex digits, of the members of a folder, in the order that `folderMembers` gives.
 * @throws {Fault} a file cannot be read, or has changed since.
 */
export function folderIdentifier(folder: string, members: readonly FolderMember[]): string {
  const root: Directory = new Map();
  const directories = new Map<string, Directory>([['', root]]);
  for (const member of members) {
    const cut = member.path.lastIndexOf('/');
    // a directory comes before its members
    const parent = directories.get(member.path.slice(0, Math.max(0, cut))) as Directory;
    const entry = member.kind === 'directory' ? new Map() : leafOf(folder, member);
    if (entry instanceof Map) directories.set(member.path, entry);
    parent.set(member.path.slice(cut + 1), entry);
  }
  return directoryId(root);
}

function leafOf(folder: string, member: FolderMember & { kind: 'file' | 'link' }): Leaf {
  if (member.kind === 'link') return { mode: '120000', id: contentId(Buffer.from(member.target, 'latin1')) };
  return { mode: member.executable ? '100755' : '100644', id: idOf(folder, member) };
}

/** Returns the id of a file, read up to the size it had in the list of members; a file of another size has changed. */
function idOf(folder: string, { path, size }: FolderMember & { kind: 'file' }): string {
  const file = openMember(folder, path);
  try {
    const id = contentIdOf(size, (room) => readInto(room, file));
    if (id !== undefined) return id;
  } catch (error) {
    throw unreadable(folder, path, error);
  } finally {
    closeSync(file);
  }
  throw changedFault(folder, path);
}

/** Fills the buffer, unless the file ends: some file systems return fewer bytes than requested before the end. */
function readInto(room: Buffer, file: number): number {
  let at = readSync(file, room, 0, room.length, null);
  while (at < room.length) {
    const count = readSync(file, room, at, room.length - at, null);
    if (count === 0) break;
    at += count;
  }
  return at;
}
