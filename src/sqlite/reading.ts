import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { files } from '../tools/files.ts';
import { isOfRoom, primaryCode } from './codes.ts';

/** Only whoever can write can read the file: part of it lies in a WAL that nobody has an index of. */
export class WalNotReadable extends Error {
  override readonly name = 'WalNotReadable';
  readonly code = 'WAL_NOT_READABLE';
}

export type OpenedToRead = {
  readonly database: DatabaseSync;
  /** As SQLite names it. */
  readonly journalMode: () => unknown;
};

/**
 * Opens a file in WAL mode only to read. A service that has it open has laid its `-shm` there, with which SQLite reads in
 * the ordinary way. Where no process has it open, SQLite would write beside it: for somebody who may not, or cannot since
 * the disk is full, the file is taken as it lies.
 * @throws {WalNotReadable}
 */
export function openedToRead(file: string, timeout: number): OpenedToRead {
  const database = new DatabaseSync(file, { readOnly: true, timeout });
  const trouble = firstTrouble(database);
  if (trouble === undefined || !isOfWriting(trouble)) {
    return { database, journalMode: () => database.prepare('PRAGMA journal_mode').get()?.['journal_mode'] };
  }
  database.close();
  if (sizeOf(`${file}-wal`) > 0) throw notReadable(file, trouble);
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  return {
    database: new DatabaseSync(url, { readOnly: true }),
    journalMode: () => journalModeInHeader(file), // SQLite does not tell of what it leaves aside
  };
}

export function openSqliteToRead(file: string, timeout: number): DatabaseSync {
  return openedToRead(file, timeout).database;
}

/** Says beforehand what {@link openSqliteToRead} would; other faults are for whoever reads. @throws {WalNotReadable} */
export function assertReadable(file: string): void {
  try {
    openSqliteToRead(file, 0).close();
  } catch (error) {
    if (error instanceof WalNotReadable) throw error;
  }
}

/** Of the first reading; opening alone reads nothing. */
function firstTrouble(database: DatabaseSync): unknown {
  try {
    database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** What keeps SQLite from writing beside the file: permission, or room for its `-shm`. */
function isOfWriting(error: unknown): boolean {
  const [SQLITE_READONLY, SQLITE_CANTOPEN] = [8, 14];
  const code = primaryCode(error);
  return code === SQLITE_READONLY || code === SQLITE_CANTOPEN || isOfRoom(error);
}

function notReadable(file: string, cause: unknown): WalNotReadable {
  const [without, instead] = isOfRoom(cause)
    ? ['room beside it', 'Make room']
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
  const descriptor = files.openSync(file, 'r'); // drops no lock: a file that is taken as it lies is not locked
  try {
    files.readSync(descriptor, versions, 0, versions.length, WRITE_VERSION);
  } finally {
    files.closeSync(descriptor);
  }
  return versions.every((version) => version === WAL) ? 'wal' : 'delete';
}
