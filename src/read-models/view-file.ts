import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Position } from '../event-log/event-log.ts';
import { RecentlyUsed } from '../recently-used.ts';
import { openSqliteToRead } from '../sqlite/reading.ts';
import { files } from '../tools/files.ts';
import { markingDamage, markOfDamage, removeViewFile } from './remove-view-file.ts';
import { isOfSqlite, isOfTheDisk, isOfTheFile } from './sqlite-fault.ts';
import { type HandedOver, UnwrittenViews } from './unwritten-views.ts';
import { ViewQueries } from './view-queries.ts';
import { addLookups, prepareViewFile } from './view-schema.ts';
import type { Seen, TableShape, ViewQuery, ViewTable } from './view-store.ts';
import { viewUnavailable } from './view-unavailable.ts';
import { ViewWrites } from './view-writes.ts';

/** Where a file's positions are from, and whose views it has. */
export type ViewFileOptions = TableShape & { readonly origin: string };

/** One generation of one view: a SQLite file, written by one process. */
export class ViewFile implements ViewTable, Disposable {
  readonly name: string;
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly shape: TableShape;
  readonly #writes: ViewWrites | undefined;
  readonly #queries: ViewQueries;
  /** As they are in memory: most are changed again soon, and read. */
  readonly #recent = new RecentlyUsed<unknown>(RECENT);
  readonly #unwritten: UnwrittenViews;

  /**
   * Opens the file, or makes it anew when it is missing, damaged, of another log or of another version.
   * @throws {ViewUnavailable} it cannot be opened now: what is there stays.
   */
  static open(file: string, options: ViewFileOptions): ViewFile {
    files.mkdirSync(path.dirname(file), { recursive: true });
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

  /** Opens what another process has built; makes and removes nothing. @throws {ViewUnavailable} */
  static openBuilt(file: string, options: ViewFileOptions): ViewFile {
    try {
      return new ViewFile(file, options);
    } catch (error) {
      throw viewUnavailable({ name: options.name, file }, 'opened', error);
    }
  }

  static #ifReadable(file: string, options: ViewFileOptions): ViewFile | undefined {
    try {
      return new ViewFile(file, options);
    } catch (error) {
      if (isOfTheFile(error)) return undefined;
      throw error;
    }
  }

  /** For looking at what another process writes. @throws when it is missing or no such file. */
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
      this.#writes = readOnly ? undefined : new ViewWrites(this.#database);
      this.#queries = new ViewQueries(this.#database, this.name);
      this.#unwritten = new UnwrittenViews(this.storedPosition());
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Before views are looked up by anything but their key; until then they are filled the quicker. */
  addLookups(): void {
    try {
      this.save();
      markingDamage(this.file, () => addLookups(this.#database, this.shape));
      this.lookupsAdded();
    } catch (error) {
      throw viewUnavailable(this, 'written', error);
    }
  }

  /** Another connection has added them. */
  lookupsAdded(): void {
    this.#queries.lookupsChanged();
  }

  isOf({ name, version, origin }: ViewFileOptions): boolean {
    const about = this.about();
    return about?.name === name && about.version === version && about.origin === origin;
  }

  /** What the file says of itself; `undefined` when it says nothing. */
  about(): { readonly name: string; readonly version: number; readonly origin: string } | undefined {
    return this.#statements.about.get() as ReturnType<ViewFile['about']>; // the table is STRICT
  }

  get position(): Position | undefined {
    return this.#unwritten.position;
  }

  get queried(): Position | undefined {
    this.#saveIfRoom();
    return this.#unwritten.written;
  }

  /** The position in the file, which another process may have moved. */
  storedPosition(): Position | undefined {
    return (this.#statements.about.get()?.['position'] as Position | null) ?? undefined;
  }

  get lastSeen(): Seen | undefined {
    return this.#unwritten.last ?? this.storedLastSeen();
  }

  /** As it is in the file; that of an older release has no such column. */
  storedLastSeen(): Seen | undefined {
    const stored = this.#database.prepare('SELECT * FROM about').get()?.['last_seen'];
    return typeof stored === 'string' ? (JSON.parse(stored) as Seen) : undefined; // as ViewWrites writes it
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
    if (this.#writes && view !== undefined) this.#recent.set(key, view); // nobody else writes the file
    return view;
  }

  *values(): IterableIterator<unknown> {
    for (const [, view] of this.rows()) yield JSON.parse(view);
  }

  /** Keys and views as they are stored, in the order of the keys, read in pages. */
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

  /** The counts as they are stored, each with all of its values. */
  countRows(): readonly unknown[] {
    return this.#writtenFirst().countRows();
  }

  /** What SQLite finds wrong with the file, a sentence each. */
  damage(): readonly string[] {
    const found = this.#database.prepare('PRAGMA integrity_check(20)').all();
    return found.map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok');
  }

  /** From now on the views are these, and the log is in the table up to `last`; {@link save} writes it. */
  take(views: ReadonlyMap<string, unknown>, last: Seen): void {
    for (const [key, view] of views) {
      this.#unwritten.take(key, view);
      if (view === undefined) this.#recent.delete(key);
      else this.#recent.set(key, view);
    }
    this.#unwritten.moveTo(last);
  }

  /** Writes what was taken, views and position in one transaction. */
  save(): void {
    const handed = this.handOver();
    if (!handed) return;
    try {
      markingDamage(this.file, () => this.#writes?.write(handed.changes));
      handed.written();
    } catch (error) {
      handed.notWritten();
      throw error;
    }
  }

  /** What was taken, for another connection to write; `undefined` when nothing was. */
  handOver(): HandedOver | undefined {
    return this.#unwritten.handOver();
  }

  /** Nothing is in the table any more, as before the first event, nor what {@link addLookups} has made. */
  clear(): void {
    try {
      markingDamage(this.file, () => this.#writes?.clear());
      this.#queries.lookupsChanged();
    } catch (error) {
      throw viewUnavailable(this, 'written', error);
    }
    this.#recent.clear();
    this.#unwritten.clear();
  }

  /** Until it is disposed of, everything read is of one moment, whatever other processes write. */
  snapshot(): Disposable {
    this.#database.exec('BEGIN');
    this.storedPosition(); // the snapshot is taken at the first read
    return { [Symbol.dispose]: () => this.#database.exec('ROLLBACK') };
  }

  [Symbol.dispose](): void {
    if (!this.#database.isOpen) return;
    try {
      this.save();
    } catch (error) {
      if (!isOfSqlite(error)) throw error; // what is not written comes again from the log
    } finally {
      this.#database.close();
    }
  }

  /** Before a query, which only sees what is written. On a full disk it sees what was there before. */
  #saveIfRoom(): void {
    try {
      this.save();
    } catch (error) {
      if (!isOfTheDisk(error)) throw error;
    }
  }

  #writtenFirst(): ViewQueries {
    this.#saveIfRoom();
    return this.#queries;
  }
}

/** How long another process may write. */
const BUSY_MS = 5000;
/** Views that are kept in memory. */
const RECENT = 5000;

type Statements = Record<'about' | 'get', StatementSync>;

function statementsOf(database: DatabaseSync): Statements {
  return {
    about: database.prepare('SELECT name, version, origin, position FROM about'),
    get: database.prepare('SELECT view FROM views WHERE key = ?'),
  };
}
