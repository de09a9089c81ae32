import { existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a folder for its owner alone, and those it lies in. The recursive `mkdir` of Node never returns where the system
 * makes no folder in one that is there, as in /proc.
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && isFolder(folder)) return;
    if (code !== 'ENOENT' || existsSync(path.dirname(folder))) throw error;
    makeFolder(path.dirname(folder));
    mkdirSync(folder, { mode: 0o700 });
  }
}

function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}
