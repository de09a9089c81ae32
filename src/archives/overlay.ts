import { type Directory, directoryId, directoryMode } from '../swhid/directory.ts';
import { totalPathBytes } from './contents.ts';
import { Faults, Unreadable } from './faults.ts';
import type { Overlay } from './inspection.ts';
import { decodeListing, encodeManifest, type ListedLeaf, type ManifestEntry } from './manifest.ts';
import { printableName } from './printable-name.ts';

export type OverlayListing = { readonly sha256: string; readonly listing: Uint8Array };

/** Of all archives of a deposit: about as many as can be laid out in the heap of a worker. */
const TOTAL_MEMBERS = 1_000_000;

type PlacedLeaf = ListedLeaf & { readonly archive: string };

/** Lays the archives over one another in upload order; a later leaf replaces an earlier one of the same path. */
export function overlayListings(listings: readonly OverlayListing[]): Overlay {
  const faults = new Faults();
  const root: Directory<PlacedLeaf> = new Map();
  try {
    placeAll(root, listings, faults);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    faults.add(error.code, error.message);
  }
  if (!faults.none) return { outcome: 'refused', faults: faults.toArray() };
  return {
    outcome: 'accepted',
    ...describe(
      root,
      listings.map(({ sha256 }) => sha256),
    ),
  };
}

function placeAll(root: Directory<PlacedLeaf>, listings: readonly OverlayListing[], faults: Faults): void {
  let [members, pathBytes] = [0, 0];
  for (const { sha256, listing } of listings) {
    for (const { path, leaf } of decodeListing(listing)) {
      members += 1;
      if (members > TOTAL_MEMBERS) throw tooManyMembers();
      pathBytes += path.length;
      if (pathBytes > totalPathBytes) throw tooManyPathBytes();
      if (!place(root, path, leaf && { ...leaf, archive: sha256 })) {
        faults.add(
          'PATH_CONFLICT',
          `The path “${printableName(path)}” is a file in one archive and a directory in another (conflict).`,
        );
      }
    }
  }
}

/** False when a file stands where a directory is needed, or the reverse. */
function place(root: Directory<PlacedLeaf>, path: string, leaf: PlacedLeaf | null): boolean {
  const names = path.split('/');
  const last = leaf === null ? undefined : names.pop()!;
  let directory = root;
  for (const name of names) {
    const next = directory.get(name) ?? new Map();
    if (!(next instanceof Map)) return false;
    directory.set(name, next);
    directory = next;
  }
  if (leaf === null || last === undefined) return true;
  if (directory.get(last) instanceof Map) return false;
  directory.set(last, leaf);
  return true;
}

function describe(root: Directory<PlacedLeaf>, archives: readonly string[]) {
  const ids = new Map<Directory, string>();
  const directory = directoryId(root, ids);
  const { files, bytes } = totalsOf(root);
  const entries = entriesBelow(root, '', ids);
  return {
    directory,
    files,
    bytes,
    manifest: encodeManifest({ directory, files, bytes, archives }, entries),
  };
}

function totalsOf(directory: Directory<PlacedLeaf>): { files: number; bytes: number } {
  let [files, bytes] = [0, 0];
  for (const entry of directory.values()) {
    const more = entry instanceof Map ? totalsOf(entry) : leafTotals(entry);
    files += more.files;
    bytes += more.bytes;
  }
  return { files, bytes };
}

function leafTotals({ mode, length }: PlacedLeaf): { files: number; bytes: number } {
  return { files: 1, bytes: mode === '120000' ? 0 : length };
}

/** In the order of the bytes of their paths: what has a name with `-` or `.` comes between a directory and what is in it. */
function* entriesBelow(
  directory: Directory<PlacedLeaf>,
  prefix: string,
  ids: Map<Directory, string>,
): Generator<ManifestEntry> {
  for (const key of keysOf(directory).sort()) {
    const name = key.endsWith('/') ? key.slice(0, -1) : key;
    const entry = directory.get(name)!;
    const path = prefix + key;
    if (!(entry instanceof Map)) yield { path, ...entry };
    else if (key === name) yield { path, mode: directoryMode, id: ids.get(entry)! };
    else yield* entriesBelow(entry, path, ids);
  }
}

/** Names, and once more with a slash at the end those of directories: where what is in them belongs. */
function keysOf(directory: Directory<PlacedLeaf>): string[] {
  const keys: string[] = [];
  for (const [name, entry] of directory) {
    keys.push(name);
    if (entry instanceof Map) keys.push(`${name}/`);
  }
  return keys;
}

function tooManyMembers(): Unreadable {
  return new Unreadable(
    'TOO_MANY_ENTRIES',
    `The deposit's archives have too many members: more than ${TOTAL_MEMBERS} together (the limit).`,
  );
}

function tooManyPathBytes(): Unreadable {
  return new Unreadable(
    'PATHS_TOO_LARGE',
    `The paths of the deposit's archives are too large: more than ${totalPathBytes} bytes together (the limit).`,
  );
}
