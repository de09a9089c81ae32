import fs from 'node:fs';
import path from 'node:path';

/** A name in a folder, and the inode of its file; `undefined`: the name was removed. */
type NameChange = { readonly name: string; readonly inode: number | undefined };

export type FolderChanges = {
  /** The entries of the folder at its last sync. */
  readonly synced: ReadonlyMap<string, number>;
  readonly changes: NameChange[];
};

/** The writes to a disk, and the names in its folders, since the last syncs. Files of SQLite are not in it. */
export class UnsyncedChanges {
  /** The bytes that are synced, of files that have others. */
  readonly files = new Map<number, Buffer>();
  /** Bytes of files that have no name any longer, as they were. */
  readonly removed = new Map<number, Buffer>();
  readonly folders = new Map<string, FolderChanges>();

  /** Call it before the bytes of a file are changed. */
  writes(place: string | number): void {
    const { ino, isFile, size } = about(place);
    if (isFile && !this.files.has(ino)) this.files.set(ino, bytesOf(place, size));
  }

  /** The bytes of a file, or the names in a folder, are durable. */
  synced(place: string | number, name: string): void {
    const { ino, isFile } = about(place);
    if (isFile) this.files.delete(ino);
    else this.folders.delete(name);
  }

  /** Changes names in their folders, by `change`. The first of them may name another file, or none, from then on. */
  renames<Result>(places: readonly string[], change: () => Result): Result {
    const relevant = places.filter((place) => !isOfSqlite(place));
    for (const place of relevant) this.#rememberNames(path.dirname(place));
    const [replaced] = places;
    if (replaced !== undefined && relevant.includes(replaced)) this.#rememberBytes(replaced);
    const result = change();
    for (const place of relevant) {
      const folder = this.folders.get(path.dirname(place));
      const inode = inodeOf(place);
      const name = path.basename(place);
      const before = folder?.changes.findLast((one) => one.name === name);
      const isChanged = before ? before.inode !== inode : folder?.synced.get(name) !== inode;
      if (isChanged) folder?.changes.push({ name, inode });
    }
    return result;
  }

  #rememberNames(folder: string): void {
    if (!this.folders.has(folder)) this.folders.set(folder, { synced: namesIn(folder), changes: [] });
  }

  #rememberBytes(place: string): void {
    const found = fs.statSync(place, { throwIfNoEntry: false });
    if (found?.isFile()) this.removed.set(found.ino, bytesOf(place, found.size));
  }
}

export function isOfSqlite(place: string): boolean {
  return /\.sqlite(-wal|-shm|-journal)?$/.test(place);
}

export function inodeOf(place: string): number | undefined {
  return fs.statSync(place, { throwIfNoEntry: false })?.ino;
}

/** Returns the names in a folder with the inodes of their files, those of SQLite left out. */
export function namesIn(folder: string): Map<string, number> {
  const names = fs.readdirSync(folder).filter((name) => !isOfSqlite(name));
  return new Map(names.toSorted().map((name) => [name, inodeOf(path.join(folder, name)) as number]));
}

function about(place: string | number) {
  const found = typeof place === 'number' ? fs.fstatSync(place) : fs.statSync(place);
  return { ino: found.ino, isFile: found.isFile(), size: found.size };
}

/** A descriptor is read through its link: it may be open for writing only, and its place stays. */
function bytesOf(place: string | number, size: number): Buffer {
  if (size === 0) return Buffer.alloc(0); // a new file
  return fs.readFileSync(typeof place === 'number' ? `/proc/self/fd/${place}` : place);
}
