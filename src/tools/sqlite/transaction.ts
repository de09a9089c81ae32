import type { DatabaseSync } from 'node:sqlite';

/**
 * Runs `work` in a transaction. Acquires the lock first, so that no data that `work` reads can change before it writes.
 */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  return committed(database, work);
}

/** Runs `work` in a transaction that has begun. */
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

/** Rolls back, unless SQLite has done so itself after an error. */
export function rollback(database: DatabaseSync): void {
  if (database.isTransaction) database.exec('ROLLBACK');
}
