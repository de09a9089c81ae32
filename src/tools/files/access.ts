import { errorsOfCode } from '../coded-error.ts';
import { currentUser } from '../current-user.ts';
import { files } from '../files.ts';

/** A path exists, but the user of this process has no access to it. */
export class NotPermitted extends errorsOfCode('EACCES') {}

export function notPermitted(place: string, what: 'read' | 'write to', cause?: unknown): NotPermitted {
  return new NotPermitted(
    `Permission denied: user ${currentUser({})} cannot ${what} ${place}. Run the command as the service user.`,
    { cause },
  );
}

/** Whether the file or folder exists. @throws {NotPermitted} it is not readable, or its folder is not searchable. */
export function exists(place: string): boolean {
  try {
    files.accessSync(place, files.constants.R_OK);
    return true;
  } catch (error) {
    if (isPermissionError(error)) throw notPermitted(place, 'read', error);
    return false;
  }
}

/** Whether the path is not writable for this process. */
export function isNotAccessible(place: string): boolean {
  try {
    files.accessSync(place, files.constants.W_OK);
    return false;
  } catch (error) {
    return isPermissionError(error);
  }
}

/** Verifies write access. SQLite would only report that such a file cannot be opened. @throws {NotPermitted} */
export function assertAccessible(...places: readonly string[]): void {
  const barred = places.find(isNotAccessible);
  if (barred !== undefined) throw notPermitted(barred, 'write to');
}

/**
 * Returns a handler for the errors of a promise. It returns `otherwise` if the path does not exist, which some errors
 * report with other codes, and throws any other error.
 */
export function unlessMissing<Value>(
  otherwise: Value,
  ...otherCodes: readonly string[]
): (error: NodeJS.ErrnoException) => Value {
  return (error) => {
    if (['ENOENT', ...otherCodes].includes(error.code ?? '')) return otherwise;
    throw error;
  };
}

/** Ignores that the user of this process may not write somewhere. @throws the error if it is another one */
export function ignoreNotWritable(error: unknown): void {
  if (!isPermissionError(error) && (error as NodeJS.ErrnoException).code !== 'EROFS') throw error;
}

export function isPermissionError(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM';
}
