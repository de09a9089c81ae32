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

/** There is none on the disk for the `-shm` of a file, which SQLite only calls an I/O error. */
export function isOfRoom(error: unknown): boolean {
  const SQLITE_IOERR_SHMSIZE = 4874;
  return extendedCode(error) === SQLITE_IOERR_SHMSIZE;
}
