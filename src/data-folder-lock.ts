import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { operatorFile } from './operator/operator-file.ts';

/** The log holds the digests of passwords, the store what nobody has published yet. */
const PRIVATE = 0o700;

export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
  readonly code = 'DATA_FOLDER_IN_USE';
}

/**
 * Holds the data folder for one service.
 * @throws {DataFolderInUse}
 */
export function lockDataFolder(folder: string): Disposable {
  const [file, pid] = [path.join(folder, 'service.lock'), pidIn(folder)];
  const which = pid === undefined ? '' : ` (process ${pid})`;
  const text = `Another service runs on the data folder ${folder}${which}: stop it, or set DEPOSIT_DATA_DIR to another folder.`;
  return lockFile(file, text);
}

/** Of the service that the folder tells operators of, if it is there: after a crash it is not. */
function pidIn(folder: string): number | undefined {
  try {
    const { pid } = JSON.parse(readFileSync(operatorFile(folder), 'utf8')) as { pid: number };
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined; // none, or one of another user
  }
}

/**
 * Holds a lock until it is disposed of. SQLite's lock on a file of its own is released by the system however the
 * process ends, so none is ever left behind.
 * @throws {DataFolderInUse} with the text, when another process holds it.
 */
export function lockFile(file: string, inUse: string): Disposable {
  mkdirSync(path.dirname(file), { recursive: true, mode: PRIVATE });
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new DataFolderInUse(inUse, { cause });
  }
  return { [Symbol.dispose]: () => database.close() };
}
