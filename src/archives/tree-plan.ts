import { hash } from 'node:crypto';
import type { LocalSource } from '../archive-store/archive-store.ts';
import { ObjectCorrupt } from '../archive-store/archive-store.ts';
import { directoryMode } from '../swhid/directory.ts';
import { ArchiveBytes } from './archive-bytes.ts';
import { decodeManifest } from './manifest.ts';
import type { WantedMember, WantedMembers } from './member-output.ts';
import { tarHeader } from './tar/tar-writer.ts';
import type { MemberOrder } from './threads/member-job.ts';
import type { PieceSender } from './threads/piece-sender.ts';

export type TreePlan = {
  readonly wanted: WantedMembers;
  /** Paths of the directory itself and of those in it, in the order of their bytes. */
  readonly directories: readonly string[];
  /** Length of what all paths in the directory begin with. */
  readonly below: number;
};

/** What a directory of the manifest's tree has of one archive. @throws {ObjectCorrupt} */
export function readTreePlan(order: Extract<MemberOrder, { kind: 'tree' }>): TreePlan {
  const prefix = order.path === '' ? '' : `${order.path}/`;
  const wanted = new Map<string, WantedMember>();
  const directories = [prefix];
  for (const entry of decodeManifest(bytesOf(order.manifest)).entries) {
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

/** Writes them as members of a tar. */
export async function tarDirectories(
  paths: readonly string[],
  below: number,
  sender: PieceSender,
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
