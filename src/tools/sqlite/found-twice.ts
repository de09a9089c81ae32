import type { DatabaseSync } from 'node:sqlite';
import { isDamage } from './codes.ts';

/*
 * A single read that the disk refuses or interrupts also makes SQLite report a corrupt page: it uses zeros
 * for the missing bytes. Real corruption is found again.
 */

/** Reads again, from the disk, what seems corrupt. @throws the error of the second read */
export function readTwice<T>(database: DatabaseSync, read: () => T): T {
  return ifDamaged(read, () => {
    database.exec('PRAGMA shrink_memory'); // drops the cached pages
    return read();
  });
}

/**
 * Opens a file again that seems corrupt; `isFound` decides which errors count as corruption. @throws the error of the
 * second attempt
 */
export function openTwice<T>(open: () => T, isFound: (error: unknown) => boolean = isDamage): T {
  return ifDamaged(open, open, isFound);
}

function ifDamaged<T>(first: () => T, again: () => T, isFound: (error: unknown) => boolean = isDamage): T {
  try {
    return first();
  } catch (error) {
    if (!isFound(error)) throw error;
    return again();
  }
}
