import { personBehind } from './person-behind.ts';
import { files } from './tools/files.ts';

/** Something is there, but is not for whoever runs this. */
export class NotPermitted extends Error {
  override readonly name = 'NotPermitted';
  readonly code = 'EACCES';
}

export function notPermitted(place: string, what: 'read' | 'written to', cause?: unknown): NotPermitted {
  return new NotPermitted(
    `${place} may not be ${what} by ${personBehind({})}: run this as the user of the service.`,
    { cause },
  );
}

/** Whether there is such a file or folder. @throws {NotPermitted} it may not be read, or not even be looked for. */
export function isThere(place: string): boolean {
  try {
    files.accessSync(place, files.constants.R_OK);
    return true;
  } catch (error) {
    if (isOfPermission(error)) throw notPermitted(place, 'read', error);
    return false;
  }
}

/** Whether what is there, or whatever would be made there, may not be written to. */
export function isBarred(place: string): boolean {
  try {
    files.accessSync(place, files.constants.W_OK);
    return false;
  } catch (error) {
    return isOfPermission(error);
  }
}

/** SQLite only says of such a file that it cannot be opened. @throws {NotPermitted} */
export function assertNotBarred(...places: readonly string[]): void {
  const barred = places.find(isBarred);
  if (barred !== undefined) throw notPermitted(barred, 'written to');
}

export function isOfPermission(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM';
}
