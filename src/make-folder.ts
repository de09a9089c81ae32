import path from 'node:path';
import { files } from './tools/files.ts';

/**
 * Makes a folder for its owner alone, and those it lies in, with names that survive a power cut. The recursive `mkdir` of Node never returns where the system
 * makes no folder in one that is there, as in /proc.
 */
export function makeFolder(folder: string): void {
  try {
    makeOne(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && isFolder(folder)) return;
    if (code !== 'ENOENT' || files.existsSync(path.dirname(folder))) throw error;
    makeFolder(path.dirname(folder));
    makeOne(folder);
  }
}

/** Makes the name of a folder durable, where the system lets its parent be opened. */
export function syncName(folder: string): void {
  let parent: number;
  try {
    parent = files.openSync(path.dirname(folder), 'r');
  } catch {
    return; // a parent that may not be read
  }
  try {
    files.fsyncSync(parent);
  } finally {
    files.closeSync(parent);
  }
}

function makeOne(folder: string): void {
  files.mkdirSync(folder, { mode: 0o700 });
  syncName(folder);
}

function isFolder(place: string): boolean {
  return files.statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}
