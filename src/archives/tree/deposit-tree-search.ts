import { type DirectoryEntry, directoryMode } from '../../swhid/directory.ts';
import { escapePath } from '../../swhid/escape-path.ts';
import { decodeEntry, type TreeEntry } from './deposit-tree.ts';

export type EntryQuery = {
  readonly kind: 'directory' | 'leaf';
  /** 40 hex digits. */
  readonly id: string;
  /** Latin1 string of raw bytes, without a slash at either end; any path if omitted. */
  readonly path?: string;
};

/**
 * Resolves to the first matching entry of a manifest. Reads it to its end all the same, since only there its
 * bytes are verified.
 */
export async function findEntry(
  manifest: AsyncIterable<Uint8Array>,
  { kind, id, path }: EntryQuery,
): Promise<TreeEntry | undefined> {
  const start = path === undefined ? '' : pathKey(path);
  const wanted = `"id":"${id}"`;
  let found: TreeEntry | undefined;
  for await (const lines of linesOf(manifest)) {
    found ??= matchingEntries(lines).find(
      (entry) => (entry.mode === directoryMode) === (kind === 'directory'),
    );
  }
  return found;

  function matchingEntries(lines: string): TreeEntry[] {
    if (!lines.includes(wanted)) return [];
    const fit = lines.split('\n').filter((line) => line.includes(wanted) && line.startsWith(start));
    return fit.map(decodeEntry);
  }
}

/** Resolves to the entries of one directory of the manifest's tree, with name, mode and id. */
export async function readDirectoryOf(
  manifest: AsyncIterable<Uint8Array>,
  path: string,
): Promise<DirectoryEntry[]> {
  const prefix = path === '' ? '' : `${path}/`;
  const start = `{"path":"${escapePath(prefix)}`;
  const entries: DirectoryEntry[] = [];
  for await (const lines of linesOf(manifest)) {
    for (const line of lines.split('\n')) {
      if (!line.startsWith(start) || pathAfter(start, line).includes('/')) continue;
      const { path: whole, mode, id } = decodeEntry(line);
      entries.push({ name: whole.slice(prefix.length), mode, id });
    }
  }
  return entries;
}

function pathAfter(start: string, line: string): string {
  return line.slice(start.length, line.indexOf('"', start.length));
}

function pathKey(path: string): string {
  return `{"path":"${escapePath(path)}",`;
}

/**
 * Yields whole lines, many at once. Manifests are ASCII; their header is a line, too, but has neither path
 * nor id.
 */
async function* linesOf(manifest: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of manifest) {
    const text = rest + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1');
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    if (end > 0) yield text.slice(0, end);
  }
}
