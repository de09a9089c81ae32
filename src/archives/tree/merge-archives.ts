import { type Directory, directoryId, directoryMode } from '../../swhid/directory.ts';
import type { ArchiveListing, Merged } from '../archive-reader.ts';
import { Faults, Unreadable } from '../faults.ts';
import { TOTAL_PATH_BYTES } from '../member-collector.ts';
import { sanitizeName } from '../members/sanitize-name.ts';
import { decodeListing, encodeTree } from './deposit-tree.ts';
import type { ListedLeaf, TreeEntry } from './tree-entry.ts';

/** Maximum number of members of all archives of a deposit: about as many as the heap of a worker can hold. */
const TOTAL_MEMBERS = 1_000_000;
/** Maximum number of folders, including implied ones; each needs more memory than a file. */
const TOTAL_FOLDERS = 250_000;

type PlacedLeaf = ListedLeaf & { readonly archive: string };

/** Merges the archives in upload order; a later leaf replaces an earlier one of the same path. */
export function mergeListings(listings: readonly ArchiveListing[]): Merged {
  const faults = new Faults();
  const layout = new Layout();
  try {
    const conflicts = [...placeAll(layout, listings).values()];
    const folders = firstWith(conflicts, listings);
    for (const conflict of conflicts) faults.add('PATH_CONFLICT', conflictText(conflict, folders, listings));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    faults.add(error.code, error.message);
  }
  if (!faults.none) return { outcome: 'refused', faults: faults.toArray() };
  return { outcome: 'accepted', ...describe(layout.root, listings) };
}

/** The first conflict of a path; `later` is the number of the listing that conflicts with an earlier one. */
type Conflict = { readonly path: string; readonly leaf: PlacedLeaf; readonly later: number };

function placeAll(layout: Layout, listings: readonly ArchiveListing[]): ReadonlyMap<string, Conflict> {
  const conflicts = new Map<string, Conflict>();
  let [members, pathBytes] = [0, 0];
  for (const [later, { sha256, listing }] of listings.entries()) {
    for (const { path, leaf } of decodeListing(listing)) {
      members += 1;
      if (members > TOTAL_MEMBERS) throw tooMany('members', TOTAL_MEMBERS);
      pathBytes += path.length;
      if (pathBytes > TOTAL_PATH_BYTES) throw tooManyPathBytes();
      const found = layout.place(path, leaf && { ...leaf, archive: sha256 });
      if (found && conflicts.size < MOST_CONFLICTS && !conflicts.has(found.path))
        conflicts.set(found.path, { ...found, later });
    }
  }
  return conflicts;
}

const MOST_CONFLICTS = 20;

/** The tree of the listings merged so far. */
class Layout {
  readonly root: Directory<PlacedLeaf> = new Map();
  #folders = 0;

  /**
   * Adds a member to the tree. If a file or link conflicts with a directory, or the reverse, returns that leaf and adds
   * no leaf.
   */
  place(path: string, leaf: PlacedLeaf | null): { path: string; leaf: PlacedLeaf } | undefined {
    const names = path.split('/');
    const last = leaf === null ? undefined : names.pop()!;
    let directory = this.root;
    for (const [index, name] of names.entries()) {
      const next = directory.get(name) ?? this.#add(directory, name);
      if (!(next instanceof Map)) return { path: names.slice(0, index + 1).join('/'), leaf: next };
      directory = next;
    }
    if (leaf === null || last === undefined) return undefined;
    if (directory.get(last) instanceof Map) return { path, leaf };
    directory.set(last, leaf);
    return undefined;
  }

  #add(directory: Directory<PlacedLeaf>, name: string): Directory<PlacedLeaf> {
    this.#folders += 1;
    if (this.#folders > TOTAL_FOLDERS) throw tooMany('folders', TOTAL_FOLDERS);
    const made: Directory<PlacedLeaf> = new Map();
    directory.set(name, made);
    return made;
  }
}

/** Describes a conflict in the order of the archives: which has the file, and which the directory. */
function conflictText(
  { path, leaf, later }: Conflict,
  folders: ReadonlyMap<string, number>,
  listings: readonly ArchiveListing[],
): string {
  const isLater = leaf.archive === listings[later]!.sha256;
  const ofLeaf = listings.findIndex(({ sha256 }) => sha256 === leaf.archive);
  const ofFolder = isLater ? folders.get(path)! : later;
  const kind = leaf.mode === '120000' ? 'link' : 'file';
  const [asLeaf, asFolder] = [
    `a ${kind} in ${nameOf(listings[ofLeaf]!)}`,
    `a directory in ${nameOf(listings[ofFolder]!)}`,
  ];
  const [first, second] = isLater ? [asFolder, asLeaf] : [asLeaf, asFolder];
  return `The path “${sanitizeName(path)}” is ${first} and ${second} (conflict).`;
}

/**
 * Returns the number of the first listing that has the folder of each conflict. Searches for all at once, since decoding a listing is
 * slow.
 */
function firstWith(
  conflicts: readonly Conflict[],
  listings: readonly ArchiveListing[],
): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  const missing = new Set(conflicts.map(({ path }) => path));
  for (const [number, { listing }] of listings.entries()) {
    if (missing.size === 0) break;
    for (const { path, leaf } of decodeListing(listing)) {
      for (const folder of missing) {
        const next = path[folder.length];
        const isThere = next === '/' || (next === undefined && leaf === null);
        if (!isThere || !path.startsWith(folder)) continue;
        first.set(folder, number);
        missing.delete(folder);
      }
    }
  }
  return first;
}

function nameOf({ name, sha256 }: ArchiveListing): string {
  return name ?? sha256;
}

function describe(root: Directory<PlacedLeaf>, listings: readonly ArchiveListing[]) {
  const ids = new Map<Directory, string>();
  const directory = directoryId(root, ids);
  const { files, bytes } = totalsOf(root);
  const archives = listings.map(({ sha256 }) => sha256);
  const manifest = encodeTree({ directory, files, bytes, archives }, entriesBelow(root, '', ids));
  return { directory, files, bytes, manifest };
}

function totalsOf(directory: Directory<PlacedLeaf>): { files: number; bytes: number } {
  let [files, bytes] = [0, 0];
  for (const entry of directory.values()) {
    if (!(entry instanceof Map)) {
      files += 1;
      if (entry.mode !== '120000') bytes += entry.length;
    } else {
      const inside = totalsOf(entry);
      files += inside.files;
      bytes += inside.bytes;
    }
  }
  return { files, bytes };
}

/**
 * Yields entries in the byte order of their paths: a name with `-` or `.` sorts between a directory and its contents.
 */
function* entriesBelow(
  directory: Directory<PlacedLeaf>,
  prefix: string,
  ids: Map<Directory, string>,
): Generator<TreeEntry> {
  for (const key of keysOf(directory).sort()) {
    const name = key.endsWith('/') ? key.slice(0, -1) : key;
    const entry = directory.get(name)!;
    const path = prefix + key;
    if (!(entry instanceof Map)) yield { path, ...entry };
    else if (key === name) yield { path, mode: directoryMode, id: ids.get(entry)! };
    else yield* entriesBelow(entry, path, ids);
  }
}

/** Returns the names, and for each directory a second key with a slash, which sorts its contents. */
function keysOf(directory: Directory<PlacedLeaf>): string[] {
  const keys: string[] = [];
  for (const [name, entry] of directory) {
    keys.push(name);
    if (entry instanceof Map) keys.push(`${name}/`);
  }
  return keys;
}

function tooMany(what: string, limit: number): Unreadable {
  return new Unreadable(
    'TOO_MANY_ENTRIES',
    `The deposit's archives have too many ${what}: more than ${limit} together (the limit).`,
  );
}

function tooManyPathBytes(): Unreadable {
  return new Unreadable(
    'PATHS_TOO_LARGE',
    `The paths of the deposit's archives are too large: more than ${TOTAL_PATH_BYTES} bytes together (the limit).`,
  );
}
