import { extendedCode } from '../sqlite/codes.ts';
import { isOfSqlite } from './sqlite-fault.ts';

/** A view cannot be opened, written or read at the moment. */
export class ViewUnavailable extends Error {
  override readonly name = 'ViewUnavailable';
  readonly code = 'VIEW_UNAVAILABLE';
}

/** Whoever wrote a view has met damage, and nothing but a new start makes the view anew. */
export class ViewDamaged extends Error {
  override readonly name = 'ViewDamaged';
  readonly code = 'VIEW_DAMAGED';
  /** Of SQLite. */
  readonly errcode: number | undefined;

  constructor(file: string, cause: Error) {
    super(`The view file ${file} is damaged, the next start makes it anew: ${cause.message}.`, { cause });
    this.errcode = extendedCode(cause);
  }
}

/** A fault of SQLite, in a sentence for whoever runs the service; what is told in one already, and what is ours, passes. */
export function viewUnavailable(
  { name, file }: { readonly name: string; readonly file: string },
  what: 'opened' | 'written',
  error: unknown,
): unknown {
  if (!isOfSqlite(error) || error instanceof ViewDamaged) return error;
  const text = `The view ${name} in ${file} cannot be ${what}: ${(error as Error).message}.`;
  return new ViewUnavailable(text, { cause: error });
}
