import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { operatorFile } from './operator/operator-file.ts';
import { isBarred, isOfPermission, notPermitted } from './permission.ts';
import { isBusy, isDamage } from './sqlite/codes.ts';
import { files } from './tools/files.ts';

/** The log holds the digests of passwords, the store what nobody has published yet. */
const PRIVATE = 0o700;

export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
  readonly code = 'DATA_FOLDER_IN_USE';
}

/** For want of room, say: a later try may go well. */
export class CannotLock extends Error {
  override readonly name = 'CannotLock';
  readonly code = 'CANNOT_LOCK';
}

/** Somebody has written to the file. */
export class LockDamaged extends Error {
  override readonly name = 'LockDamaged';
  readonly code = 'LOCK_DAMAGED';
}

/**
 * Holds the data folder for one service.
 * @throws {DataFolderInUse}
 * @throws {NotPermitted}
 */
export function lockDataFolder(folder: string): Disposable {
  return lockFile(path.join(folder, 'service.lock'), inUse(folder));
}

function inUse(folder: string): string {
  const elsewhere = 'or set DEPOSIT_DATA_DIR to another folder.';
  try {
    const { pid } = JSON.parse(files.readFileSync(operatorFile(folder), 'utf8')) as { pid: number };
    process.kill(pid, 0);
    return `Another service runs on the data folder ${folder} (process ${pid}): stop it, ${elsewhere}`;
  } catch (error) {
    if (!isOfNobodyThere(error)) {
      return `Another service runs on the data folder ${folder}: stop it, ${elsewhere}`; // of another user, say
    }
    return `Another service runs on the data folder ${folder} and is just starting or stopping, or a command has it alone: try again in a moment, ${elsewhere}`;
  }
}

/** A service tells operators of itself when it has started, until it stops; after a crash the file is still there. */
function isOfNobodyThere(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ESRCH';
}

/**
 * Holds a lock until it is disposed of. SQLite's lock on a file of its own is released by the system however the
 * process ends, so none is ever left behind.
 * @throws {DataFolderInUse} with the text, when another process holds it.
 * @throws {NotPermitted} it is a file of another user.
 */
export function lockFile(file: string, inUse: string): Disposable {
  const folder = path.dirname(file);
  let database: DatabaseSync | undefined;
  try {
    files.mkdirSync(folder, { recursive: true, mode: PRIVATE });
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    database?.close();
    throw whyNotLocked(cause, file, inUse);
  }
  return { [Symbol.dispose]: () => database.close() };
}

function whyNotLocked(cause: unknown, file: string, inUse: string): unknown {
  const folder = path.dirname(file);
  if (isBusy(cause)) return new DataFolderInUse(inUse, { cause });
  if (isOfPermission(cause)) return notPermitted(folder, 'written to', cause); // it could not be made
  const barred = [file, folder].find(isBarred);
  if (barred !== undefined) return notPermitted(barred, 'written to', cause);
  const text = `${file} cannot be locked: ${(cause as Error).message}.`;
  if (!isDamage(cause)) return new CannotLock(text, { cause });
  return new LockDamaged(`${text} Remove it when nothing runs on the folder: a lock holds nothing.`, {
    cause,
  });
}
