import fs from 'node:fs';
import path from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SeededRandom } from '../world/seeded-random.ts';
import { currentWorld, world } from '../world/world.ts';
import { makeDiskFolder, removeDiskFolder } from './disk-folders.ts';
import { DiskImage } from './disk-image.ts';
import { UnsyncedChanges } from './unsynced-changes.ts';

/** The real one, without the faults of a disk. */
const sqlite = process.getBuiltinModule('node:sqlite');

/** How a disk refuses writes. */
export type Refusal = 'full' | 'failing';

/** Which files a disk refuses to write: all, or those below one folder or of one name. */
export type RefusedPart = 'all' | 'event-log' | 'archives' | 'views';

/** Which files of a disk a read fails on; `reactors` has the positions of the groups. */
export type ReadPart = 'event-log' | 'archives' | 'views' | 'reactors';

/** A read that fails: of a part, after some others of it. */
type FailingRead = { readonly part: ReadPart; left: number };

const SQLITE_ERRORS = {
  full: { message: 'database or disk is full', errcode: 13 },
  failing: { message: 'disk I/O error', errcode: 778 },
  read: { message: 'disk I/O error', errcode: 266 },
} as const;
const SYSTEM_CODES = { full: 'ENOSPC', failing: 'EIO' } as const;

const [WAL_HEADER_BYTES, FRAME_HEADER_BYTES] = [32, 24];

/**
 * The disk of a simulated machine: a folder of this machine, with what is not synced in it. A power cut makes a new
 * folder of what was synced and of some of the rest; connections and descriptors of the dead stay with the old one.
 */
export class SimulatedDisk implements Disposable {
  readonly #root = makeDiskFolder();
  readonly #random: SeededRandom;
  readonly #databases = new Map<DatabaseSync, { readonly file: string; isSynced: boolean }>();
  readonly #descriptors = new Set<number>();
  readonly #refusals = new Set<{ readonly how: Refusal; readonly part: RefusedPart }>();
  readonly #failingReads = new Set<FailingRead>();
  #lastRefusalAt = -Infinity;
  #lastFailedReadAt = -Infinity;
  #generation = 0;
  #folder = path.join(this.#root, '0');
  /** The changes that a power cut may lose; `undefined` for a disk in memory. */
  unsynced: UnsyncedChanges | undefined;
  /** Called after each commit of the event log. */
  onLogCommit: (database: DatabaseSync) => void = () => undefined;
  /** A connection to each database in memory, which lasts as long as it has one; `undefined`: they are files. */
  readonly #inMemory: Map<string, DatabaseSync> | undefined;

  /** @param databases `memory` is quicker, and knows no power cuts */
  constructor(seed: number, databases: 'files' | 'memory') {
    this.#inMemory = databases === 'memory' ? new Map() : undefined;
    this.unsynced = databases === 'files' ? new UnsyncedChanges() : undefined;
    this.#random = new SeededRandom(seed, 'disk');
    fs.mkdirSync(this.folder);
  }

  /** The folder that is mounted at the moment. */
  get folder(): string {
    return this.#folder;
  }

  /** Returns a text without the place of the disk on this machine, so that histories are equal on all. */
  withoutPlace(text: string): string {
    return text.includes(this.#root) ? text.replaceAll(new RegExp(`${this.#root}/\\d+`, 'g'), '/data') : text;
  }

  holds(place: string): boolean {
    return place === this.folder || place.startsWith(`${this.folder}/`);
  }

  /** Has the disk refuse writes until the result is disposed of. */
  refuse(how: Refusal, part: RefusedPart): Disposable {
    const refusal = { how, part };
    this.#refusals.add(refusal);
    return { [Symbol.dispose]: () => this.#refusals.delete(refusal) };
  }

  /** Has one read of a part fail, `skip` reads later than the next one, until the result is disposed of. */
  failRead(part: ReadPart, skip: number): Disposable {
    const failing = { part, left: skip };
    this.#failingReads.add(failing);
    return { [Symbol.dispose]: () => this.#failingReads.delete(failing) };
  }

  /** Returns when a node had a reason to end last: a refused write, which may last; before it serves, a failed read, too. */
  lastFailureAt(isServing: boolean): number {
    const refusedAt = this.#refusals.size > 0 ? world().now : this.#lastRefusalAt;
    return isServing ? refusedAt : Math.max(refusedAt, this.#lastFailedReadAt);
  }

  /** @throws {Error} the disk refuses to write the file, as Node reports it */
  assertTakes(place: string, call: string): void {
    const how = this.#refusalOf(place);
    if (how === undefined) return;
    const code = SYSTEM_CODES[how];
    throw Object.assign(new Error(`${code}: refused, ${call}`), { code, syscall: call, errno: -1 });
  }

  /** @throws {Error} the disk refuses to write the database, as SQLite reports it */
  assertTakesCommit(database: DatabaseSync): void {
    const how = this.#refusalOf(this.#databases.get(database)?.file ?? '');
    if (how !== undefined) throw sqliteError(how);
  }

  /** @throws {Error} this read of a file fails, as Node reports it */
  assertReads(place: string, call: string): void {
    if (this.#failingReads.size === 0 || !this.#failsToRead(place)) return;
    throw Object.assign(new Error(`EIO: i/o error, ${call}`), { code: 'EIO', syscall: call, errno: -5 });
  }

  /** @throws {Error} this read of a database fails, as SQLite reports it */
  assertReadsDatabase(database: DatabaseSync): void {
    if (this.#failingReads.size === 0) return;
    if (this.#failsToRead(this.#databases.get(database)?.file ?? '')) throw sqliteError('read');
  }

  /** Returns the name by which SQLite opens a database of this disk. */
  locationOf(file: string): string {
    if (!this.holds(file)) return file;
    if (!this.#inMemory) return `file:${file}?vfs=unix-excl`;
    const location = `file:${file}?vfs=memdb`;
    this.#inMemory.getOrInsertComputed(file, () => new sqlite.DatabaseSync(location));
    return location;
  }

  opened(database: DatabaseSync, file: string): void {
    this.#databases.set(database, { file, isSynced: true });
  }

  /** A connection syncs the WAL at each of its commits, or not. */
  setSynced(database: DatabaseSync, isSynced: boolean): void {
    const known = this.#databases.get(database);
    if (known) known.isSynced = isSynced;
  }

  committed(database: DatabaseSync): 'event-log' | 'archives' | 'views' | undefined {
    const file = this.#databases.get(database)?.file ?? '';
    if (!this.holds(file)) return undefined; // of a process that died with the power
    if (this.#isLog(file)) this.onLogCommit(database);
    return this.#isLog(file) ? 'event-log' : file.includes('/views/') ? 'views' : 'archives';
  }

  descriptorOpened(descriptor: number): void {
    this.#descriptors.add(descriptor);
  }

  descriptorClosed(descriptor: number): void {
    this.#descriptors.delete(descriptor);
  }

  /** Mounts a new folder, in which a random part of what was not synced is missing or torn. */
  cutPower(): void {
    if (!this.unsynced) throw new Error('A disk in memory knows no power cuts.');
    const image = new DiskImage(this.folder, this.unsynced, this.#syncedWals(), this.#random);
    this.#generation += 1;
    this.#folder = path.join(this.#root, `${this.#generation}`);
    image.writeTo(this.folder);
    this.unsynced = new UnsyncedChanges();
    currentWorld()?.note('fault', `power cut: ${image.losses.join(', ') || 'nothing'} lost`);
  }

  [Symbol.dispose](): void {
    for (const database of this.#databases.keys()) if (database.isOpen) database.close();
    for (const database of this.#inMemory?.values() ?? []) database.close();
    for (const descriptor of this.#descriptors) fs.closeSync(descriptor);
    removeDiskFolder(this.#root);
  }

  /** Returns how many bytes are synced of each WAL that is not synced by commits: those that a checkpoint has passed. */
  #syncedWals(): ReadonlyMap<string, number> {
    const synced = new Map<string, number>();
    for (const [database, { file, isSynced }] of this.#databases) {
      if (isSynced || !database.isOpen || !this.holds(file)) continue;
      const { checkpointed } = prepareReliably(database, 'PRAGMA wal_checkpoint(NOOP)').get() ?? {};
      const { page_size: page } = prepareReliably(database, 'PRAGMA page_size').get() ?? {};
      const frames = Math.max(0, Number(checkpointed));
      const bytes = frames === 0 ? 0 : WAL_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + Number(page));
      synced.set(`${file}-wal`, bytes);
    }
    return synced;
  }

  #refusalOf(place: string): Refusal | undefined {
    for (const { how, part } of this.#refusals) {
      const isRefused = part === 'all' || this.#isOf(part, place);
      if (!isRefused) continue;
      this.#lastRefusalAt = world().now;
      return how;
    }
    return undefined;
  }

  #failsToRead(place: string): boolean {
    if (this.#lastFailedReadAt === world().now) return false; // a read that is repeated at once succeeds
    for (const failing of this.#failingReads) {
      if (!this.#isOf(failing.part, place)) continue;
      failing.left -= 1;
      if (failing.left >= 0) continue;
      this.#failingReads.delete(failing);
      this.#lastFailedReadAt = world().now;
      world().note('fault', `a read of ${place} fails`);
      return true;
    }
    return false;
  }

  #isOf(part: RefusedPart | ReadPart, place: string): boolean {
    return place.startsWith(path.join(this.folder, part));
  }

  #isLog(file: string): boolean {
    return path.basename(file) === 'event-log.sqlite';
  }
}

function sqliteError(kind: keyof typeof SQLITE_ERRORS): Error {
  const { message, errcode } = SQLITE_ERRORS[kind];
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });
}

/** Prepares a statement whose reads never fail: what the simulation itself reads. */
export function prepareReliably(database: DatabaseSync, sql: string): StatementSync {
  return sqlite.DatabaseSync.prototype.prepare.call(database, sql);
}
