/** Whether SQLite failed because of the disk: full, or with an error of its own. */
export function isOfTheDisk(error: unknown): boolean {
  const [SQLITE_IOERR, SQLITE_FULL] = [10, 13];
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false;
  return [SQLITE_IOERR, SQLITE_FULL].includes(error.errcode & 0xff);
}
