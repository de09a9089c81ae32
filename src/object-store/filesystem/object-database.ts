import type { DatabaseSync } from 'node:sqlite';
import { files } from '../../tools/files.ts';
import { assertWritable } from '../../tools/sqlite/assert-writable.ts';
import { isDamage, sqliteReason } from '../../tools/sqlite/codes.ts';
import { assertNoJournal, openSqliteToRead } from '../../tools/sqlite/reading.ts';
import { openedToWrite } from '../../tools/sqlite/writing.ts';
import { StoreFormatUnknown } from '../object-store.ts';

/** Milliseconds to wait for another process that is writing. */
const BUSY_MS = 5000;

/**
 * Page size of a new database. Three objects of 2 KB share a page, where 4 KiB has space for one; an older database
 * retains its own.
 */
const PAGE_BYTES = 8192;

/**
 * Pages of the WAL that trigger a checkpoint. Every checkpoint rewrites index pages, since names are in random order,
 * so fewer checkpoints write less.
 */
const WAL_PAGES = 4000;

// The bytes are the last column, so that reading the others does not read them.
export const OBJECT_SCHEMA = `
  CREATE TABLE IF NOT EXISTS small_object (
    id INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL UNIQUE,
    stored_at INTEGER NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT
`;

/** Format of the file, in its `user_version`; 0 in every release so far. */
export const FORMAT = 0;

/**
 * Verifies the format before anything else is read or written. Other faults are left to the first use.
 * @throws {StoreFormatUnknown}
 * @throws {ForeignJournal}
 */
export function assertKnownFormat(file: string): void {
  assertNoJournal(file);
  const isThere = files.statSync(file, { throwIfNoEntry: false }) !== undefined;
  const format = isThere ? formatOf(file) : FORMAT;
  if (format === FORMAT) return;
  throw new StoreFormatUnknown(
    `${file} has objects in format ${format}, this release reads format ${FORMAT}: start the release that wrote it.`,
  );
}

function formatOf(file: string): number {
  try {
    using database = openToRead(file);
    return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  } catch {
    return FORMAT;
  }
}

/** Opens the database to write. Every change of an object, also of a file, is made under its write lock. */
export function openToWrite(file: string): DatabaseSync {
  return openedToWrite(file, BUSY_MS, (database) => {
    database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;`);
    database.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES}`);
    assertFullySynchronous(database);
    database.exec(OBJECT_SCHEMA);
    assertWritable(database, 'small_object');
    return database;
  });
}

export function openToRead(file: string): DatabaseSync {
  return openSqliteToRead(file, BUSY_MS);
}

/** Returns a sentence on a database that cannot be opened. */
export function openProblem(file: string, cause: Error): string {
  const small = `${file}, the store of small objects,`;
  return isDamage(cause)
    ? `${small} is corrupt: ${cause.message}. Restore it from a backup.`
    : `${small} cannot be opened: ${sqliteReason(cause)}.`;
}

function assertFullySynchronous(database: DatabaseSync): void {
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode').get() ?? {};
  const { synchronous } = database.prepare('PRAGMA synchronous').get() ?? {};
  if (mode === 'wal' && synchronous === 2) return;
  throw new Error(`the database runs with ${JSON.stringify({ mode, synchronous })}`);
}
