import { ObjectCorrupt } from '../../object-store/object-store.ts';
import { DirectoryBodyBuilder, directoryMode } from '../../swhid/directory.ts';
import { escapePath } from '../../swhid/escape-path.ts';
import { gitObjectId } from '../../swhid/git-object.ts';
import { clock } from '../../tools/clock.ts';
import { ArchiveBytes } from '../archive-bytes.ts';
import type { WantedMembers } from '../members/member-output.ts';
import type { ChunkSender } from '../workers/chunk-sender.ts';
import { decodeEntry } from './deposit-tree.ts';
import type { EntryQuery, ManifestSource, TreeEntry, WantedMember } from './tree-entry.ts';

/** The bytes of a manifest, which are verified only at their end. */
type Pieces = AsyncIterable<Uint8Array>;

/** Resolves to the first matching entry. */
export async function findEntry(
  manifest: Pieces,
  { kind, id, path }: EntryQuery,
): Promise<TreeEntry | undefined> {
  const start = path === undefined ? '' : `{"path":"${escapePath(path)}",`;
  let found: TreeEntry | undefined;
  const matches = (line: string): boolean => found === undefined && line.startsWith(start);
  await readEntries(manifest, { text: `"id":"${id}"`, matches }, (entry) => {
    if ((entry.mode === directoryMode) === (kind === 'directory')) found = entry;
  });
  return found;
}

/** Resolves to the bytes that are hashed for the id of a directory. @throws {Error} they do not match it */
export async function directoryBytes(
  manifest: Pieces,
  { path, id }: { readonly path: string; readonly id: string },
): Promise<Buffer> {
  const prefix = path === '' ? '' : `${path}/`;
  const start = `{"path":"${escapePath(prefix)}`;
  const builder = new DirectoryBodyBuilder();
  const matches = (line: string): boolean => line.startsWith(start) && !pathAfter(start, line).includes('/');
  await readEntries(manifest, { text: start, matches }, ({ path: whole, mode, id: entry }) =>
    builder.add({ name: whole.slice(prefix.length), mode, id: entry }),
  );
  const body = builder.end();
  if (gitObjectId('tree', body) !== id) throw new Error(`The tree ${id} cannot be made again.`);
  return body;
}

type TreePlan = {
  readonly wanted: WantedMembers;
  /** Paths of the directory itself and of those in it, in the order of their bytes. */
  readonly directories: readonly string[];
  /** Length of the common prefix of all paths in the directory. */
  readonly below: number;
};

/** Resolves to the members of a directory that are in one archive. */
export async function readTreePlan(
  manifest: Pieces,
  { path, archive }: { readonly path: string; readonly archive: string },
): Promise<TreePlan> {
  const prefix = path === '' ? '' : `${path}/`;
  const start = `{"path":"${escapePath(prefix)}`;
  const wanted = new Map<string, WantedMember>();
  const directories = [prefix];
  await readEntries(manifest, { text: start, matches: (line) => line.startsWith(start) }, (entry) => {
    if (entry.mode === directoryMode) directories.push(entry.path);
    else if (entry.archive === archive) wanted.set(entry.path, wantedOf(entry));
  });
  return { wanted, directories, below: prefix.length };
}

/** Copies what is wanted of an entry: its archive would take a third more of the memory of a reader. */
function wantedOf({ path, mode, id, sha256, length }: WantedMember): WantedMember {
  return { path, mode, id, sha256, length };
}

function pathAfter(start: string, line: string): string {
  return line.slice(start.length, line.indexOf('"', start.length));
}

/**
 * Reads the entries whose lines have the text and match, in their order; the manifest to its end, since only there its
 * bytes are verified. @throws {SyntaxError} a line that is no entry, although the bytes are correct
 */
async function readEntries(
  manifest: Pieces,
  { text, matches }: { readonly text: string; readonly matches: (line: string) => boolean },
  onEntry: (entry: TreeEntry) => void,
): Promise<void> {
  let damage: unknown;
  for await (const lines of linesOf(manifest)) {
    if (damage !== undefined || !lines.includes(text)) continue;
    for (const line of lines.split('\n')) {
      if (!line.includes(text) || !matches(line)) continue;
      try {
        onEntry(decodeEntry(line));
      } catch (error) {
        damage ??= error;
      }
    }
  }
  if (damage !== undefined) throw damage;
}

/** Yields whole lines, many at once. Manifests are ASCII; their header is a line, too, but has neither path nor id. */
async function* linesOf(manifest: Pieces): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of manifest) {
    const text = rest + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1');
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    if (end > 0) yield text.slice(0, end);
  }
}

/** Yields the bytes of a manifest, for as long as the sender has a reader. @throws {ObjectCorrupt} at their end */
export async function* manifestPieces(
  { source, sha256 }: ManifestSource,
  sender: ChunkSender,
): AsyncGenerator<Uint8Array> {
  using bytes = ArchiveBytes.open(source);
  for (const piece of bytes.pieces()) {
    await clock.nextTurn(); // in which the port reports that it was closed
    await sender.drained();
    yield piece;
  }
  const found = bytes.digest();
  if (found !== sha256) throw new ObjectCorrupt(sha256, `their SHA-256 is ${found}`);
}
