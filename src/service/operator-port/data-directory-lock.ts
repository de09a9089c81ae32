import path from 'node:path';
import { lockFile } from '../../tools/files/lock-file.ts';
import { files } from '../../tools/files.ts';
import { controlFile } from './control-file.ts';

/**
 * Locks the data folder for one service.
 * @throws {DataFolderInUse}
 * @throws {NotPermitted}
 */
export function lockDataFolder(folder: string): Disposable {
  return lockFile(path.join(folder, 'service.lock'), inUse(folder));
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
