import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
  readonly code = 'DATA_FOLDER_IN_USE';
}

/**
 * Holds the data folder for one service. SQLite's lock on a file of its own is released by the system however
 * the process ends, so none is ever left behind.
 * @throws {DataFolderInUse}
 */
export function lockDataFolder(folder: string): Disposable {
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(path.join(folder, 'service.lock'), { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    const text = `Another service runs on the data folder ${folder}: stop it, or set DEPOSIT_DATA_DIR to another folder.`;
    throw new DataFolderInUse(text, { cause });
  }
  return { [Symbol.dispose]: () => database.close() };
}
