import path from 'node:path';
import { files } from '../files.ts';

/**
 * Creates a folder, only accessible to its owner, and its missing parents, with names that survive a power cut. The
 * name of an existing folder is synced, too: an earlier process may have created it and crashed before its sync. The
 * recursive `mkdir` of Node never returns if the system refuses a folder in an existing one, as in /proc.
 */
export function makeDirectory(folder: string): void {
  try {
    files.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !files.existsSync(path.dirname(folder))) {
      makeDirectory(path.dirname(folder));
      return makeDirectory(folder);
    }
    if (code !== 'EEXIST' || !isFolder(folder)) throw error;
  }
  syncName(folder);
}

/** Makes the name of a file or folder durable, if its parent can be opened. */
export function syncName(place: string): void {
  let parent: number;
  try {
    parent = files.openSync(path.dirname(place), 'r');
  } catch {
    return; // the parent is not readable
  }
  try {
    files.fsyncSync(parent);
  } finally {
    files.closeSync(parent);
  }
}

function isFolder(place: string): boolean {
  return files.statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}
