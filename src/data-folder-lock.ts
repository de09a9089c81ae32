import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
  readonly code = 'DATA_FOLDER_IN_USE';
}

/**
 * Holds the data folder for one service.
 * @throws {DataFolderInUse}
 */
export function lockDataFolder(folder: string): Disposable {
  const text = `Another service runs on the data folder ${folder}: stop it, or set DEPOSIT_DATA_DIR to another folder.`;
  return lockFile(path.join(folder, 'service.lock'), text);
}

/**
 * Holds a lock until it is disposed of. SQLite's lock on a file of its own is released by the system however the
 * process ends, so none is ever left behind.
 * @throws {DataFolderInUse} with the text, when another process holds it.
 */
export function lockFile(file: string, inUse: string): Disposable {
  mkdirSync(path.dirname(file), { recursive: true });
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new DataFolderInUse(inUse, { cause });
  }
  return { [Symbol.dispose]: () => database.close() };
}
