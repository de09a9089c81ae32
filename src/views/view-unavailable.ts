import { extendedCode } from '../tools/sqlite/codes.ts';
import { isSqliteError } from './store/sqlite-errors.ts';

/** A view cannot be opened, written or read at the moment. */
export class ViewUnavailable extends Error {
  override readonly name = 'ViewUnavailable';
  readonly code = 'VIEW_UNAVAILABLE';
}

/** A write met a corrupt page of a view; only a restart rebuilds the view. */
export class ViewDamaged extends Error {
  override readonly name = 'ViewDamaged';
  readonly code = 'VIEW_DAMAGED';
  /** Extended error code of SQLite. */
  readonly errcode: number | undefined;

  constructor(file: string, cause: Error) {
    super(`The view file ${file} is damaged, the next start makes it anew: ${cause.message}.`, { cause });
    this.errcode = extendedCode(cause);
  }
}

/** Turns a SQLite error into a sentence for operators. Returns all other errors unchanged. */
export function viewUnavailable(
  { name, file }: { readonly name: string; readonly file: string },
  what: 'opened' | 'written',
  error: unknown,
): unknown {
  if (!isSqliteError(error) || error instanceof ViewDamaged) return error;
  const text = `The view ${name} in ${file} cannot be ${what}: ${(error as Error).message}.`;
  return new ViewUnavailable(text, { cause: error });
}
