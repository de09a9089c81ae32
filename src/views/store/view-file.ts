import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Position } from '../../event-log/event-log.ts';
import { makeDirectory } from '../../tools/files/make-directory.ts';
import { files } from '../../tools/files.ts';
import { LruCache } from '../../tools/lru-cache.ts';
import { openTwice, readTwice } from '../../tools/sqlite/found-twice.ts';
import { openSqliteToRead } from '../../tools/sqlite/reading.ts';
import type { EventRef, ViewQuery, ViewSchema, ViewTable } from '../view-store.ts';
import { viewUnavailable } from '../view-unavailable.ts';
import { markingDamage, markOfDamage, removeViewFile } from './remove-view-file.ts';
import { isCorruptFileError, isDiskError, isSqliteError } from './sqlite-errors.ts';
import { ViewQueries } from './view-queries.ts';
import { addLookups, prepareViewFile } from './view-schema.ts';
import { ViewStatements } from './view-statements.ts';
import { type FlushBatch, WriteBehindBuffer } from './write-behind-buffer.ts';

/** The schema of the view, and the identity of the log that its positions belong to. */
export type ViewFileOptions = ViewSchema & { readonly origin: string };

/** One generation of one view: a SQLite file, written by a single process. */
export class ViewFile implements ViewTable, Disposable {
  readonly name: string;
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly shape: ViewSchema;
  readonly #writes: ViewStatements | undefined;
  readonly #queries: ViewQueries;
  /** Cache of parsed views: most views are read or changed again soon. */
  readonly #recent = new LruCache<unknown>(RECENT);
  readonly #unwritten: WriteBehindBuffer;
  /** Runs `work`, and repeats it once if it meets a corrupt page; a page that is corrupt on disk fails again. */
  readonly readTwice = <T>(work: () => T): T => readTwice(this.#database, work);

  /**
   * Opens the file; recreates it if it is missing, corrupt, of another log or of another version.
   * @throws {ViewUnavailable} it cannot be opened now: the file is left unchanged.
   */
  static open(file: string, options: ViewFileOptions): ViewFile {
    makeDirectory(path.dirname(file), 0o777);
    try {
      const found = files.existsSync(markOfDamage(file)) ? undefined : ViewFile.#ifReadable(file, options);
      if (found?.isOf(options)) return found;
      found?.[Symbol.dispose]();
      removeViewFile(file);
      return new ViewFile(file, options);
    } catch (error) {
      throw viewUnavailable({ name: options.name, file }, 'opened', error);
    }
  }

  /** Opens a file that another process has built. Creates and removes no files. @throws {ViewUnavailable} */
  static openBuilt(file: string, options: ViewFileOptions): ViewFile {
    try {
      return new ViewFile(file, options);
    } catch (error) {
      throw viewUnavailable({ name: options.name, file }, 'opened', error);
    }
  }

  static #ifReadable(file: string, options: ViewFileOptions): ViewFile | undefined {
    try {
      return openTwice(() => new ViewFile(file, options), isCorruptFileError);
    } catch (error) {
      if (isCorruptFileError(error)) return undefined;
      throw error;
    }
  }

  /** Opens a file that another process writes. @throws when it is missing or no view file. */
  static openReadOnly(file: string, { name }: { readonly name: string }): ViewFile {
    return new ViewFile(file, { name, version: 0, origin: '' }, true);
  }

  private constructor(file: string, options: ViewFileOptions, readOnly = false) {
    this.name = options.name;
    this.file = file;
    this.shape = options;
    this.#database = readOnly
      ? openSqliteToRead(file, BUSY_MS)
      : new DatabaseSync(file, { timeout: BUSY_MS });
    try {
      if (!readOnly) prepareViewFile(this.#database, options);
      this.#statements = statementsOf(this.#database);
      this.#writes = readOnly ? undefined : new ViewStatements(this.#database);
      this.#queries = new ViewQueries(this.#database, this.name);
      this.#unwritten = new WriteBehindBuffer(this.storedPosition());
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /**
   * Adds indexes and counters, before the first lookup by anything but the key. Without them the table is
   * filled faster.
   */
  addLookups(): void {
    try {
      this.save();
      markingDamage(this.file, () => addLookups(this.#database, this.shape));
      this.lookupsAdded();
    } catch (error) {
      throw viewUnavailable(this, 'written', error);
    }
  }

  /** Must be called after another connection has added the lookups. */
  lookupsAdded(): void {
    this.#queries.lookupsChanged();
  }

  isOf({ name, version, origin }: ViewFileOptions): boolean {
    const about = this.about();
    return about?.name === name && about.version === version && about.origin === origin;
  }

  /** Returns the metadata of the file; `undefined` if it has no metadata row. */
  about(): { readonly name: string; readonly version: number; readonly origin: string } | undefined {
    return this.#statements.about.get() as ReturnType<ViewFile['about']>; // the table is STRICT
  }

  get position(): Position | undefined {
    return this.#unwritten.position;
  }

  get queryablePosition(): Position | undefined {
    this.#writtenFirst();
    return this.#unwritten.written;
  }

  /** Returns the position in the file, which another process may have moved. */
  storedPosition(): Position | undefined {
    return (this.#statements.about.get()?.['position'] as Position | null) ?? undefined;
  }

  get lastSeen(): EventRef | undefined {
    return this.#unwritten.last ?? this.storedLastSeen();
  }

  /**
   * Returns the event that the file names as the last applied one. A file of an older release has no such
   * column.
   */
  storedLastSeen(): EventRef | undefined {
    const stored = this.#database.prepare('SELECT * FROM about').get()?.['last_seen'];
    return typeof stored === 'string' ? (JSON.parse(stored) as EventRef) : undefined; // as ViewStatements writes it
  }

  get unsaved(): number {
    return this.#unwritten.size;
  }

  get size(): number {
    return this.#writtenFirst().size;
  }

  get(key: string): unknown {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    if (this.#unwritten.has(key)) return this.#unwritten.get(key);
    const row = this.#statements.get.get(key);
    const view: unknown = row && JSON.parse(row['view'] as string);
    if (this.#writes && view !== undefined) this.#recent.set(key, view); // no other connection writes the file
    return view;
  }

  *values(): IterableIterator<unknown> {
    for (const [, view] of this.rows()) yield JSON.parse(view);
  }

  /** Yields keys and views as they are stored, in the order of the keys, read in pages. */
  rows(): IterableIterator<[key: string, view: string]> {
    return this.#writtenFirst().rows();
  }

  find(query: ViewQuery): unknown[] {
    return this.#writtenFirst().find(query);
  }

  count(asked: Omit<ViewQuery, 'limit'>): number {
    return this.#writtenFirst().count(asked);
  }

  counts(equal: Readonly<Record<string, string>> = {}): ReadonlyMap<string, number> {
    return this.#writtenFirst().counts(equal);
  }

  /** Returns the counters as they are stored, each with all of its values. */
  countRows(): readonly unknown[] {
    return this.#writtenFirst().countRows();
  }

  /** Returns the corruption that SQLite finds in the file, as one sentence each. */
  damage(): readonly string[] {
    const found = this.#database.prepare('PRAGMA integrity_check(20)').all();
    return found.map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok');
  }

  /** Replaces the views in memory and moves the position to `last`; {@link save} writes both. */
  take(views: ReadonlyMap<string, unknown>, last: EventRef): void {
    for (const [key, view] of views) {
      this.#unwritten.take(key, view);
      if (view === undefined) this.#recent.delete(key);
      else this.#recent.set(key, view);
    }
    this.#unwritten.moveTo(last);
  }

  /** Writes all accepted changes, views and position in one transaction. */
  save(): void {
    const handed = this.handOver();
    if (!handed) return;
    try {
      markingDamage(this.file, () => this.readTwice(() => this.#writes?.write(handed.changes)));
      handed.written();
    } catch (error) {
      handed.notWritten();
      throw error;
    }
  }

  /** Returns the unwritten changes for another connection to write, or `undefined`. */
  handOver(): FlushBatch | undefined {
    return this.#unwritten.handOver();
  }

  /** Removes all views, the position and all that {@link addLookups} created. */
  clear(): void {
    try {
      markingDamage(this.file, () => this.readTwice(() => this.#writes?.clear()));
      this.#queries.lookupsChanged();
    } catch (error) {
      throw viewUnavailable(this, 'written', error);
    }
    this.#recent.clear();
    this.#unwritten.clear();
  }

  /** Starts a read transaction: until it is disposed of, all reads see one state. */
  snapshot(): Disposable {
    this.#database.exec('BEGIN');
    this.storedPosition(); // SQLite takes the snapshot at the first read
    return { [Symbol.dispose]: () => this.#database.exec('ROLLBACK') };
  }

  [Symbol.dispose](): void {
    if (!this.#database.isOpen) return;
    try {
      this.save();
    } catch (error) {
      if (!isSqliteError(error)) throw error; // unwritten changes are read from the log again
    } finally {
      this.#database.close();
    }
  }

  /** Writes changes, which queries only see when written. On a full disk queries see the previous state. */
  #writtenFirst(): ViewQueries {
    try {
      this.save();
    } catch (error) {
      if (!isDiskError(error)) throw error;
    }
    return this.#queries;
  }
}

/** Milliseconds to wait for another process that is writing, and maximum number of cached views. */
const [BUSY_MS, RECENT] = [5000, 5000];

type Statements = Record<'about' | 'get', StatementSync>;
function statementsOf(database: DatabaseSync): Statements {
  return {
    about: database.prepare('SELECT name, version, origin, position FROM about'),
    get: database.prepare('SELECT view FROM views WHERE key = ?'),
  };
}
