import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { clock } from '../src/tools/clock.ts';

/** Runs work on files that the command can do without; returns `undefined` if it fails. */
export function ignoreErrors<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Makes a folder of state that only this user can read, and removes the files in it that are older. */
export function openStateFolder(folder: string, maxAgeMs: number): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (ageOf(file) > maxAgeMs) removeFile(file);
  }
}

/** Returns the milliseconds since the last update; 0 for a missing file. */
export function ageOf(file: string): number {
  return clock.now() - (ignoreErrors(() => statSync(file).mtimeMs) ?? clock.now());
}

export function removeFile(file: string): void {
  ignoreErrors(() => rmSync(file, { force: true }));
}
