/** A fault of SQLite as it crosses between threads, where an error would lose all but its message. */
export type SqliteFault = {
  readonly message: string;
  readonly code: string | undefined;
  readonly errcode: number | undefined;
};

export function faultOf(error: unknown): SqliteFault {
  const { message, code } = error as NodeJS.ErrnoException; // nothing but errors is thrown
  return { message, code, errcode: errcodeOf(error) };
}

export function errorOf({ message, code, errcode }: SqliteFault): Error {
  return Object.assign(new Error(message), { code, errcode });
}

export function isOfSqlite(error: unknown): boolean {
  return errcodeOf(error) !== undefined;
}

/** Whether SQLite failed because of the disk: full, or with an error of its own. */
export function isOfTheDisk(error: unknown): boolean {
  const [SQLITE_IOERR, SQLITE_FULL] = [10, 13];
  return [SQLITE_IOERR, SQLITE_FULL].includes(primaryCode(error));
}

/** Whether the file itself is of no use: damaged, no database, or with other tables than ours. */
export function isOfTheFile(error: unknown): boolean {
  const [SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB] = [1, 11, 26];
  // Without an extension it says that a statement does not fit the tables that are there.
  if (errcodeOf(error) === SQLITE_ERROR) return true;
  return [SQLITE_CORRUPT, SQLITE_NOTADB].includes(primaryCode(error));
}

/** Without its extension. */
function primaryCode(error: unknown): number {
  return (errcodeOf(error) ?? 0) & 0xff;
}

function errcodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}
