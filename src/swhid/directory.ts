import { gitObjectId } from './git-object.ts';

/** Plain file, owner-executable file, symbolic link. */
export type LeafMode = '100644' | '100755' | '120000';

export type Leaf = {
  readonly mode: LeafMode;
  /** Content id, 40 hex digits. */
  readonly id: string;
};

/**
 * A directory in memory. The names are latin1 strings of the raw bytes, so that `<` compares bytes. JavaScript compares
 * decoded names as UTF-16, which is wrong for some.
 */
export interface Directory<L extends Leaf = Leaf> extends Map<string, L | Directory<L>> {}

// Five bytes: the six-byte form that some texts show gives other ids.
export const directoryMode = '40000';

// Longest text of a part of a body. The text of a million entries would need one contiguous part of the heap, and a
// thread without that much memory ends the process.
const LONGEST_TEXT = 1024 ** 2;

/** Returns the id of the directory. `ids`, if given, receives the id of it and of every directory below it. */
export function directoryId(directory: Directory, ids?: Map<Directory, string>): string {
  const id = gitObjectId('tree', directoryBody(directory, ids));
  ids?.set(directory, id);
  return id;
}

export function directoryBody(directory: Directory, ids?: Map<Directory, string>): Buffer {
  const pieces: Buffer[] = [];
  let text = '';
  for (const key of inTreeOrder(directory)) {
    const name = key.endsWith('/') ? key.slice(0, -1) : key;
    const entry = directory.get(name)!;
    const [mode, id] =
      entry instanceof Map ? [directoryMode, directoryId(entry, ids)] : [entry.mode, entry.id];
    text += entryText({ mode, name, id });
    if (text.length < LONGEST_TEXT) continue;
    pieces.push(Buffer.from(text, 'latin1'));
    text = '';
  }
  const last = Buffer.from(text, 'latin1');
  return pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
}

export type DirectoryEntry = {
  readonly mode: LeafMode | typeof directoryMode;
  /** Latin1 string of raw bytes. */
  readonly name: string;
  readonly id: string;
};

/** Returns the body of a directory whose entries have known ids, in any order. */
export function directoryBodyOf(entries: readonly DirectoryEntry[]): Buffer {
  const keyed = entries.map((entry) => ({
    key: entry.mode === directoryMode ? `${entry.name}/` : entry.name,
    entry,
  }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  return Buffer.from(keyed.map(({ entry }) => entryText(entry)).join(''), 'latin1');
}

function entryText({
  mode,
  name,
  id,
}: {
  readonly mode: string;
  readonly name: string;
  readonly id: string;
}) {
  return `${mode} ${name}\0${Buffer.from(id, 'hex').toString('latin1')}`;
}

/** Returns the names ordered by their bytes; the name of a directory ends with a `/`, which counts for the order. */
function inTreeOrder(directory: Directory): string[] {
  return Array.from(directory, ([name, entry]) => (entry instanceof Map ? `${name}/` : name)).sort();
}
