import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../../tools/sqlite/transaction.ts';
import type { ViewQuery, ViewSchema } from '../view-store.ts';

const VIEWS = 'CREATE TABLE views (key TEXT PRIMARY KEY, view TEXT NOT NULL) STRICT';

/**
 * Creates the tables of a new file: views, and the metadata of the file. {@link addLookups} adds indexes and
 * counters.
 */
export function prepareViewFile(
  database: DatabaseSync,
  { name, version, origin }: ViewSchema & { readonly origin: string },
): void {
  // NORMAL: a crash of the machine may lose the last commits, but does not corrupt the file. Lost changes are
  // read from the log again.
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

/** Adds the column for the last applied event; files of older releases only have the position. */
function addLastSeen(database: DatabaseSync): void {
  const columns = database.prepare("SELECT 1 FROM pragma_table_info('about') WHERE name = 'last_seen'");
  if (columns.get() === undefined) database.exec('ALTER TABLE about ADD COLUMN last_seen TEXT');
}

/** Drops all views with their indexes and counters. As in a new file, refilling is faster without them. */
export function dropViews(database: DatabaseSync): void {
  database.exec(`DROP TABLE views; DROP TABLE IF EXISTS counts; ${VIEWS}`);
}

/** Creates the missing indexes and counters: over many views at once far faster than one by one. */
export function addLookups(database: DatabaseSync, { indexes = [], countedBy = [] }: ViewSchema): void {
  inTransaction(database, () => {
    for (const fields of indexes) {
      const expressions = fields.map((field) => expression(field)).join();
      database.exec(`CREATE INDEX IF NOT EXISTS ${indexName(fields)} ON views (${expressions})`);
    }
    if (countedBy.length > 0 && !hasTable(database, 'counts')) database.exec(countsOf(countedBy));
  });
  database.exec('PRAGMA wal_checkpoint'); // here several files are checkpointed in parallel; on close it would be one by one
}

/** Returns the fields by which the views of a file are counted. */
export function countedFields(database: DatabaseSync): readonly string[] {
  const columns = database.prepare("SELECT name FROM pragma_table_info('counts')").all();
  return columns.map(({ name }) => String(name)).filter((name) => name !== 'count');
}

/** Returns the part of a query after `FROM`, and its parameters. */
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

/**
 * Returns the SQL that creates the counter table, fills it, and adds triggers. The triggers update the
 * counters in the transaction of every write.
 */
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
