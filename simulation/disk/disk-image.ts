import fs from 'node:fs';
import path from 'node:path';
import type { SeededRandom } from '../world/seeded-random.ts';
import { inodeOf, isOfSqlite, namesIn, type UnsyncedChanges } from './unsynced-changes.ts';

const SECTOR_BYTES = 512;

/**
 * The remains of a folder after a power cut. Of each folder, a random number of the last unsynced changes of names is lost;
 * of each file that is not synced, all unsynced bytes, none, or some sectors; of a WAL that is not synced, its end.
 */
export class DiskImage {
  /** The losses, for the story. */
  readonly losses: string[] = [];
  readonly #folder: string;
  readonly #unsynced: UnsyncedChanges;
  readonly #syncedWals: ReadonlyMap<string, number>;
  readonly #random: SeededRandom;
  readonly #places = new Map<number, string>();

  constructor(
    folder: string,
    unsynced: UnsyncedChanges,
    syncedWals: ReadonlyMap<string, number>,
    random: SeededRandom,
  ) {
    this.#folder = folder;
    this.#unsynced = unsynced;
    this.#syncedWals = syncedWals;
    this.#random = random;
    for (const name of fs.readdirSync(folder, { recursive: true })) {
      const place = path.join(folder, String(name));
      this.#places.set(inodeOf(place) as number, place);
    }
  }

  writeTo(target: string): void {
    this.#writeFolder(this.#folder, target);
  }

  #writeFolder(folder: string, target: string): void {
    fs.mkdirSync(target);
    for (const [name, inode] of this.#durableNames(folder)) this.#write(inode, path.join(target, name));
    for (const name of fs.readdirSync(folder).toSorted())
      if (isOfSqlite(name) && !name.endsWith('-shm')) this.#writeDatabase(path.join(folder, name), target);
  }

  #durableNames(folder: string): ReadonlyMap<string, number> {
    const unsynced = this.#unsynced.folders.get(folder);
    if (!unsynced) return namesIn(folder);
    const names = new Map(unsynced.synced);
    const kept = this.#random.int(unsynced.changes.length + 1);
    for (const { name, inode } of unsynced.changes.slice(0, kept)) {
      if (inode === undefined) names.delete(name);
      else names.set(name, inode);
    }
    for (const { name, inode } of unsynced.changes.slice(kept))
      this.#lost(`${inode === undefined ? 'removal of ' : 'name '}${path.join(folder, name)}`);
    return names;
  }

  #write(inode: number, target: string): void {
    const place = this.#places.get(inode);
    if (place !== undefined && fs.statSync(place).isDirectory()) this.#writeFolder(place, target);
    else fs.writeFileSync(target, this.#bytesOf(inode, place));
  }

  #bytesOf(inode: number, place: string | undefined): Buffer {
    const written = place === undefined ? this.#unsynced.removed.get(inode) : fs.readFileSync(place);
    const bytes = written ?? Buffer.alloc(0);
    const synced = this.#unsynced.files.get(inode);
    if (!synced || synced.equals(bytes)) return bytes;
    const left = this.#random.pick(['synced', 'written', 'torn'] as const);
    if (left !== 'written') this.#lost(`bytes of ${place ?? 'a removed file'} (${left})`);
    return { synced, written: bytes, torn: this.#torn(synced, bytes) }[left];
  }

  #torn(synced: Buffer, written: Buffer): Buffer {
    const torn = Buffer.alloc(written.length);
    for (let start = 0; start < written.length; start += SECTOR_BYTES) {
      const source = this.#random.chance(0.5) ? written : synced;
      if (start < source.length) source.copy(torn, start, start, start + SECTOR_BYTES);
    }
    return torn;
  }

  #writeDatabase(place: string, target: string): void {
    const bytes = fs.readFileSync(place);
    const synced = Math.min(this.#syncedWals.get(place) ?? bytes.length, bytes.length);
    const left = bytes.subarray(0, synced + this.#random.int(bytes.length - synced + 1));
    if (left.length < bytes.length) this.#lost(`the end of ${place}`);
    fs.writeFileSync(path.join(target, path.basename(place)), left);
  }

  #lost(what: string): void {
    this.losses.push(what);
  }
}
