import { errorsOfCode } from '../coded-error.ts';
import { currentUser } from '../current-user.ts';
import { files } from '../files.ts';

/** A path exists, but the user of this process has no access to it. */
export class NotPermitted extends errorsOfCode('EACCES') {}

export function notPermitted(place: string, what: 'read' | 'write to', cause?: unknown): NotPermitted {
  return new NotPermitted(
    `Permission denied: user ${currentUser({})} cannot ${what} ${place}. Run the command as the service user, or chown the path to that user.`,
    { cause },
  );
}

/** A path is on a file system that accepts no writes. */
class ReadOnlyFileSystem extends errorsOfCode('EROFS') {}

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

/**
 * Verifies write access to those paths that exist. SQLite would only report that such a file cannot be opened.
 * @throws {NotPermitted}
 * @throws {ReadOnlyFileSystem}
 */
export function assertAccessible(...places: readonly string[]): void {
  for (const place of places) {
    const reason = whyNotWritable(place);
    if (reason !== undefined) throw reason;
  }
}

/** Returns the error of a path that exists and that this process cannot write to; `undefined` for others. */
export function whyNotWritable(place: string): NotPermitted | ReadOnlyFileSystem | undefined {
  try {
    files.accessSync(place, files.constants.W_OK);
    return undefined;
  } catch (cause) {
    if (isPermissionError(cause)) return notPermitted(place, 'write to', cause);
    return isReadOnlyFileSystem(cause)
      ? new ReadOnlyFileSystem(`${place} is on a read-only file system. Mount it to be writable.`, { cause })
      : undefined;
  }
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
  if (!isPermissionError(error) && !isReadOnlyFileSystem(error)) throw error;
}

export function isPermissionError(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM';
}

function isReadOnlyFileSystem(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EROFS';
}
