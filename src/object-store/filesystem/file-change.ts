import path from 'node:path';
import { clock } from '../../tools/clock.ts';
import { codeOf } from '../../tools/coded-error.ts';
import { withDescriptor } from '../../tools/files/with-descriptor.ts';
import { files } from '../../tools/files.ts';

export type FileChange =
  | { readonly kind: 'place-file'; readonly from: string; readonly file: string }
  | { readonly kind: 'touch-file'; readonly file: string }
  | { readonly kind: 'remove-file'; readonly file: string; readonly storedBefore: number };

/** Changes one file under the lock. Returns whether the file existed. */
export function changeFile(change: FileChange): boolean {
  switch (change.kind) {
    case 'place-file':
      return place(change.from, change.file);
    case 'touch-file':
      return ifThere(() => touch(change.file));
    case 'remove-file':
      return ifThere(() => remove(change.file, change.storedBefore));
    default:
      throw new Error(`unknown change ${JSON.stringify(change satisfies never)}`);
  }
}

/** Moves the file into place. Its time of writing is updated first, since the object is stored only now. */
function place(from: string, file: string): true {
  const now = clock.date();
  files.utimesSync(from, now, now);
  try {
    files.renameSync(from, file);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    copy(from, file); // an operator has moved the folder to another disk, with a link in its place
    files.unlinkSync(from);
  }
  return true;
}

/** Copies the file durably. Other processes verify what a crash leaves of it, and `gc` removes it. */
function copy(from: string, file: string): void {
  try {
    files.copyFileSync(from, file);
    touch(file);
  } catch (error) {
    files.rmSync(file, { force: true });
    throw error;
  }
}

/**
 * Updates the time of the file and syncs it. Bytes of an interrupted put, or of another process, are durable after
 * this.
 */
function touch(file: string): true {
  const now = clock.date();
  withDescriptor(file, 'r+', (descriptor) => {
    files.futimesSync(descriptor, now, now);
    files.fsyncSync(descriptor);
  });
  return true;
}

function remove(file: string, storedBefore: number): boolean {
  if (files.statSync(file).mtimeMs >= storedBefore) return false;
  files.unlinkSync(file);
  withDescriptor(path.dirname(file), 'r', files.fsyncSync);
  return true;
}

function ifThere(change: () => boolean): boolean {
  try {
    return change();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}
