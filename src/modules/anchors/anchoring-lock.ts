import { clock } from '../../tools/clock.ts';
import { DataFolderInUse, lockFile } from '../../tools/files/lock-file.ts';

const LOCK_TIMEOUT_MS = 60_000;
const RETRY_INTERVAL_MS = 50;

/**
 * Locks anchoring on this machine, so that the end of the file cannot change between reading and appending.
 * @throws {DataFolderInUse} another process has been making an anchor for a minute.
 */
export async function lockAnchoring(file: string): Promise<Disposable> {
  const deadline = clock.monotonic() + LOCK_TIMEOUT_MS;
  for (;;) {
    try {
      return lockFile(file, 'Another process is making an anchor: try it when that one is done.');
    } catch (error) {
      if (!(error instanceof DataFolderInUse) || clock.monotonic() > deadline) throw error;
      await clock.sleep(RETRY_INTERVAL_MS);
    }
  }
}
