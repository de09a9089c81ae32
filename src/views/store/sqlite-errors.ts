import { extendedCode, primaryCode } from '../../tools/sqlite/codes.ts';

/**
 * A SQLite error in a form that can be sent between threads; structured cloning of an Error retains only its
 * message.
 */
export type SqliteFault = {
  readonly message: string;
  readonly code: string | undefined;
  readonly errcode: number | undefined;
};

export function faultOf(error: unknown): SqliteFault {
  const { message, code } = error as NodeJS.ErrnoException; // only errors are thrown
  return { message, code, errcode: extendedCode(error) };
}

export function errorOf({ message, code, errcode }: SqliteFault): Error {
  return Object.assign(new Error(message), { code, errcode });
}

export function isSqliteError(error: unknown): boolean {
  return extendedCode(error) !== undefined;
}

/** Whether SQLite failed because of the disk: it is full or reports an I/O error. */
export function isDiskError(error: unknown): boolean {
  const [SQLITE_IOERR, SQLITE_FULL] = [10, 13];
  const code = primaryCode(error);
  return code === SQLITE_IOERR || code === SQLITE_FULL;
}

/** Whether SQLite found a page of the file corrupt. */
export function isDamaged(error: unknown): boolean {
  const [SQLITE_CORRUPT, SQLITE_NOTADB] = [11, 26];
  const code = primaryCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** Whether the file itself is unusable: corrupt, not a database, or with an unknown schema. */
export function isCorruptFileError(error: unknown): boolean {
  const SQLITE_ERROR = 1;
  // SQLITE_ERROR without an extended code means that a statement does not fit the schema of the file.
  return extendedCode(error) === SQLITE_ERROR || isDamaged(error);
}
