import { DatabaseSync } from 'node:sqlite';
import { openSqliteToRead } from '../../sqlite/reading.ts';
import { files } from '../../tools/files.ts';
import { StoreFormatUnknown } from '../archive-store.ts';

/** How long a connection waits for another process that writes. */
const BUSY_MS = 5000;

/** Of a new database. Three objects of 2 KB share a page, where 4 KiB hold but one; an older database keeps its own. */
const PAGE_BYTES = 8192;

/** Index pages are written again by every checkpoint, since names come in no order: fewer of those write less. */
const WAL_PAGES = 4000;

// The bytes come last, so that whoever asks for the rest does not read them.
export const OBJECT_SCHEMA = `
  CREATE TABLE IF NOT EXISTS small_object (
    id INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL UNIQUE,
    stored_at INTEGER NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT
`;

/** Of the file, in its `user_version`, which every release so far has left at this. */
export const FORMAT = 0;

/** Before anything may write to the file. What else is wrong with it is for whoever uses it. @throws {StoreFormatUnknown} */
export function assertKnownFormat(file: string): void {
  const format = files.existsSync(file) ? formatOf(file) : FORMAT;
  if (format === FORMAT) return;
  throw new StoreFormatUnknown(
    `${file} holds objects in format ${format}, this release reads format ${FORMAT}: start the release that made it.`,
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

/** Every change of an object, also of one that is a file, is made under the write lock of this database. */
export function openToWrite(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_MS });
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;`);
  database.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES}`);
  assertFullySynchronous(database);
  database.exec(OBJECT_SCHEMA);
  return database;
}

export function openToRead(file: string): DatabaseSync {
  return openSqliteToRead(file, BUSY_MS);
}

function assertFullySynchronous(database: DatabaseSync): void {
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode').get() ?? {};
  const { synchronous } = database.prepare('PRAGMA synchronous').get() ?? {};
  if (mode === 'wal' && synchronous === 2) return;
  throw new Error(`the database runs with ${JSON.stringify({ mode, synchronous })}`);
}
