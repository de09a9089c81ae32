import { DatabaseSync } from 'node:sqlite';

/** Opens a database in a temporary file without a name, which is removed with the process at the latest. */
export function temporaryDatabase(schema: string): DatabaseSync {
  const database = new DatabaseSync('');
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA cache_size = -65536; ${schema}`);
  database.exec('BEGIN'); // one transaction: others would write each changed page
  return database;
}
