import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Position } from '../event-log/event-log.ts';
import type { TableChange, ViewStore, ViewTable } from './view-store.ts';

/** Views in one SQLite file: a table a projection, and the position of each. */
export class SqliteViewStore implements ViewStore {
  readonly #database: DatabaseSync;
  readonly #tables = new Map<string, SqliteViewTable>();

  /**
   * Opens the file, or makes it anew when it is missing, no database, or of another log.
   * @param origin names the log whose positions are kept.
   */
  static open(file: string, origin: string): SqliteViewStore {
    mkdirSync(path.dirname(file), { recursive: true });
    try {
      return new SqliteViewStore(file, origin);
    } catch {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
      return new SqliteViewStore(file, origin);
    }
  }

  private constructor(file: string, origin: string) {
    this.#database = new DatabaseSync(file, { timeout: 5000 });
    // NORMAL: a crash of the machine may take the last commits, never the file; they come again from the log.
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    this.#database.exec(`
      CREATE TABLE IF NOT EXISTS projections (name TEXT PRIMARY KEY, version INTEGER NOT NULL, position TEXT) STRICT;
      CREATE TABLE IF NOT EXISTS origin (name TEXT NOT NULL) STRICT;
    `);
    this.#beginUnlessOf(origin);
  }

  open({ name, version }: { readonly name: string; readonly version: number }): ViewTable {
    const known = this.#tables.get(name);
    if (known) return known;
    const stored = this.#database
      .prepare('SELECT version, position FROM projections WHERE name = ?')
      .get(name);
    if (stored?.['version'] !== version) this.#begin(name, version);
    const position =
      stored?.['version'] === version ? ((stored['position'] as Position | null) ?? undefined) : undefined;
    const table = new SqliteViewTable(this.#database, name, position);
    this.#tables.set(name, table);
    return table;
  }

  commit(changes: readonly TableChange[]): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      for (const { table, views, position } of changes) (table as SqliteViewTable).write(views, position);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #beginUnlessOf(origin: string): void {
    const stored = this.#database.prepare('SELECT name FROM origin').get();
    if (stored?.['name'] === origin) return;
    // Tables without a row in projections are made anew when they are opened.
    this.#database.exec('BEGIN IMMEDIATE; DELETE FROM projections; DELETE FROM origin');
    this.#database.prepare('INSERT INTO origin (name) VALUES (?)').run(origin);
    this.#database.exec('COMMIT');
  }

  #begin(name: string, version: number): void {
    this.#database.exec(`DROP TABLE IF EXISTS ${quoted(name)}`);
    this.#database.exec(
      `CREATE TABLE ${quoted(name)} (key TEXT PRIMARY KEY, view TEXT NOT NULL) STRICT, WITHOUT ROWID`,
    );
    this.#database
      .prepare('INSERT OR REPLACE INTO projections (name, version, position) VALUES (?, ?, NULL)')
      .run(name, version);
  }
}

class SqliteViewTable implements ViewTable {
  readonly name: string;
  #position: Position | undefined;
  readonly #statements: Record<
    'get' | 'values' | 'count' | 'put' | 'remove' | 'clear' | 'move',
    StatementSync
  >;

  constructor(database: DatabaseSync, name: string, position: Position | undefined) {
    this.name = name;
    this.#position = position;
    const table = quoted(name);
    this.#statements = {
      get: database.prepare(`SELECT view FROM ${table} WHERE key = ?`),
      values: database.prepare(`SELECT view FROM ${table} ORDER BY key`),
      count: database.prepare(`SELECT count(*) AS size FROM ${table}`),
      put: database.prepare(`INSERT OR REPLACE INTO ${table} (key, view) VALUES (?, ?)`),
      remove: database.prepare(`DELETE FROM ${table} WHERE key = ?`),
      clear: database.prepare(`DELETE FROM ${table}`),
      move: database.prepare('UPDATE projections SET position = ? WHERE name = ?'),
    };
  }

  get position(): Position | undefined {
    return this.#position;
  }

  get size(): number {
    return Number(this.#statements.count.get()?.['size']);
  }

  get(key: string): unknown {
    const row = this.#statements.get.get(key);
    return row && JSON.parse(row['view'] as string);
  }

  *values(): IterableIterator<unknown> {
    for (const row of this.#statements.values.all()) yield JSON.parse(row['view'] as string);
  }

  write(views: ReadonlyMap<string, unknown>, position: Position | undefined): void {
    if (position === undefined) this.#statements.clear.run();
    for (const [key, view] of views) {
      if (view === undefined) this.#statements.remove.run(key);
      else this.#statements.put.run(key, JSON.stringify(view));
    }
    this.#statements.move.run(position ?? null, this.name);
    this.#position = position;
  }
}

function quoted(name: string): string {
  return `"view ${name.replaceAll('"', '""')}"`;
}
