/** Returns SQLite's extended result code; `undefined` for other errors. */
export function extendedCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** Returns SQLite's primary result code; `undefined` for other errors. */
export function primaryCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** Whether another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5;
  return primaryCode(error) === SQLITE_BUSY;
}

/** Whether a page of the file is corrupt, or the file is not a database. */
export function isDamage(error: unknown): boolean {
  const SQLITE_CORRUPT = 11;
  const SQLITE_NOTADB = 26;
  const code = primaryCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

export function isInputOutputError(error: unknown): boolean {
  const SQLITE_IOERR = 10;
  return primaryCode(error) === SQLITE_IOERR;
}

/** Whether the disk failed to read a page, or returned only part of it. */
export function isFailedRead(error: unknown): boolean {
  const [SQLITE_IOERR_READ, SQLITE_IOERR_SHORT_READ] = [266, 522];
  const code = extendedCode(error);
  return code === SQLITE_IOERR_READ || code === SQLITE_IOERR_SHORT_READ;
}

/**
 * Whether the `-shm` of a file cannot be extended, mostly because the disk has no space. SQLite reports that only as an
 * I/O error, and a disk that fails in the same way.
 */
export function isSharedMemoryFull(error: unknown): boolean {
  const SQLITE_IOERR_SHMSIZE = 4874;
  return extendedCode(error) === SQLITE_IOERR_SHMSIZE;
}

/** Returns SQLite's text of an error, or what it means where the text is misleading. */
export function sqliteReason(error: unknown): string {
  return isSharedMemoryFull(error) ? 'its disk is full or fails' : (error as Error).message;
}

export function isFull(error: unknown): boolean {
  const SQLITE_FULL = 13;
  return primaryCode(error) === SQLITE_FULL || isSharedMemoryFull(error);
}

/** Whether SQLite failed because of the disk: it is full or reports an I/O error. */
export function isDiskError(error: unknown): boolean {
  return isInputOutputError(error) || isFull(error);
}
