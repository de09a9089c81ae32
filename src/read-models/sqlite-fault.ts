import { extendedCode, primaryCode } from '../sqlite/codes.ts';

/** A fault of SQLite as it crosses between threads, where an error would lose all but its message. */
export type SqliteFault = {
  readonly message: string;
  readonly code: string | undefined;
  readonly errcode: number | undefined;
};

export function faultOf(error: unknown): SqliteFault {
  const { message, code } = error as NodeJS.ErrnoException; // nothing but errors is thrown
  return { message, code, errcode: extendedCode(error) };
}

export function errorOf({ message, code, errcode }: SqliteFault): Error {
  return Object.assign(new Error(message), { code, errcode });
}

export function isOfSqlite(error: unknown): boolean {
  return extendedCode(error) !== undefined;
}

/** Whether SQLite failed because of the disk: full, or with an error of its own. */
export function isOfTheDisk(error: unknown): boolean {
  const [SQLITE_IOERR, SQLITE_FULL] = [10, 13];
  const code = primaryCode(error);
  return code === SQLITE_IOERR || code === SQLITE_FULL;
}

/** Whether a page of the file is not what SQLite has written. */
export function isDamaged(error: unknown): boolean {
  const [SQLITE_CORRUPT, SQLITE_NOTADB] = [11, 26];
  const code = primaryCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** Whether the file itself is of no use: damaged, no database, or with other tables than ours. */
export function isOfTheFile(error: unknown): boolean {
  const SQLITE_ERROR = 1;
  // Without an extension it says that a statement does not fit the tables that are there.
  return extendedCode(error) === SQLITE_ERROR || isDamaged(error);
}
