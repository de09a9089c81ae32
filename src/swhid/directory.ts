import { gitObjectId } from './git-object.ts';

/** Plain file, owner-executable file, symbolic link. */
export type LeafMode = '100644' | '100755' | '120000';

export type Leaf = {
  readonly mode: LeafMode;
  /** Content id, 40 hex digits. */
  readonly id: string;
};

/**
 * A directory in memory. The names are latin1 strings of the raw bytes, so that `<` is the order of the
 * bytes; JavaScript's own order of decoded names would be that of UTF-16 and wrong for some.
 */
export interface Directory<L extends Leaf = Leaf> extends Map<string, L | Directory<L>> {}

// Five bytes: the six-byte form that some texts show gives other ids.
export const directoryMode = '40000';

/** Id of the directory; `ids`, when given, receives the id of it and of every directory below it. */
export function directoryId(directory: Directory, ids?: Map<Directory, string>): string {
  const id = gitObjectId('tree', directoryBody(directory, ids));
  ids?.set(directory, id);
  return id;
}

export function directoryBody(directory: Directory, ids?: Map<Directory, string>): Buffer {
  let body = '';
  for (const [name, entry] of inTreeOrder(directory)) {
    const [mode, id] =
      entry instanceof Map ? [directoryMode, directoryId(entry, ids)] : [entry.mode, entry.id];
    body += entryText({ mode, name, id });
  }
  return Buffer.from(body, 'latin1');
}

export type DirectoryEntry = {
  readonly mode: LeafMode | typeof directoryMode;
  /** Latin1 string of raw bytes. */
  readonly name: string;
  readonly id: string;
};

/** The same for a directory of which the ids are known, in any order. */
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

/** The entries in the order of their names' bytes, where a directory's name counts with a `/` at its end. */
function inTreeOrder<L extends Leaf>(directory: Directory<L>): [string, L | Directory<L>][] {
  return [...directory]
    .map((entry) => ({ key: entry[1] instanceof Map ? `${entry[0]}/` : entry[0], entry }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ entry }) => entry);
}
