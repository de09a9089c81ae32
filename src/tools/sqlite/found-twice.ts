import type { DatabaseSync } from 'node:sqlite';
import { isDamage, isFailedRead } from './codes.ts';

/*
 * SQLite reports a single read that the disk refuses or interrupts as an I/O error, or as a corrupt page: it uses zeros
 * for the missing bytes. Real corruption is found again.
 */

/** Reads again, from the disk, what could not be read or seems corrupt. @throws the error of the second read */
export function readTwice<T>(database: DatabaseSync, read: () => T): T {
  const again = (): T => {
    database.exec('PRAGMA shrink_memory'); // drops the cached pages
    return read();
  };
  return ifFound(read, again, isBadRead);
}

/**
 * Opens a file again that could not be read or seems corrupt; `isFound` decides which errors count as that.
 * @throws the error of the second attempt
 */
export function openTwice<T>(open: () => T, isFound: (error: unknown) => boolean = isBadRead): T {
  return ifFound(open, open, isFound);
}

function isBadRead(error: unknown): boolean {
  return isDamage(error) || isFailedRead(error);
}

function ifFound<T>(first: () => T, again: () => T, isFound: (error: unknown) => boolean): T {
  try {
    return first();
  } catch (error) {
    if (!isFound(error)) throw error;
    return again();
  }
}
