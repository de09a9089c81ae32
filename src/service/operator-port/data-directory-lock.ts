import path from 'node:path';
import type { Config } from '../../config/config.ts';
import { lockFile, lockWithin } from '../../tools/files/lock-file.ts';
import { assertOwned, databaseFiles } from '../../tools/files/private-files.ts';
import { realPath } from '../../tools/files/real-path.ts';
import { files } from '../../tools/files.ts';
import { assertOwnFolder } from '../backends/own-folder.ts';
import { controlFile } from './control-file.ts';

type Places = Pick<Config, 'dataDir' | 'eventLog'>;

/**
 * Locks the data folder, and an embedded event log wherever it is, for one service or one command.
 * @throws {DataFolderInUse}
 * @throws {FolderNotOwn} such as `/tmp`, into which a command would restore: it would pass for a data folder then.
 * @throws {NotPermitted} such as to root in the folder of another user
 */
export function lockDataFolder({ dataDir, eventLog }: Places): Disposable {
  using locks = new DisposableStack();
  locks.use(lockDataFolderAlone(dataDir));
  // A lock would create a missing folder, on which a disk may be mounted later; the log does not open without it.
  if (eventLog.kind === 'sqlite' && files.existsSync(path.dirname(eventLog.file)))
    locks.use(lockLog(eventLog.file));
  return locks.move();
}

/** Locks the data folder like {@link lockDataFolder}, without the event log. */
export function lockDataFolderAlone(dataDir: string): Disposable {
  assertOwned(dataDir);
  assertOwnFolder('data folder', dataDir);
  return lockFile(path.join(dataDir, 'service.lock'), inUse(dataDir));
}

/**
 * Locks an embedded event log: a copy into it and a service would mix the order of their events.
 * @throws {DataFolderInUse}
 * @throws {NotPermitted} such as to root for the log of another user, whose service could not open the lock
 */
export function lockLog(file: string): Disposable {
  const log = realPath(file);
  assertOwned(...databaseFiles(log));
  const text = `A service or another command uses the event log ${file}: stop it, wait until it has ended, or set DEPOSIT_DATA_DIR to its data folder.`;
  return lockFile(`${log}.lock`, text);
}

/** Milliseconds for which a start waits for the lock of a command, or of a service that has not ended yet. */
const WAIT_MS = 3000;

/** Acquires the lock like {@link lockDataFolder}, and waits a moment while it is held: no supervisor repeats the start. */
export function lockDataFolderSoon(places: Places): Promise<Disposable> {
  return lockWithin(WAIT_MS, () => lockDataFolder(places));
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
