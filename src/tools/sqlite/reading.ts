import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { CodedError, errorsOfCode } from '../coded-error.ts';
import { withDescriptor } from '../files/with-descriptor.ts';
import { files } from '../files.ts';
import { isSharedMemoryFull, primaryCode } from './codes.ts';

/** The file is readable only with write permission: part of it is in a WAL without an index. */
export class WalNotReadable extends errorsOfCode('WAL_NOT_READABLE') {}

/** A rollback journal is next to the file: SQLite would write it into the file, unless that is opened as immutable. */
export class ForeignJournal extends errorsOfCode('FOREIGN_JOURNAL') {}

/** Maximum size of a file without a table. Its creation, before it is in WAL mode, is all that leaves a journal. */
const EMPTY_FILE_BYTES = 8192;

export type OpenedToRead = {
  readonly database: DatabaseSync;
  /** Returns SQLite's name of the journal mode. */
  readonly journalMode: () => unknown;
};

/**
 * Opens a file in WAL mode read-only. If a service has it open, its `-shm` exists, and SQLite reads normally. If no
 * process has it open, SQLite would have to create files. If it may not, or cannot since the disk is full, the file is
 * opened as immutable.
 * @throws {WalNotReadable}
 * @throws {ForeignJournal}
 */
export function openedToRead(file: string, timeout: number): OpenedToRead {
  assertNoJournal(file);
  const database = new DatabaseSync(file, { readOnly: true, timeout });
  const error = firstReadError(database);
  if (error === undefined || !isReadOnlyError(error)) {
    return { database, journalMode: () => database.prepare('PRAGMA journal_mode').get()?.['journal_mode'] };
  }
  database.close();
  if (sizeOf(`${file}-wal`) > 0) throw notReadable(file, error);
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  return {
    database: new DatabaseSync(url, { readOnly: true }),
    journalMode: () => journalModeInHeader(file), // SQLite does not report the mode of an immutable file
  };
}

export function openSqliteToRead(file: string, timeout: number): DatabaseSync {
  return openedToRead(file, timeout).database;
}

/**
 * Throws what {@link openSqliteToRead} would throw, except errors of SQLite, which are left to the read.
 * @throws {WalNotReadable}
 * @throws {ForeignJournal}
 */
export function assertReadable(file: string): void {
  try {
    openSqliteToRead(file, 0).close();
  } catch (error) {
    if (error instanceof CodedError) throw error;
  }
}

/**
 * Must be called before a file in WAL mode is opened.
 * @throws {ForeignJournal}
 */
export function assertNoJournal(file: string): void {
  if (sizeOf(file) <= EMPTY_FILE_BYTES) return;
  const journal = `${files.realpathSync(file)}-journal`; // SQLite resolves symbolic links as well
  if (sizeOf(journal) === 0) return;
  throw new ForeignJournal(
    `${journal} is not of this service, and SQLite would write it into ${file}: move it to another folder, then run "deposit-service verify --all".`,
  );
}

/** Returns the error of a first read; opening alone reads no page. */
function firstReadError(database: DatabaseSync): unknown {
  try {
    database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Whether SQLite cannot write next to the file: no permission, or no space for its `-shm`. */
function isReadOnlyError(error: unknown): boolean {
  const [SQLITE_READONLY, SQLITE_CANTOPEN] = [8, 14];
  const code = primaryCode(error);
  return code === SQLITE_READONLY || code === SQLITE_CANTOPEN || isSharedMemoryFull(error);
}

function notReadable(file: string, cause: unknown): WalNotReadable {
  const [without, instead] = isSharedMemoryFull(cause)
    ? ['free space next to it', 'Free some space']
    : ['permission to write', 'Let the service stop cleanly'];
  return new WalNotReadable(
    `${file} cannot be read without ${without}: part of it is still in ${file}-wal. ${instead}, or copy the folder and read the copy.`,
    { cause },
  );
}

function sizeOf(file: string): number {
  return files.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function journalModeInHeader(file: string): 'wal' | 'delete' {
  const [WRITE_VERSION, WAL] = [18, 2];
  const versions = Buffer.alloc(2);
  // Drops no lock: an immutable file is not locked.
  withDescriptor(file, 'r', (descriptor) => files.readSync(descriptor, versions, 0, 2, WRITE_VERSION));
  return versions.every((version) => version === WAL) ? 'wal' : 'delete';
}
