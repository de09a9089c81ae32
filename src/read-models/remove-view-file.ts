import { rmSync } from 'node:fs';

/** Lies beside a file that was found to be damaged while it was in use. */
export const markOfDamage = (file: string): string => `${file}.damaged`;

export function removeViewFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal', '.damaged'])
    rmSync(`${file}${suffix}`, { force: true });
}
