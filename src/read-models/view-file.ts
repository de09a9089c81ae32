import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Position } from '../event-log/event-log.ts';
import { RecentViews } from './recent-views.ts';
import type { TableShape, ViewQuery, ViewTable } from './view-store.ts';

/** Where a file's positions are from, and whose views it has. */
export type ViewFileOptions = TableShape & { readonly origin: string };

/** One generation of one view: a SQLite file, written by one process. */
export class ViewFile implements ViewTable, Disposable {
  readonly name: string;
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
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
    this.#database = new DatabaseSync(file, { timeout: 5000, readOnly });
    try {
      if (!readOnly) prepare(this.#database, options);
      this.#statements = statementsOf(this.#database);
      this.#position = this.storedPosition();
    } catch (error) {
      this.#database.close();
      throw error;
    }
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

  find({ equal = {}, from, orderBy, descending = false, limit, offset = 0 }: ViewQuery): unknown[] {
    const conditions = Object.keys(equal).map((field) => `${expression(field)} = ?`);
    if (from) conditions.push(`${expression(from.field)} >= ?`);
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    const order = orderBy ? `ORDER BY ${expression(orderBy)} ${descending ? 'DESC' : 'ASC'}` : '';
    const values = [...Object.values(equal), ...(from ? [from.value] : []), limit, offset];
    const rows = this.#database
      .prepare(`SELECT view FROM views ${where} ${order} LIMIT ? OFFSET ?`)
      .all(...values);
    return rows.map((row) => JSON.parse(row['view'] as string));
  }

  counts(): ReadonlyMap<string, number> {
    return new Map(this.#statements.counts.all().map((row) => [String(row['value']), Number(row['count'])]));
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

  #inTransaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #clear(): void {
    this.#database.exec('DELETE FROM views; DELETE FROM counts');
    this.#recent.clear();
  }
}

export function removeViewFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
}

const PAGE = 500;

type Statements = Record<
  'about' | 'size' | 'get' | 'page' | 'counts' | 'put' | 'remove' | 'move',
  StatementSync
>;

function prepare(
  database: DatabaseSync,
  { name, version, origin, indexes = [], countedBy }: ViewFileOptions,
): void {
  // NORMAL: a crash of the machine may take the last commits, never the file; they come again from the log.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'about'").get()) return;
  database.exec('BEGIN IMMEDIATE');
  database.exec(`
    CREATE TABLE views (key TEXT PRIMARY KEY, view TEXT NOT NULL) STRICT;
    CREATE TABLE counts (value TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT;
    CREATE TABLE about (name TEXT NOT NULL, version INTEGER NOT NULL, origin TEXT NOT NULL, position TEXT) STRICT;
    ${indexes.map((fields) => `CREATE INDEX "${fields.join(' ')}" ON views (${fields.map((field) => expression(field)).join()});`).join('\n')}
    ${countedBy === undefined ? '' : counting(countedBy)}
  `);
  database.prepare('INSERT INTO about (name, version, origin) VALUES (?, ?, ?)').run(name, version, origin);
  database.exec('COMMIT');
}

/** Triggers: counted in the same transaction, however a view is written. */
function counting(field: string): string {
  const [before, after] = [expression(field, 'OLD.view'), expression(field, 'NEW.view')];
  const more = `INSERT INTO counts VALUES (${after}, 1) ON CONFLICT DO UPDATE SET count = count + 1;`;
  const less = `UPDATE counts SET count = count - 1 WHERE value = ${before};`;
  return `
    CREATE TRIGGER counted_in AFTER INSERT ON views BEGIN ${more} END;
    CREATE TRIGGER counted_out AFTER DELETE ON views BEGIN ${less} END;
    CREATE TRIGGER counted_anew AFTER UPDATE OF view ON views WHEN ${before} <> ${after} BEGIN ${less} ${more} END;
  `;
}

function expression(field: string, view = 'view'): string {
  if (!/^[A-Za-z]+$/.test(field)) throw new TypeError(`${field} is no field of a view.`);
  return `${view} ->> '${field}'`;
}

function statementsOf(database: DatabaseSync): Statements {
  return {
    about: database.prepare('SELECT name, version, origin, position FROM about'),
    size: database.prepare('SELECT count(*) AS size FROM views'),
    get: database.prepare('SELECT view FROM views WHERE key = ?'),
    page: database.prepare(`SELECT key, view FROM views WHERE key > ? ORDER BY key LIMIT ${PAGE}`),
    counts: database.prepare('SELECT value, count FROM counts WHERE count > 0'),
    put: database.prepare(
      'INSERT INTO views (key, view) VALUES (?, ?) ON CONFLICT DO UPDATE SET view = excluded.view',
    ),
    remove: database.prepare('DELETE FROM views WHERE key = ?'),
    move: database.prepare('UPDATE about SET position = ?'),
  };
}
