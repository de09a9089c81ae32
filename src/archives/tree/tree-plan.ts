import { hash } from 'node:crypto';
import type { LocalSource } from '../../object-store/object-store.ts';
import { ObjectCorrupt } from '../../object-store/object-store.ts';
import { directoryMode } from '../../swhid/directory.ts';
import { ArchiveBytes } from '../archive-bytes.ts';
import type { WantedMember, WantedMembers } from '../members/member-output.ts';
import { tarHeader } from '../tar/tar-writer.ts';
import type { MemberOrder } from '../workers/archive-job.ts';
import type { ChunkSender } from '../workers/chunk-sender.ts';
import { decodeTree } from './deposit-tree.ts';

export type TreePlan = {
  readonly wanted: WantedMembers;
  /** Paths of the directory itself and of those in it, in the order of their bytes. */
  readonly directories: readonly string[];
  /** Length of the common prefix of all paths in the directory. */
  readonly below: number;
};

/**
 * Returns the members of a directory of the manifest's tree that are in one archive. @throws {ObjectCorrupt}
 */
export function readTreePlan(order: Extract<MemberOrder, { kind: 'tree' }>): TreePlan {
  const prefix = order.path === '' ? '' : `${order.path}/`;
  const wanted = new Map<string, WantedMember>();
  const directories = [prefix];
  for (const entry of decodeTree(bytesOf(order.manifest)).entries) {
    const { path } = entry;
    if (!path.startsWith(prefix)) continue;
    if (entry.mode === directoryMode) directories.push(path);
    else if (entry.archive === order.sha256) wanted.set(path, wantedOf(entry));
  }
  return { wanted, directories, below: prefix.length };
}

function wantedOf({ path, mode, id, sha256, length }: WantedMember): WantedMember {
  return { path, mode, id, sha256, length };
}

/** Writes the directories as members of a tar. */
export async function tarDirectories(
  paths: readonly string[],
  below: number,
  sender: ChunkSender,
): Promise<void> {
  for (const path of paths) {
    sender.write(tarHeader({ type: 'directory', path: path.slice(below) }));
    await sender.drained();
  }
}

function bytesOf({ source, sha256 }: { readonly source: LocalSource; readonly sha256: string }): Uint8Array {
  using file = ArchiveBytes.open(source);
  const bytes = Buffer.alloc(file.length);
  file.read(bytes, 0);
  const found = hash('sha256', bytes);
  if (found !== sha256) throw new ObjectCorrupt(sha256, `their SHA-256 is ${found}`);
  return bytes;
}
