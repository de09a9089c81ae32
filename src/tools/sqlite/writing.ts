import { DatabaseSync } from 'node:sqlite';

/**
 * Opens a database to write, and returns what `prepare` makes of it. If that fails, the database is closed.
 * @throws the error of SQLite
 */
export function openedToWrite<T>(file: string, timeout: number, prepare: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file, { timeout });
  try {
    return prepare(database);
  } catch (error) {
    database.close();
    throw error;
  }
}
