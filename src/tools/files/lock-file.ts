import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { clock } from '../clock.ts';
import { errorsOfCode } from '../coded-error.ts';
import { isBusy, isDamage } from '../sqlite/codes.ts';
import { openTwice } from '../sqlite/found-twice.ts';
import { openedToWrite } from '../sqlite/writing.ts';
import { isPermissionError, notPermitted, whyNotWritable } from './access.ts';
import { makeDirectory } from './make-directory.ts';

/** Another process holds the lock. */
class DataFolderInUse extends errorsOfCode('DATA_FOLDER_IN_USE') {}

/** The lock file cannot be used at present, for example because the disk is full: a later attempt may succeed. */
class CannotLock extends errorsOfCode('CANNOT_LOCK') {}

/** The content of the lock file is not that of a lock. */
class LockDamaged extends errorsOfCode('LOCK_DAMAGED') {}

const RETRY_MS = 50;

/**
 * Acquires a lock that is held until it is disposed of. It is a SQLite lock on a separate file, which the system
 * releases when the process ends for any reason. So no stale lock remains.
 * @throws {DataFolderInUse} with the text, when another process holds it.
 * @throws {NotPermitted} it is a file of another user.
 */
export function lockFile(file: string, inUse: string): Disposable {
  const folder = path.dirname(file);
  let database: DatabaseSync;
  try {
    makeDirectory(folder);
    database = openTwice(() => locked(file));
  } catch (cause) {
    throw whyNotLocked(cause, file, inUse);
  }
  return { [Symbol.dispose]: () => database.close() };
}

/**
 * Resolves to what `lock` returns. While another process holds the lock, it is called again for these milliseconds.
 * @throws {DataFolderInUse}
 */
export async function lockWithin(milliseconds: number, lock: () => Disposable): Promise<Disposable> {
  const until = clock.monotonic() + milliseconds;
  for (;;) {
    try {
      return lock();
    } catch (error) {
      if (!(error instanceof DataFolderInUse) || clock.monotonic() >= until) throw error;
    }
    await clock.sleep(RETRY_MS);
  }
}

function locked(file: string): DatabaseSync {
  return openedToWrite(file, 0, (database) => {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  });
}

function whyNotLocked(cause: unknown, file: string, inUse: string): unknown {
  const folder = path.dirname(file);
  if (isBusy(cause)) return new DataFolderInUse(inUse, { cause });
  if (isPermissionError(cause)) return notPermitted(folder, 'write to', cause); // the file could not be created
  const barred = whyNotWritable(file) ?? whyNotWritable(folder);
  if (barred !== undefined) return barred;
  const text = `${file} cannot be locked: ${(cause as Error).message}.`;
  if (!isDamage(cause)) return new CannotLock(text, { cause });
  return new LockDamaged(`${text} Remove it when nothing runs on the folder: a lock contains no data.`, {
    cause,
  });
}
