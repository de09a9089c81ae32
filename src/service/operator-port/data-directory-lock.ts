import path from 'node:path';
import { lockFile, lockWithin } from '../../tools/files/lock-file.ts';
import { files } from '../../tools/files.ts';
import { assertOwnFolder } from '../backends/own-folder.ts';
import { controlFile } from './control-file.ts';

/**
 * Locks the data folder for one service.
 * @throws {DataFolderInUse}
 * @throws {FolderNotOwn} such as `/tmp`, into which a command would restore: it would pass for a data folder then.
 * @throws {NotPermitted}
 */
export function lockDataFolder(folder: string): Disposable {
  assertOwnFolder('data folder', folder);
  return lockFile(path.join(folder, 'service.lock'), inUse(folder));
}

/** Milliseconds for which a start waits for the lock of a command, or of a service that has not ended yet. */
const WAIT_MS = 3000;

/** Acquires the lock like {@link lockDataFolder}, and waits a moment while it is held: no supervisor repeats the start. */
export function lockDataFolderSoon(folder: string): Promise<Disposable> {
  return lockWithin(WAIT_MS, () => lockDataFolder(folder));
}

function inUse(folder: string): string {
  const elsewhere = 'or set DEPOSIT_DATA_DIR to another folder.';
  try {
    const { pid } = JSON.parse(files.readFileSync(controlFile(folder), 'utf8')) as { pid: number };
    process.kill(pid, 0);
    return `Another service runs on the data folder ${folder} (process ${pid}): stop it, ${elsewhere}`;
  } catch (error) {
    if (!isNoSuchProcessError(error)) {
      return `Another service runs on the data folder ${folder}: stop it, ${elsewhere}`; // for example one of another user
    }
    return `Another service runs on the data folder ${folder} and is just starting or stopping, or a command has locked it: try again in a moment, ${elsewhere}`;
  }
}

/**
 * Whether the control file or its process does not exist. The file exists from the end of the start until the stop, and
 * remains after a crash.
 */
function isNoSuchProcessError(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ESRCH';
}
