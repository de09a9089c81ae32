import { DatabaseSync } from 'node:sqlite';
import type { Position, SeenEvent } from '../../event-log/event-log.ts';
import { extendedCode, isBusy, isDamage, isDiskError } from '../../tools/sqlite/codes.ts';
import { readTwice } from '../../tools/sqlite/found-twice.ts';
import { assertNoJournal, openSqliteToRead } from '../../tools/sqlite/reading.ts';
import { inTransaction } from '../../tools/sqlite/transaction.ts';
import type { ViewSchema } from '../projection.ts';
import { engineIn } from '../view.ts';
import { ViewDamaged, ViewUnavailable, viewUnavailable } from '../view-unavailable.ts';
import { changeWriter, lastSeenIn } from './change-writer.ts';
import { markDamaged } from './view-folder.ts';
import { ViewMemory } from './view-memory.ts';
import { addLookups, createView, dropView, prepareViewFile, versionOf } from './view-schema.ts';
import { ViewTable } from './view-table.ts';

/** Milliseconds to wait for another process that is writing. */
const BUSY_MS = 5000;

/** Metadata of a file; `origin` is the engine of the log that its positions belong to. */
type AboutViews = { readonly origin: string; readonly created: string };

/** One generation of all views of a node: a SQLite file, written by a single process. */
export class ViewFile implements Disposable {
  readonly path: string;
  readonly memory: ViewMemory;
  readonly #database: DatabaseSync;
  /** Only for a file that is opened to write. */
  readonly #write: ReturnType<typeof changeWriter> | undefined;
  /** The views that were added. */
  readonly #schemas = new Map<string, ViewSchema>();
  readonly #tables = new Map<string, ViewTable>();
  #damage: string | undefined;

  /** Opens a file, read-only without `origin`. @throws it cannot be opened, or is not a view file. */
  constructor(file: string, origin?: string) {
    this.path = file;
    assertNoJournal(file);
    this.#database =
      origin === undefined ? openSqliteToRead(file, BUSY_MS) : new DatabaseSync(file, { timeout: BUSY_MS });
    try {
      if (origin !== undefined) prepareViewFile(this.#database, origin);
      this.#write = origin === undefined ? undefined : changeWriter(this.#database);
      this.memory = new ViewMemory(this.storedLastSeen());
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get schemas(): readonly ViewSchema[] {
    return [...this.#schemas.values()];
  }

  /** Adds a view. Returns `false` if the file has applied events without this version of it. */
  add(schema: ViewSchema): boolean {
    const { name, version } = schema;
    const stored = versionOf(this.#database, name);
    if (stored !== version) {
      if (stored !== undefined || this.lastSeen !== undefined) return false;
      this.#changing(() => createView(this.#database, schema));
    }
    this.#schemas.set(name, schema);
    return true;
  }

  /** Removes the views that were not added. */
  dropOthers(): void {
    const others = [...this.versions().keys()].filter((name) => !this.#schemas.has(name));
    if (others.length > 0)
      this.#changing(() => {
        for (const name of others) dropView(this.#database, name);
      });
  }

  /** Creates the indexes and counters, before the first lookup by anything but the key: they slow down filling. */
  addLookups(): void {
    try {
      this.save();
      this.#markingDamage(() => addLookups(this.#database, this.schemas));
      this.lookupsAdded();
    } catch (error) {
      throw viewUnavailable(this.path, 'written', error);
    }
  }

  /** Must be called after another connection has added the lookups. */
  lookupsAdded(): void {
    for (const table of this.#tables.values()) table.lookupsChanged();
  }

  /** Returns the metadata of the file; `undefined` if it has no metadata row. */
  about(): AboutViews | undefined {
    const about = this.#database.prepare('SELECT origin, created FROM about').get() as AboutViews | undefined; // STRICT
    return about && { ...about, origin: engineIn(about.origin) };
  }

  /** Returns the versions of the views in the file, by their names. */
  versions(): ReadonlyMap<string, number> {
    const rows = this.#database.prepare('SELECT name, version FROM view_versions').all();
    return new Map(rows.map(({ name, version }) => [name as string, version as number])); // STRICT
  }

  get lastSeen(): SeenEvent | undefined {
    return this.memory.last;
  }

  /** Returns the event that the file names as the last applied one; another process may have moved it. */
  storedLastSeen(): SeenEvent | undefined {
    return lastSeenIn(this.#database.prepare('SELECT last_seen FROM about').get());
  }

  /** Returns the position that queries of a view have reached. */
  queryablePosition(view: string): Position | undefined {
    this.#saveForQueries(view);
    return (this.memory.isWritten(view) ? this.memory.last : this.memory.written)?.position;
  }

  /** The size of the file in bytes, with what is still in its WAL file. */
  get size(): number {
    const sql = 'SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size';
    return Number(this.#database.prepare(sql).get()?.['size']);
  }

  /** Returns a value as it is after the event accepted last. */
  get(view: string, key: string): unknown {
    const fromFile = () => this.#reading(view, () => this.#table(view).get(key));
    return this.memory.get(view, key, fromFile, this.#write !== undefined);
  }

  /** Reads a view with everything accepted until now, or as it is written. @throws {ViewUnavailable} a page is corrupt */
  read<Found>(view: string, read: (table: ViewTable) => Found, saves = true): Found {
    return this.#reading(view, () => read(saves ? this.table(view) : this.#table(view)));
  }

  /** Returns a view with everything accepted until now; on a full disk, with what was written before. */
  table(view: string): ViewTable {
    this.#saveForQueries(view);
    return this.#table(view);
  }

  /** Description of the corruption that a read has met, as a sentence. */
  get damage(): string | undefined {
    return this.#damage;
  }

  /** Returns the corruption that SQLite finds in the file, as one sentence each. */
  integrityFaults(): readonly string[] {
    const found = this.#database.prepare('PRAGMA integrity_check(20)').all();
    return found.map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok');
  }

  /** Writes all that is not written, in one transaction. @throws {ViewUnavailable} the disk does not accept it now */
  save(): void {
    this.memory.takeBack();
    const handed = this.memory.handOver();
    if (!handed) return;
    try {
      readTwice(this.#database, () => this.#write?.(handed.changes));
      handed.written();
    } catch (error) {
      handed.notWritten();
      throw this.notWritten(error);
    }
  }

  /** Returns the error to throw for a failed write. Marks the file if a page is corrupt. */
  notWritten(error: unknown): unknown {
    if (isDamage(error)) {
      markDamaged(this.path);
      return new ViewDamaged(this.path, error as Error);
    }
    return isDiskError(error) || isBusy(error) ? viewUnavailable(this.path, 'written', error) : error;
  }

  /** Empties all views, and removes all that {@link addLookups} created. */
  clear(): void {
    this.#changing(() => {
      for (const name of this.versions().keys()) dropView(this.#database, name);
      for (const schema of this.#schemas.values()) createView(this.#database, schema);
      this.#database.exec('UPDATE about SET last_seen = NULL');
    });
    this.lookupsAdded();
    this.memory.clear();
  }

  /** Starts a read transaction: until it is disposed of, all reads see one state. */
  snapshot(): Disposable {
    this.#database.exec('BEGIN');
    this.storedLastSeen(); // SQLite takes the snapshot at the first read
    return { [Symbol.dispose]: () => this.#database.exec('ROLLBACK') };
  }

  [Symbol.dispose](): void {
    if (!this.#database.isOpen) return;
    try {
      this.save();
    } catch (error) {
      if (!(error instanceof ViewUnavailable) && extendedCode(error) === undefined) throw error; // unwritten changes are read from the log again
    } finally {
      this.#database.close();
    }
  }

  #table(view: string): ViewTable {
    return this.#tables.getOrInsertComputed(view, () => new ViewTable(this.#database, view));
  }

  /** A read that meets a corrupt page is repeated once; a page that is corrupt on disk fails again. */
  #reading<Found>(view: string, read: () => Found): Found {
    try {
      return readTwice(this.#database, read);
    } catch (cause) {
      if (!isDamage(cause)) throw cause;
      const found = `view ${view} in ${this.path} is corrupt: "deposit-service rebuild ${view}" repairs it`;
      if (!this.#write) throw new ViewUnavailable(`The ${found}.`, { cause });
      this.#damage = `the ${found}, and so does a restart.`;
      markDamaged(this.path);
      throw new ViewUnavailable(`The view cannot be read: ${this.#damage}`, { cause });
    }
  }

  /** Writes what was accepted before a view is queried, unless the file has all values of this view. */
  #saveForQueries(view: string): void {
    if (this.memory.isWritten(view)) return;
    try {
      this.save();
    } catch (error) {
      if (!(error instanceof ViewUnavailable)) throw error;
    }
  }

  /** Changes views as a whole, in one transaction. */
  #changing(change: () => void): void {
    try {
      this.#markingDamage(() => inTransaction(this.#database, change));
    } catch (error) {
      throw viewUnavailable(this.path, 'written', error);
    }
  }

  /**
   * Runs `write`, and marks the file if a page is corrupt: a page that is never read may only be reached by writing.
   * @throws {ViewDamaged}
   */
  #markingDamage(write: () => void): void {
    try {
      readTwice(this.#database, write);
    } catch (error) {
      throw isDamage(error) ? this.notWritten(error) : error;
    }
  }
}
