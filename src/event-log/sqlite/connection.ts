import { DatabaseSync } from 'node:sqlite';
import { isBusy, primaryCode } from '../../sqlite/codes.ts';
import { openSqliteToRead } from '../../sqlite/reading.ts';
import { committed } from '../../sqlite/transaction.ts';
import { clock } from '../../tools/clock.ts';
import { EventLogUnavailable } from '../event-log.ts';
import { createSchemaIfEmpty } from './schema.ts';

/** How long one process waits for its turn to write, in ms. */
const PATIENCE = 5_000;

/**
 * Why a resolved append survives a power cut:
 * - WAL with synchronous=FULL syncs the WAL inside every COMMIT, before readers see it; the first sync of a new
 *   WAL also syncs the folder, which names the database. `fullfsync` makes macOS mean it.
 * - What an earlier process wrote but died before it synced is visible again after recovery. The checkpoint
 *   here syncs it, before anyone is answered from it.
 * The settings are read back, since SQLite ignores what it does not like without an error.
 */
export function openForWriting(file: string): DatabaseSync {
  // SQLite's own waiting sleeps up to 100 ms between tries and so starves; short, and repeated by `whileBusy`.
  const db = new DatabaseSync(file, { timeout: 20 });
  try {
    whileBusy(() => set(db, 'journal_mode', 'wal'));
    set(db, 'synchronous', 2);
    set(db, 'fullfsync', 1);
    set(db, 'checkpoint_fullfsync', 1);
    inTransaction(db, () => createSchemaIfEmpty(db));
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Waits only while a neighbour recovers the file after a crash. @throws {WalNotReadable} */
export function openForReading(file: string): DatabaseSync {
  return openSqliteToRead(file, 1_000);
}

/** Waits for the lock, where a neighbour holds it for a moment. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  whileBusy(() => db.exec('BEGIN IMMEDIATE'));
  return committed(db, work);
}

/** Faults of the engine become the port's error; others are ours and pass. */
export function unavailable(file: string, error: unknown): unknown {
  if (primaryCode(error) === undefined) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new EventLogUnavailable(`The event log ${file} cannot be read: ${reason}.`, { cause: error });
}

function whileBusy(action: () => void): void {
  const deadline = clock.monotonic() + PATIENCE;
  while (true) {
    try {
      return action();
    } catch (error) {
      if (!isBusy(error) || clock.monotonic() > deadline) throw error;
    }
  }
}

function set(db: DatabaseSync, pragma: string, value: string | number): void {
  db.exec(`PRAGMA ${pragma} = ${value}`);
  const now = db.prepare(`PRAGMA ${pragma}`).get()?.[pragma];
  if (now !== value) throw new Error(`SQLite keeps ${pragma} at ${String(now)} where ${value} is needed.`);
}
