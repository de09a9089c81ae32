import { DatabaseSync } from 'node:sqlite';
import { openSqliteToRead } from '../sqlite-reading.ts';

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
