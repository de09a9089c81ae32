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
  const body = new DirectoryBodyBuilder();
  for (const name of Array.from(directory.keys()).sort()) {
    const entry = directory.get(name)!;
    const [mode, id] =
      entry instanceof Map ? ([directoryMode, directoryId(entry, ids)] as const) : [entry.mode, entry.id];
    body.add({ mode, name, id });
  }
  return body.end();
}

type DirectoryEntry = {
  readonly mode: LeafMode | typeof directoryMode;
  /** Latin1 string of raw bytes. */
  readonly name: string;
  readonly id: string;
};

/** Builds the body of a directory whose entries have known ids. Its heap does not grow with their number. */
export class DirectoryBodyBuilder {
  readonly #pieces: Buffer[] = [];
  #text = '';
  /** Directories that other entries may still precede, the first of them at the end. */
  readonly #delayed: DirectoryEntry[] = [];

  /** Adds an entry. The names come in the order of their bytes, without the `/` that a body counts for directories. */
  add(entry: DirectoryEntry): void {
    for (let last = this.#delayed.at(-1); last && `${last.name}/` < entry.name; last = this.#delayed.at(-1)) {
      this.#write(last);
      this.#delayed.pop();
    }
    if (entry.mode === directoryMode) this.#delayed.push(entry);
    else this.#write(entry);
  }

  end(): Buffer {
    for (const entry of this.#delayed.toReversed()) this.#write(entry);
    const last = Buffer.from(this.#text, 'latin1');
    return this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last]);
  }

  #write({ mode, name, id }: DirectoryEntry): void {
    this.#text += `${mode} ${name}\0${Buffer.from(id, 'hex').toString('latin1')}`;
    if (this.#text.length < LONGEST_TEXT) return;
    this.#pieces.push(Buffer.from(this.#text, 'latin1'));
    this.#text = '';
  }
}
