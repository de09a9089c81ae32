import { type Directory, directoryId, directoryMode } from '../swhid/directory.ts';
import { totalPathBytes } from './contents.ts';
import { Faults, Unreadable } from './faults.ts';
import type { Overlay } from './inspection.ts';
import { decodeListing, encodeManifest, type ListedLeaf, type ManifestEntry } from './manifest.ts';
import { printableName } from './printable-name.ts';

export type OverlayListing = { readonly sha256: string; readonly listing: Uint8Array };

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
  let pathBytes = 0;
  for (const { sha256, listing } of listings) {
    for (const { path, leaf } of decodeListing(listing)) {
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
  const entries = [...entriesBelow(root, '', ids)];
  const files = entries.filter((entry) => entry.mode !== directoryMode);
  const bytes = files.reduce((sum, { mode, length }) => (mode === '120000' ? sum : sum + length), 0);
  const manifest = encodeManifest({ directory, files: files.length, bytes, archives }, entries);
  return { directory, files: files.length, bytes, manifest };
}

function* entriesBelow(
  directory: Directory<PlacedLeaf>,
  prefix: string,
  ids: Map<Directory, string>,
): Generator<ManifestEntry> {
  for (const [name, entry] of directory) {
    const path = prefix + name;
    if (entry instanceof Map) {
      yield { path, mode: directoryMode, id: ids.get(entry)! };
      yield* entriesBelow(entry, `${path}/`, ids);
    } else yield { path, ...entry };
  }
}

function tooManyPathBytes(): Unreadable {
  return new Unreadable(
    'PATHS_TOO_LARGE',
    `The paths of the deposit's archives are too large: more than ${totalPathBytes} bytes together (the limit).`,
  );
}
