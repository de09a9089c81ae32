import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../sqlite/transaction.ts';
import type { TableShape, ViewQuery } from './view-store.ts';

const VIEWS = 'CREATE TABLE views (key TEXT PRIMARY KEY, view TEXT NOT NULL) STRICT';

/** Makes the tables of a new file: views, and what the file is about. They are looked up by more with {@link addLookups}. */
export function prepareViewFile(
  database: DatabaseSync,
  { name, version, origin }: TableShape & { readonly origin: string },
): void {
  // NORMAL: a crash of the machine may take the last commits, never the file; they come again from the log.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000');
  if (hasTable(database, 'about')) return addLastSeen(database);
  database.exec('BEGIN IMMEDIATE');
  database.exec(`
    ${VIEWS};
    CREATE TABLE about (name TEXT NOT NULL, version INTEGER NOT NULL, origin TEXT NOT NULL, position TEXT, last_seen TEXT) STRICT;
  `);
  database.prepare('INSERT INTO about (name, version, origin) VALUES (?, ?, ?)').run(name, version, origin);
  database.exec('COMMIT');
}

/** Files of older releases only have the position. */
function addLastSeen(database: DatabaseSync): void {
  const columns = database.prepare("SELECT 1 FROM pragma_table_info('about') WHERE name = 'last_seen'");
  if (columns.get() === undefined) database.exec('ALTER TABLE about ADD COLUMN last_seen TEXT');
}

/** Views go with all they are looked up by, at once: as in a new file, they come again quicker without. */
export function dropViews(database: DatabaseSync): void {
  database.exec(`DROP TABLE views; DROP TABLE IF EXISTS counts; ${VIEWS}`);
}

/** Makes the indexes and counts that are not there yet: over many views at once far quicker than one by one. */
export function addLookups(database: DatabaseSync, { indexes = [], countedBy = [] }: TableShape): void {
  inTransaction(database, () => {
    for (const fields of indexes) {
      const expressions = fields.map((field) => expression(field)).join();
      database.exec(`CREATE INDEX IF NOT EXISTS ${indexName(fields)} ON views (${expressions})`);
    }
    if (countedBy.length > 0 && !hasTable(database, 'counts')) database.exec(countsOf(countedBy));
  });
  database.exec('PRAGMA wal_checkpoint'); // here, where several files have it done at once, not as they are closed
}

/** The fields by which the views of a file are counted. */
export function countedFields(database: DatabaseSync): readonly string[] {
  const columns = database.prepare("SELECT name FROM pragma_table_info('counts')").all();
  return columns.map(({ name }) => String(name)).filter((name) => name !== 'count');
}

/** Which views a query asks for, as it stands behind `FROM`, and the values in it. */
export function viewsAskedFor({ index, equal = {}, from, upTo }: Omit<ViewQuery, 'limit'>): {
  readonly sql: string;
  readonly values: readonly (string | number)[];
} {
  const conditions = Object.keys(equal).map((field) => `${expression(field)} = ?`);
  if (from) conditions.push(`${expression(from.field)} >= ?`);
  if (upTo) conditions.push(`${expression(upTo.field)} <= ?`);
  const bounds = [from, upTo].flatMap((bound) => (bound ? [bound.value] : []));
  return {
    sql: `views ${index ? `INDEXED BY ${indexName(index)}` : ''} WHERE ${conditions.join(' AND ') || 'TRUE'}`,
    values: [...Object.values(equal), ...bounds],
  };
}

export function expression(field: string, view = 'view'): string {
  if (!/^[A-Za-z]+$/.test(field)) throw new TypeError(`${field} is no field of a view.`);
  return `${view} ->> '${field}'`;
}

function indexName(fields: readonly string[]): string {
  return `"${fields.join(' ')}"`;
}

/** Triggers: from then on counted in the same transaction, however a view is written. */
function countsOf(fields: readonly string[]): string {
  const [before, after] = [valuesOf(fields, 'OLD.view'), valuesOf(fields, 'NEW.view')];
  const names = fields.map((field) => `"${field}"`).join();
  const more = `INSERT INTO counts VALUES (${after}, 1) ON CONFLICT DO UPDATE SET count = count + 1;`;
  const less = `UPDATE counts SET count = count - 1 WHERE (${names}) = (${before});`;
  return `
    CREATE TABLE counts (${fields.map((field) => `"${field}" TEXT NOT NULL`).join()}, count INTEGER NOT NULL, PRIMARY KEY (${names})) STRICT, WITHOUT ROWID;
    INSERT INTO counts SELECT ${valuesOf(fields, 'view')}, count(*) FROM views GROUP BY ${fields.map((_, index) => index + 1).join()};
    CREATE TRIGGER counted_in AFTER INSERT ON views BEGIN ${more} END;
    CREATE TRIGGER counted_out AFTER DELETE ON views BEGIN ${less} END;
    CREATE TRIGGER counted_anew AFTER UPDATE OF view ON views WHEN (${before}) <> (${after}) BEGIN ${less} ${more} END;
  `;
}

function valuesOf(fields: readonly string[], view: string): string {
  return fields.map((field) => expression(field, view)).join(', ');
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined;
}
