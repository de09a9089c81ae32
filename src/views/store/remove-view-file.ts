import { files } from '../../tools/files.ts';
import { ViewDamaged } from '../view-unavailable.ts';
import { isDamaged } from './sqlite-errors.ts';

/** Path of the marker file of a view file that was found to be corrupt while it was in use. */
export const markOfDamage = (file: string): string => `${file}.damaged`;

export function removeViewFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal', '.damaged'])
    files.rmSync(`${file}${suffix}`, { force: true });
}

/**
 * Creates the marker file, so that the next start rebuilds the view. Ignores errors: the next read of the
 * corrupt page tries again.
 */
export function markDamaged(file: string): void {
  try {
    files.writeFileSync(markOfDamage(file), '');
  } catch {
    // see above
  }
}

/**
 * Runs `write`, and marks the file if a page is corrupt: a page that is never read may only be reached by
 * writing. @throws {ViewDamaged}
 */
export function markingDamage(file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!isDamaged(error)) throw error;
    markDamaged(file);
    throw new ViewDamaged(file, error as Error);
  }
}
