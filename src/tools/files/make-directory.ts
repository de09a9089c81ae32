import path from 'node:path';
import { files } from '../files.ts';

/**
 * Creates a folder, only accessible to its owner, and its missing parents, with names that survive a power cut. The
 * name of an existing folder is synced, too: an earlier process may have created it and crashed before its sync. The
 * recursive `mkdir` of Node never returns if the system refuses a folder in an existing one, as in /proc.
 */
export function makeDirectory(folder: string): void {
  createDirectory(folder, syncName);
}

/** Creates a folder and its missing parents in the same way, and calls `onExists` with each, the outermost first. */
export function createDirectory(folder: string, onExists: (folder: string) => void = () => undefined): void {
  try {
    files.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = path.dirname(folder);
    if (code === 'ENOENT' && parent !== folder && !files.existsSync(parent)) {
      createDirectory(parent, onExists);
      return createDirectory(folder, onExists);
    }
    if (code !== 'EEXIST' || !isFolder(folder)) throw error;
  }
  onExists(folder);
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
