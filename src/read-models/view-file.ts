import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Position } from '../event-log/event-log.ts';
import { RecentlyUsed } from '../recently-used.ts';
import { isOfTheDisk } from './disk-fault.ts';
import { addLookups, countedFields, expression, prepareViewFile, viewsAskedFor } from './view-schema.ts';
import type { TableShape, ViewQuery, ViewTable } from './view-store.ts';
import { toChanges, type ViewChanges, ViewWrites } from './view-writes.ts';

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
  #countedBy: readonly string[];
  /** By their text: a query comes again and again in few forms. */
  readonly #queries = new Map<string, StatementSync>();
  /** As they are in memory: most are changed again soon, and read. */
  readonly #recent = new RecentlyUsed<unknown>(RECENT);
  /** Taken, but not written yet. */
  #unsaved = new Map<string, unknown>();
  /** Handed over to whoever writes it. */
  #underWay = new Map<string, unknown>();
  #position: Position | undefined;
  #savedPosition: Position | undefined;

  /** Opens the file, or makes it anew when it is missing, damaged, of another log or of another version. */
  static open(file: string, options: ViewFileOptions): ViewFile {
    mkdirSync(path.dirname(file), { recursive: true });
    try {
      const found = new ViewFile(file, options);
      if (found.isOf(options)) return found;
      found[Symbol.dispose]();
    } catch {
      // What cannot be read is built again.
    }
    removeViewFile(file);
    return new ViewFile(file, options);
  }

  /** For looking at what another process writes. @throws when it is missing or no such file. */
  static openReadOnly(file: string, { name }: { readonly name: string }): ViewFile {
    return new ViewFile(file, { name, version: 0, origin: '' }, true);
  }

  private constructor(file: string, options: ViewFileOptions, readOnly = false) {
    this.name = options.name;
    this.file = file;
    this.shape = options;
    this.#database = new DatabaseSync(file, { timeout: 5000, readOnly });
    try {
      if (!readOnly) prepareViewFile(this.#database, options);
      this.#statements = statementsOf(this.#database);
      this.#writes = readOnly ? undefined : new ViewWrites(this.#database);
      this.#countedBy = countedFields(this.#database);
      this.#position = this.storedPosition();
      this.#savedPosition = this.#position;
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Before views are looked up by anything but their key; until then they are filled the quicker. */
  addLookups(): void {
    this.save();
    addLookups(this.#database, this.shape);
    this.lookupsAdded();
  }

  /** Another connection has added them. */
  lookupsAdded(): void {
    this.#countedBy = countedFields(this.#database);
  }

  isOf({ name, version, origin }: ViewFileOptions): boolean {
    const about = this.#statements.about.get();
    return about?.['name'] === name && about['version'] === version && about['origin'] === origin;
  }

  get position(): Position | undefined {
    return this.#position;
  }

  /** The position in the file, which another process may have moved. */
  storedPosition(): Position | undefined {
    return (this.#statements.about.get()?.['position'] as Position | null) ?? undefined;
  }

  get unsaved(): number {
    return this.#unsaved.size;
  }

  get size(): number {
    this.#saveIfRoom();
    return Number(this.#statements.size.get()?.['size']);
  }

  get(key: string): unknown {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    for (const views of [this.#unsaved, this.#underWay]) if (views.has(key)) return views.get(key);
    const row = this.#statements.get.get(key);
    const view: unknown = row && JSON.parse(row['view'] as string);
    if (this.#writes && view !== undefined) this.#recent.set(key, view); // nobody else writes the file
    return view;
  }

  *values(): IterableIterator<unknown> {
    for (const [, view] of this.rows()) yield JSON.parse(view);
  }

  /** Keys and views as they are stored, in the order of the keys, read in pages. */
  *rows(): IterableIterator<[key: string, view: string]> {
    this.#saveIfRoom();
    for (let after = ''; ; ) {
      const page = this.#statements.page.all(after) as { key: string; view: string }[];
      for (const { key, view } of page) yield [key, view];
      if (page.length < PAGE) return;
      after = (page.at(-1) as { key: string }).key;
    }
  }

  find({ orderBy, descending = false, limit, offset = 0, ...asked }: ViewQuery): unknown[] {
    this.#saveIfRoom();
    const { sql, values } = viewsAskedFor(asked);
    const order = orderBy ? `ORDER BY ${expression(orderBy)} ${descending ? 'DESC' : 'ASC'}` : '';
    const rows = this.#query(`SELECT view FROM ${sql} ${order} LIMIT ? OFFSET ?`).all(
      ...values,
      limit,
      offset,
    );
    return rows.map((row) => JSON.parse(row['view'] as string));
  }

  count(asked: Omit<ViewQuery, 'limit'>): number {
    this.#saveIfRoom();
    const { sql, values } = viewsAskedFor(asked);
    return Number(this.#query(`SELECT count(*) AS count FROM ${sql}`).get(...values)?.['count']);
  }

  counts(equal: Readonly<Record<string, string>> = {}): ReadonlyMap<string, number> {
    const last = this.#countedBy.at(-1);
    if (last === undefined) return new Map();
    this.#saveIfRoom();
    const fields = Object.keys(equal).map((field) => this.#counted(field));
    const where = fields.length > 0 ? `WHERE ${fields.map((field) => `"${field}" = ?`).join(' AND ')}` : '';
    const rows = this.#query(
      `SELECT "${last}" AS value, sum(count) AS count FROM counts ${where} GROUP BY value HAVING sum(count) > 0`,
    ).all(...Object.values(equal));
    return new Map(rows.map((row) => [String(row['value']), Number(row['count'])]));
  }

  /** The counts as they are stored, each with all of its values. */
  countRows(): readonly unknown[] {
    if (this.#countedBy.length === 0) return [];
    this.#saveIfRoom();
    const order = this.#countedBy.map((field) => `"${field}"`).join();
    return this.#query(`SELECT * FROM counts WHERE count > 0 ORDER BY ${order}`).all();
  }

  /** What SQLite finds wrong with the file, a sentence each. */
  damage(): readonly string[] {
    const found = this.#database.prepare('PRAGMA integrity_check(20)').all();
    return found.map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok');
  }

  /** From now on the views are these, and the log is in the table up to `position`; {@link save} writes it. */
  take(views: ReadonlyMap<string, unknown>, position: Position): void {
    for (const [key, view] of views) {
      this.#unsaved.set(key, view);
      if (view === undefined) this.#recent.delete(key);
      else this.#recent.set(key, view);
    }
    this.#position = position;
  }

  /** Writes what was taken, views and position in one transaction. */
  save(): void {
    if (this.#position === this.#savedPosition) return;
    this.#writes?.write(toChanges(this.#unsaved, this.#position));
    this.#unsaved = new Map();
    this.#savedPosition = this.#position;
  }

  /** What was taken, for another connection to write, which tells when it has; not before it has written what it has. */
  handOver(): { readonly changes: ViewChanges | undefined; readonly written: () => void } {
    const [views, position] = [this.#unsaved, this.#position];
    if (position === this.#savedPosition) return { changes: undefined, written: () => undefined };
    [this.#underWay, this.#unsaved] = [views, new Map()];
    const written = () => {
      this.#underWay = new Map();
      this.#savedPosition = position;
    };
    return { changes: toChanges(views, position), written };
  }

  /** Nothing is in the table any more, as before the first event. */
  clear(): void {
    this.#writes?.clear(this.#countedBy.length > 0 ? ['counts'] : []);
    this.#recent.clear();
    this.#unsaved.clear();
    [this.#position, this.#savedPosition] = [undefined, undefined];
  }

  /** Until it is disposed of, everything read is of one moment, whatever other processes write. */
  snapshot(): Disposable {
    this.#database.exec('BEGIN');
    this.storedPosition(); // the snapshot is taken at the first read
    return { [Symbol.dispose]: () => this.#database.exec('ROLLBACK') };
  }

  [Symbol.dispose](): void {
    if (!this.#database.isOpen) return;
    this.#saveIfRoom();
    this.#database.close();
  }

  /** Before a query, which only sees what is written. On a full disk it sees what was there before. */
  #saveIfRoom(): void {
    try {
      this.save();
    } catch (error) {
      if (!isOfTheDisk(error)) throw error;
    }
  }

  #query(sql: string): StatementSync {
    const known = this.#queries.get(sql) ?? this.#database.prepare(sql);
    this.#queries.set(sql, known);
    return known;
  }

  #counted(field: string): string {
    if (this.#countedBy.includes(field)) return field;
    throw new TypeError(`The view ${this.name} is not counted by ${field}.`);
  }
}

export function removeViewFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
}

const PAGE = 500;
/** Views that are kept in memory. */
const RECENT = 5000;

type Statements = Record<'about' | 'size' | 'get' | 'page', StatementSync>;

function statementsOf(database: DatabaseSync): Statements {
  return {
    about: database.prepare('SELECT name, version, origin, position FROM about'),
    size: database.prepare('SELECT count(*) AS size FROM views'),
    get: database.prepare('SELECT view FROM views WHERE key = ?'),
    page: database.prepare(`SELECT key, view FROM views WHERE key > ? ORDER BY key LIMIT ${PAGE}`),
  };
}
