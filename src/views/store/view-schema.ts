import type { DatabaseSync } from 'node:sqlite';
import { clock } from '../../tools/clock.ts';
import { assertWritable } from '../../tools/sqlite/assert-writable.ts';
import { inTransaction } from '../../tools/sqlite/transaction.ts';
import type { ViewSchema } from '../projection.ts';

/** Prepares a connection that writes, and creates the metadata of a new file; {@link createView} adds views. */
export function prepareViewFile(database: DatabaseSync, origin: string): void {
  // NORMAL: a crash of the machine may lose the last commits, but does not corrupt the file. Lost changes are
  // read from the log again.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000');
  if (hasTable(database, 'about')) return assertWritable(database, 'about');
  inTransaction(database, () => {
    database.exec(`
      CREATE TABLE about (origin TEXT NOT NULL, created TEXT NOT NULL, last_seen TEXT) STRICT;
      CREATE TABLE view_versions (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
    `);
    const created = clock.date().toISOString();
    database.prepare('INSERT INTO about (origin, created) VALUES (?, ?)').run(origin, created);
  });
}

/**
 * Creates the table of a view. The fields of its indexes and counters are columns, so that a value is parsed once for all
 * of them. {@link addLookups} adds indexes and counters.
 */
export function createView(database: DatabaseSync, schema: ViewSchema): void {
  const { name, version, indexes = [], countedBy = [] } = schema;
  const columns = [...new Set([...indexes.flat(), ...countedBy])].map(
    (field) => `${quoted(field)} ANY AS (${expression(field)}) STORED, `,
  );
  database.exec(
    `CREATE TABLE ${quoted(name)} (key TEXT PRIMARY KEY, ${columns.join('')}view TEXT NOT NULL) STRICT`,
  );
  database.prepare('INSERT INTO view_versions (name, version) VALUES (?, ?)').run(name, version);
}

export function versionOf(database: DatabaseSync, view: string): number | undefined {
  const row = database.prepare('SELECT version FROM view_versions WHERE name = ?').get(view);
  return row?.['version'] as number | undefined; // STRICT
}

/** Drops a view with its indexes and counters. As in a new file, refilling is faster without them. */
export function dropView(database: DatabaseSync, name: string): void {
  const indexes = ['texts', 'ids'] as const;
  const lookups = LOOKUPS.map((kind) => lookupTable(name, kind));
  for (const kind of indexes) database.exec(`DROP TRIGGER IF EXISTS ${indexedBy(name, kind)}`);
  for (const table of [quoted(name), ...lookups, ...indexes.map((kind) => toIndex(name, kind))])
    database.exec(`DROP TABLE IF EXISTS ${table}`);
  database.prepare('DELETE FROM view_versions WHERE name = ?').run(name);
}

/** Creates the missing indexes and counters: over many values at once far faster than one by one. */
export function addLookups(database: DatabaseSync, schemas: readonly ViewSchema[]): void {
  database.exec('PRAGMA temp_store = FILE'); // where the values of a large view are sorted
  try {
    inTransaction(database, () => addMissing(database, schemas));
  } finally {
    undoInMemory(database);
  }
}

/**
 * Lets SQLite record in memory how to undo a statement, which it does for those with triggers. In a temporary file, it
 * writes each page that the statement changes twice more.
 */
export function undoInMemory(database: DatabaseSync): void {
  database.exec('PRAGMA temp_store = MEMORY');
}

function addMissing(database: DatabaseSync, schemas: readonly ViewSchema[]): void {
  for (const { name, indexes = [], countedBy = [], texts = [], labels, ids } of schemas) {
    for (const fields of indexes) {
      const columns = fields.map(quoted).join();
      database.exec(`CREATE INDEX IF NOT EXISTS ${indexOf(name, fields)} ON ${quoted(name)} (${columns})`);
    }
    if (countedBy.length > 0 && !hasTable(database, `${name} counts`))
      database.exec(counterSql(name, countedBy));
    if (texts.length > 0 && !hasTable(database, `${name} texts`))
      database.exec(textSql(name, 'texts', texts, "tokenize = 'trigram'"));
    if (ids !== undefined && !hasTable(database, `${name} ids`))
      database.exec(textSql(name, 'ids', [ids], "tokenize = 'ascii', detail = none"));
    if (labels !== undefined && !hasTable(database, `${name} labels`)) database.exec(labelSql(name, labels));
  }
}

/** Returns the fields of a view of the file that are columns of its table. */
export function storedFields(database: DatabaseSync, name: string): ReadonlySet<string> {
  const columns = database.prepare('SELECT name FROM pragma_table_xinfo(?) WHERE hidden > 0').all(name);
  return new Set(columns.map((column) => String(column['name'])));
}

export function countedFields(database: DatabaseSync, name: string): readonly string[] {
  const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(`${name} counts`);
  return columns.map((column) => String(column['name'])).filter((column) => column !== 'count');
}

/** Returns the SQL of the value of a field. */
export function expression(field: string, value = 'view'): string {
  if (!/^[A-Za-z]+$/.test(field)) throw new TypeError(`${field} is not a field of a view.`);
  return `${value} ->> '${field}'`;
}

export function quoted(name: string): string {
  return `"${name}"`;
}

const LOOKUPS = ['counts', 'texts', 'ids', 'labels'] as const;

/** Returns the name of the table of a view for its counters, or that finds its keys by texts, ids or labels. */
export function lookupTable(view: string, kind: (typeof LOOKUPS)[number]): string {
  return quoted(`${view} ${kind}`);
}

/** Returns the name of an index of a view. */
export function indexOf(view: string, fields: readonly string[]): string {
  return quoted([view, ...fields].join(' '));
}

/**
 * Returns the SQL that creates the counter table, fills it, and adds triggers. The triggers update the counters in the
 * transaction of every write.
 */
function counterSql(view: string, fields: readonly string[]): string {
  const columnsOf = (row: string) => fields.map((field) => `${row}.${quoted(field)}`).join();
  const [before, after] = [columnsOf('OLD'), columnsOf('NEW')];
  const [table, counts] = [quoted(view), lookupTable(view, 'counts')];
  const names = fields.map(quoted).join();
  const more = `INSERT INTO ${counts} VALUES (${after}, 1) ON CONFLICT DO UPDATE SET count = count + 1;`;
  const less = `UPDATE ${counts} SET count = count - 1 WHERE (${names}) = (${before});`;
  return `
    CREATE TABLE ${counts} (${fields.map((field) => `${quoted(field)} TEXT NOT NULL`).join()}, count INTEGER NOT NULL, PRIMARY KEY (${names})) STRICT, WITHOUT ROWID;
    INSERT INTO ${counts} SELECT ${names}, count(*) FROM ${table} GROUP BY ${names};
    CREATE TRIGGER ${quoted(`${view} added`)} AFTER INSERT ON ${table} BEGIN ${more} END;
    CREATE TRIGGER ${quoted(`${view} removed`)} AFTER DELETE ON ${table} BEGIN ${less} END;
    CREATE TRIGGER ${quoted(`${view} changed`)} AFTER UPDATE OF view ON ${table} WHEN (${before}) <> (${after}) BEGIN ${less} ${more} END;
  `;
}

/**
 * Returns the SQL that creates an index of texts or of ids, fills it, and adds triggers. It holds no copy of them. The
 * values whose fields change are noted, and indexed together at the end of the transaction, by a trigger on the row that
 * names the last event: FTS5 writes what it has to disk before each statement with triggers.
 */
function textSql(view: string, kind: 'texts' | 'ids', fields: readonly string[], options: string): string {
  const [table, texts, changed] = [quoted(view), lookupTable(view, kind), toIndex(view, kind)];
  const names = fields.map(quoted).join();
  const [before, after] = [valuesOf(fields, 'OLD.view'), valuesOf(fields, 'NEW.view')];
  const trigger = (what: string) => quoted(`${view} ${fields.join(' ')} ${what}`);
  const note = (row: string) => `INSERT OR IGNORE INTO ${changed} VALUES (CAST(${row}.key AS INTEGER));`;
  return `
    CREATE VIRTUAL TABLE ${texts} USING fts5(${names}, content = '', contentless_delete = 1, ${options});
    INSERT INTO ${texts} (rowid, ${names}) SELECT CAST(key AS INTEGER), ${valuesOf(fields, 'view')} FROM ${table};
    CREATE TABLE ${changed} (id INTEGER PRIMARY KEY) STRICT;
    CREATE TRIGGER ${trigger('added')} AFTER INSERT ON ${table} BEGIN ${note('NEW')} END;
    CREATE TRIGGER ${trigger('removed')} AFTER DELETE ON ${table} BEGIN ${note('OLD')} END;
    CREATE TRIGGER ${trigger('changed')} AFTER UPDATE OF view ON ${table} WHEN (${before}) <> (${after}) BEGIN ${note('NEW')} END;
    CREATE TRIGGER ${indexedBy(view, kind)} AFTER UPDATE OF last_seen ON about WHEN EXISTS (SELECT 1 FROM ${changed}) BEGIN
      DELETE FROM ${texts} WHERE rowid IN (SELECT id FROM ${changed});
      INSERT INTO ${texts} (rowid, ${names}) SELECT id, ${valuesOf(fields, 'view')} FROM ${changed} CROSS JOIN ${table} ON key = CAST(id AS TEXT);
      DELETE FROM ${changed};
    END;
  `;
}

/**
 * Returns the SQL that creates the table of labels, in the order of the keys for each label, fills it, and adds
 * triggers. A change of a view changes only the labels that come or go.
 */
function labelSql(view: string, field: string): string {
  const [table, labels] = [quoted(view), lookupTable(view, 'labels')];
  const of = (row: string) => `SELECT value FROM json_each(${row}.view, '$.${field}')`;
  const add = (row: string, values: string) =>
    `INSERT OR IGNORE INTO ${labels} SELECT value, CAST(${row}.key AS INTEGER) FROM (${values})`;
  // Both columns of the primary key are given: a condition on the pair would read all labels of all views.
  const remove = (values: string) =>
    `DELETE FROM ${labels} WHERE label IN (${values}) AND id = CAST(OLD.key AS INTEGER)`;
  return `
    CREATE TABLE ${labels} (label TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (label, id)) STRICT, WITHOUT ROWID;
    INSERT OR IGNORE INTO ${labels} SELECT labels.value, CAST(${table}.key AS INTEGER) FROM ${table}, json_each(view, '$.${field}') AS labels ORDER BY 1, 2;
    CREATE TRIGGER ${quoted(`${view} label added`)} AFTER INSERT ON ${table} BEGIN ${add('NEW', of('NEW'))}; END;
    CREATE TRIGGER ${quoted(`${view} label removed`)} AFTER DELETE ON ${table} BEGIN ${remove(of('OLD'))}; END;
    CREATE TRIGGER ${quoted(`${view} label changed`)} AFTER UPDATE OF view ON ${table} WHEN ${expression(field, 'OLD.view')} <> ${expression(field, 'NEW.view')} BEGIN
      ${remove(`${of('OLD')} EXCEPT ${of('NEW')}`)};
      ${add('NEW', `${of('NEW')} EXCEPT ${of('OLD')}`)};
    END;
  `;
}

/** Returns the name of the table of the keys of values that an index does not have yet. */
function toIndex(view: string, kind: 'texts' | 'ids'): string {
  return quoted(`${view} ${kind} to index`);
}

/** Returns the name of the trigger that adds them. */
function indexedBy(view: string, kind: 'texts' | 'ids'): string {
  return quoted(`${view} ${kind} indexed`);
}

function valuesOf(fields: readonly string[], value: string): string {
  return fields.map((field) => expression(field, value)).join(', ');
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined;
}
