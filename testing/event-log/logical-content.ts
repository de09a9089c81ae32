import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

/** Returns the content of a SQLite file as a digest per table, and the result of SQLite's check of the file. */
export function logicalContent(file: string): Readonly<Record<string, string>> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const content: Record<string, string> = { sqlite_schema: digestOf(database, 'sqlite_schema', '*') };
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    for (const { name } of tables) {
      const columns = database.prepare(`PRAGMA table_info(${String(name)})`).all();
      for (const { name: column } of columns) {
        content[`${String(name)}.${String(column)}`] = digestOf(
          database,
          String(name),
          `rowid, ${String(column)}`,
        );
      }
    }
    for (const pragma of [
      'integrity_check',
      'user_version',
      'application_id',
      'journal_mode',
      'page_count',
    ]) {
      content[pragma] = JSON.stringify(database.prepare(`PRAGMA ${pragma}`).all());
    }
    return content;
  } catch (error) {
    return { unreadable: String(error) };
  } finally {
    database.close();
  }
}

function digestOf(database: DatabaseSync, table: string, columns: string): string {
  const hash = createHash('sha256');
  const rows = database.prepare(`SELECT ${columns} FROM ${table} ORDER BY rowid`);
  rows.setReadBigInts(true);
  for (const row of rows.iterate()) {
    for (const value of Object.values(row)) {
      hash.update(value instanceof Uint8Array ? value : `${typeof value} ${String(value)}\n`);
    }
  }
  return hash.digest('hex');
}
