import type { DatabaseSync } from 'node:sqlite';

/** All or nothing; the lock is taken first, so nothing that `work` reads can change before it writes. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  return committed(database, work);
}

/** The same of a transaction that was begun. */
export function committed<Result>(database: DatabaseSync, work: () => Result): Result {
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    rollback(database);
    throw error;
  }
}

/** After some faults SQLite has rolled back by itself. */
export function rollback(database: DatabaseSync): void {
  if (database.isTransaction) database.exec('ROLLBACK');
}
