/** SQLite's result code with its extension; `undefined` when the error is not SQLite's. */
export function extendedCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** The same without the extension. */
export function primaryCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** Somebody else has the lock. */
export function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5;
  return primaryCode(error) === SQLITE_BUSY;
}

/** Whether a page of the file is not what SQLite has written, or it is no database. */
export function isDamage(error: unknown): boolean {
  const SQLITE_CORRUPT = 11;
  const SQLITE_NOTADB = 26;
  const code = primaryCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** There is none on the disk for the `-shm` of a file, which SQLite only calls an I/O error. */
export function isOfRoom(error: unknown): boolean {
  const SQLITE_IOERR_SHMSIZE = 4874;
  return extendedCode(error) === SQLITE_IOERR_SHMSIZE;
}
