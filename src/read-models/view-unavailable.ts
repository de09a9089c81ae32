import { isOfSqlite } from './sqlite-fault.ts';

/** A view cannot be opened or written at the moment; what is in its file is whole. */
export class ViewUnavailable extends Error {
  override readonly name = 'ViewUnavailable';
  readonly code = 'VIEW_UNAVAILABLE';
}

/** A fault of SQLite, in a sentence for whoever runs the service; other errors are ours and pass. */
export function viewUnavailable(
  { name, file }: { readonly name: string; readonly file: string },
  what: 'opened' | 'written',
  error: unknown,
): unknown {
  if (!isOfSqlite(error)) return error;
  const text = `The view ${name} in ${file} cannot be ${what}: ${(error as Error).message}.`;
  return new ViewUnavailable(text, { cause: error });
}
