import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Position } from '../event-log/event-log.ts';
import { RecentViews } from './recent-views.ts';
import { addLookups, countedFields, expression, prepareViewFile, viewsAskedFor } from './view-schema.ts';
import type { TableShape, ViewQuery, ViewTable } from './view-store.ts';

/** Where a file's positions are from, and whose views it has. */
export type ViewFileOptions = TableShape & { readonly origin: string };

/** One generation of one view: a SQLite file, written by one process. */
export class ViewFile implements ViewTable, Disposable {
  readonly name: string;
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #shape: TableShape;
  #countedBy: readonly string[];
  /** By their text: a query comes again and again in few forms. */
  readonly #queries = new Map<string, StatementSync>();
  readonly #recent = new RecentViews();
  #position: Position | undefined;

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
    this.#shape = options;
    this.#database = new DatabaseSync(file, { timeout: 5000, readOnly });
    try {
      if (!readOnly) prepareViewFile(this.#database, options);
      this.#statements = statementsOf(this.#database);
      this.#countedBy = countedFields(this.#database);
      this.#position = this.storedPosition();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Before views are looked up by anything but their key; until then they are filled the quicker. */
  addLookups(): void {
    this.#inTransaction(() => addLookups(this.#database, this.#shape));
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

  get size(): number {
    return Number(this.#statements.size.get()?.['size']);
  }

  get(key: string): unknown {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const row = this.#statements.get.get(key);
    return row && JSON.parse(row['view'] as string);
  }

  *values(): IterableIterator<unknown> {
    for (const [, view] of this.rows()) yield JSON.parse(view);
  }

  /** Keys and views as they are stored, in the order of the keys, read in pages. */
  *rows(): IterableIterator<[key: string, view: string]> {
    for (let after = ''; ; ) {
      const page = this.#statements.page.all(after) as { key: string; view: string }[];
      for (const { key, view } of page) yield [key, view];
      if (page.length < PAGE) return;
      after = (page.at(-1) as { key: string }).key;
    }
  }

  find({ orderBy, descending = false, limit, offset = 0, ...asked }: ViewQuery): unknown[] {
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
    const { sql, values } = viewsAskedFor(asked);
    return Number(this.#query(`SELECT count(*) AS count FROM ${sql}`).get(...values)?.['count']);
  }

  counts(equal: Readonly<Record<string, string>> = {}): ReadonlyMap<string, number> {
    const last = this.#countedBy.at(-1);
    if (last === undefined) return new Map();
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
    const order = this.#countedBy.map((field) => `"${field}"`).join();
    return this.#query(`SELECT * FROM counts WHERE count > 0 ORDER BY ${order}`).all();
  }

  /** What SQLite finds wrong with the file, a sentence each. */
  damage(): readonly string[] {
    const found = this.#database.prepare('PRAGMA integrity_check(20)').all();
    return found.map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok');
  }

  write(views: ReadonlyMap<string, unknown>, position: Position | undefined): void {
    this.#inTransaction(() => {
      if (position === undefined) this.#clear();
      for (const [key, view] of views) {
        if (view === undefined) this.#statements.remove.run(key);
        else this.#statements.put.run(key, JSON.stringify(view));
      }
      this.#statements.move.run(position ?? null);
    });
    for (const [key, view] of views) this.#recent.set(key, view);
    this.#position = position;
  }

  /** Where the log is, in memory only: the events up to here changed nothing in this table. */
  passed(position: Position | undefined): void {
    this.#position = position;
  }

  /** Until it is disposed of, everything read is of one moment, whatever other processes write. */
  snapshot(): Disposable {
    this.#database.exec('BEGIN');
    this.storedPosition(); // the snapshot is taken at the first read
    return { [Symbol.dispose]: () => this.#database.exec('ROLLBACK') };
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
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

  #inTransaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK'); // after some faults SQLite has done so
      throw error;
    }
  }

  #clear(): void {
    this.#database.exec('DELETE FROM views');
    if (this.#countedBy.length > 0) this.#database.exec('DELETE FROM counts');
    this.#recent.clear();
  }
}

export function removeViewFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
}

const PAGE = 500;

type Statements = Record<'about' | 'size' | 'get' | 'page' | 'put' | 'remove' | 'move', StatementSync>;

function statementsOf(database: DatabaseSync): Statements {
  return {
    about: database.prepare('SELECT name, version, origin, position FROM about'),
    size: database.prepare('SELECT count(*) AS size FROM views'),
    get: database.prepare('SELECT view FROM views WHERE key = ?'),
    page: database.prepare(`SELECT key, view FROM views WHERE key > ? ORDER BY key LIMIT ${PAGE}`),
    put: database.prepare(
      'INSERT INTO views (key, view) VALUES (?, ?) ON CONFLICT DO UPDATE SET view = excluded.view',
    ),
    remove: database.prepare('DELETE FROM views WHERE key = ?'),
    move: database.prepare('UPDATE about SET position = ?'),
  };
}
