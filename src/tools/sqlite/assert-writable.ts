import type { DatabaseSync } from 'node:sqlite';

/**
 * Asserts that a connection can write. If the system refuses to open a file to write, SQLite opens it to read only, and
 * fails at the first write: here, at one that changes nothing.
 * @throws the error of SQLite
 */
export function assertWritable(database: DatabaseSync, table: string): void {
  database.exec(`DELETE FROM ${table} WHERE FALSE`);
}
