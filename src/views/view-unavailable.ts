import { errorsOfCode } from '../tools/coded-error.ts';
import { extendedCode, isDamage, sqliteReason } from '../tools/sqlite/codes.ts';
import { ForeignJournal } from '../tools/sqlite/reading.ts';

/** Views cannot be opened, written or read at the moment. */
export class ViewUnavailable extends errorsOfCode('VIEW_UNAVAILABLE') {}

/** The thread that writes views has ended or could not start; the next write starts it again. */
export class ViewWriterLost extends ViewUnavailable {}

/** A write met a corrupt page of a view; only a restart rebuilds the views. */
export class ViewDamaged extends errorsOfCode('VIEW_DAMAGED') {
  /** Extended error code of SQLite. */
  readonly errcode: number | undefined;

  constructor(file: string, cause: Error) {
    super(`The view file ${file} is corrupt, the next start rebuilds it: ${cause.message}.`, { cause });
    this.errcode = extendedCode(cause);
  }
}

/** Returns what `read` finds in views, or what `instead` returns if they cannot be read at the moment. */
export function unlessUnavailable<Found, Instead>(
  read: () => Found,
  instead: () => Instead,
): Found | Instead {
  try {
    return read();
  } catch (error) {
    if (error instanceof ViewUnavailable) return instead();
    throw error;
  }
}

/** Turns a SQLite error into a sentence for operators. Returns all other errors unchanged. */
export function viewUnavailable(file: string, what: 'opened' | 'written', error: unknown): unknown {
  if (extendedCode(error) === undefined || error instanceof ViewDamaged) return error;
  const text = `The views in ${file} cannot be ${what}: ${sqliteReason(error)}.`;
  return new ViewUnavailable(text, { cause: error });
}

/** Whether the file itself is unusable: corrupt, not a database, with an unknown schema, or next to a foreign journal. */
export function isUnusable(error: unknown): boolean {
  const SQLITE_ERROR = 1;
  // SQLITE_ERROR without an extended code means that a statement does not fit the schema of the file.
  return extendedCode(error) === SQLITE_ERROR || isDamage(error) || error instanceof ForeignJournal;
}
