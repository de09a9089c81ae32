import path from 'node:path';
import { files } from '../files.ts';
import { assertAccessible, isPermissionError, notPermitted, whyNotWritable } from './access.ts';
import { makeDirectory } from './make-directory.ts';

/** Makes the files and folders that this process creates accessible only for its owner. */
export function createPrivately(): void {
  process.umask(0o077);
}

/**
 * Takes the access of other users from those of these files and folders that exist. What root owns stays as it is: the
 * place where a volume is mounted.
 * @throws {NotPermitted} another user owns one of them.
 */
export function makePrivate(...places: readonly string[]): void {
  assertOwned(...places);
  const own = process.getuid?.(); // systems without such owners have no such modes either
  for (const place of places) {
    const found = files.statSync(place, { throwIfNoEntry: false });
    if (found && found.uid === own) removeAccess(place, found.mode);
  }
}

/**
 * Verifies that this user, or root, owns those of these files and folders that exist. Root could write to those of other
 * users, and would leave them files that they cannot read.
 * @throws {NotPermitted}
 */
export function assertOwned(...places: readonly string[]): void {
  const own = process.getuid?.();
  for (const place of places) {
    const found = files.statSync(place, { throwIfNoEntry: false });
    if (found && own !== undefined && found.uid !== own && found.uid !== 0)
      throw notPermitted(place, 'write to');
  }
}

/** Does as {@link makePrivate} with a folder, what is in it, and what is in the folders in it; not below. */
export function makeFolderPrivate(folder: string): void {
  assertAccessible(folder);
  makePrivate(folder);
  for (const entry of files.readdirSync(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    makePrivate(place);
    if (entry.isDirectory() && !whyNotWritable(place))
      makePrivate(...files.readdirSync(place).map((name) => path.join(place, name)));
  }
}

/** Returns the names of the files of a SQLite database, and of the record of its end. */
export function databaseFiles(file: string): string[] {
  return ['', '-wal', '-shm', '.head'].map((end) => `${file}${end}`);
}

/**
 * Makes a folder, unless another user owns the one above. Returns whether no other user can change or replace it or a
 * folder above it.
 */
export function makePrivateFolder(folder: string): boolean {
  try {
    assertOwned(path.dirname(folder));
    if (!files.existsSync(folder)) makeDirectory(folder);
    makePrivate(folder);
    return process.getuid === undefined || isSafe(files.realpathSync(folder), process.getuid());
  } catch {
    return false;
  }
}

function removeAccess(place: string, mode: number): void {
  if ((mode & 0o077) === 0) return;
  try {
    files.chmodSync(place, mode & 0o700);
  } catch (error) {
    if (isPermissionError(error)) throw notPermitted(place, 'write to', error);
    // If it does not exist, another process has removed it.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw whyNotWritable(place) ?? error;
  }
}

/** In a folder with the sticky bit, as `/tmp`, only owners rename and remove what is in it. */
function isSafe(place: string, own: number): boolean {
  const { uid, mode } = files.lstatSync(place);
  const isOpen = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
  if ((uid !== own && uid !== 0) || isOpen) return false;
  const parent = path.dirname(place);
  return parent === place || isSafe(parent, own);
}
