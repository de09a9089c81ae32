import { files } from '../tools/files.ts';
import { isDamaged } from './sqlite-fault.ts';
import { ViewDamaged } from './view-unavailable.ts';

/** Lies beside a file that was found to be damaged while it was in use. */
export const markOfDamage = (file: string): string => `${file}.damaged`;

export function removeViewFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal', '.damaged'])
    files.rmSync(`${file}${suffix}`, { force: true });
}

/** For the next start, which begins the view anew. Where it cannot be made, whoever meets the damage again makes it. */
export function markDamaged(file: string): void {
  try {
    files.writeFileSync(markOfDamage(file), '');
  } catch {
    // as said
  }
}

/** A page that nobody reads may be met by writing alone. @throws {ViewDamaged} */
export function markingDamage(file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!isDamaged(error)) throw error;
    markDamaged(file);
    throw new ViewDamaged(file, error as Error);
  }
}
