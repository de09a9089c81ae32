import type { DatabaseSync } from 'node:sqlite';
import { clock } from '../../tools/clock.ts';
import { isBusy, primaryCode } from '../../tools/sqlite/codes.ts';
import { openSqliteToRead } from '../../tools/sqlite/reading.ts';
import { committed } from '../../tools/sqlite/transaction.ts';
import { openedToWrite } from '../../tools/sqlite/writing.ts';
import { EventLogUnavailable } from '../event-log.ts';
import { createSchemaIfEmpty } from './schema.ts';

/** Time limit in which one process acquires the write lock. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Size of a WAL to which SQLite shortens it once all of it is in the file. A larger one has pages that are not yet there:
 * SQLite moves them after a fourth of this.
 */
export const LARGE_WAL_BYTES = 16 * 1024 ** 2;

/**
 * Why a resolved append survives a power cut:
 * - WAL with synchronous=FULL syncs the WAL inside every COMMIT, before readers see it; the first sync of a new WAL
 * also syncs the folder, which names the database. `fullfsync` makes macOS mean it.
 * - Commits of an earlier process that crashed before its sync are visible again after recovery. The checkpoint here
 * syncs them, before any request is answered from them. The settings are read back, since SQLite ignores invalid ones
 * without an error.
 */
export function openForWriting(file: string): DatabaseSync {
  // SQLite's own busy handler sleeps up to 100 ms between attempts and so starves; this time-out is short,
  // and `whileBusy` repeats it.
  return openedToWrite(file, 20, (db) => {
    whileBusy(() => set(db, 'journal_mode', 'wal'));
    set(db, 'synchronous', 2);
    set(db, 'fullfsync', 1);
    set(db, 'checkpoint_fullfsync', 1);
    set(db, 'journal_size_limit', LARGE_WAL_BYTES);
    inTransaction(db, () => createSchemaIfEmpty(db));
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return db;
  });
}

/** Waits only while another process recovers the file after a crash. @throws {WalNotReadable} */
export function openForReading(file: string): DatabaseSync {
  return openSqliteToRead(file, 1_000);
}

/** Runs `work` in a transaction. Waits for the lock while another process holds it. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  whileBusy(() => db.exec('BEGIN IMMEDIATE'));
  return committed(db, work);
}

/** Returns what `read` returns; an error of the engine becomes that of the port, others are thrown unchanged. */
export function orUnavailable<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (primaryCode(error) === undefined) throw error;
    const text = `The event log ${file} cannot be read: ${(error as Error).message}.`;
    throw new EventLogUnavailable(text, { cause: error });
  }
}

function whileBusy(action: () => void): void {
  const deadline = clock.monotonic() + LOCK_TIMEOUT_MS;
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
  if (now !== value) throw new Error(`SQLite setting ${pragma} is ${String(now)}, required is ${value}.`);
}
