import { DIRECTORY_MODE, directoryId, type TreeEntry } from './git-objects.ts';

/** A path of the tree of a loaded deposit. */
export type ManifestEntry = {
  /** Latin1 string of raw bytes, without a slash at either end. */
  readonly path: string;
  readonly mode: string;
  /** 40 hex digits. */
  readonly id: string;
  /** Only of a file: its length in bytes, and the SHA-256 of its bytes and of the archive that contains it. */
  readonly length?: number;
  readonly sha256?: string;
  readonly archive?: string;
};

export type Manifest = {
  readonly directory: string;
  readonly archives: readonly string[];
  readonly entries: readonly ManifestEntry[];
};

/** Parses a manifest. @throws {Error} the text is something else */
export function readManifest(text: string): Manifest {
  const [header = '', ...lines] = text.split('\n');
  const { manifest, directory, archives } = JSON.parse(header) as Manifest & { readonly manifest: number };
  if (manifest !== 1 || lines.pop() !== '') throw new Error('The text is not a manifest of version 1.');
  const entries = lines.map((line) => {
    const entry = JSON.parse(line) as ManifestEntry;
    return { ...entry, path: unescapePath(entry.path) };
  });
  return { directory, archives, entries };
}

/** Recomputes the id of every directory. Returns the paths of those that have another one; the root is `/`. */
export async function directoryFaults({ directory, entries }: Manifest): Promise<readonly string[]> {
  const children = Map.groupBy(entries, ({ path }) => parentOf(path));
  const directories = entries.filter(({ mode }) => mode === DIRECTORY_MODE);
  const stated = new Map([['', directory], ...directories.map(({ path, id }) => [path, id] as const)]);
  const orphans = [...children.keys()].filter((path) => !stated.has(path));
  const others: string[] = [];
  for (const [path, id] of stated) {
    if ((await directoryId((children.get(path) ?? []).map(treeEntry))) !== id) others.push(path);
  }
  return [...orphans, ...others].map((path) => `/${path}`);
}

function treeEntry({ path, mode, id }: ManifestEntry): TreeEntry {
  return { mode, name: path.slice(path.lastIndexOf('/') + 1), id };
}

/** Returns the path of the directory that contains a path; empty for the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Returns the raw bytes of a path, as a latin1 string. */
export function unescapePath(escaped: string): string {
  return escaped.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
