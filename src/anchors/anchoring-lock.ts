import { DataFolderInUse, lockFile } from '../data-folder-lock.ts';
import { clock } from '../tools/clock.ts';

const PATIENCE = 60_000;
const PAUSE = 50;

/**
 * One anchoring at a time on a machine, so that nothing comes between looking at the file's end and writing there.
 * @throws {DataFolderInUse} another process has been making an anchor for a minute.
 */
export async function lockAnchoring(file: string): Promise<Disposable> {
  const deadline = clock.monotonic() + PATIENCE;
  for (;;) {
    try {
      return lockFile(file, 'Another process is making an anchor: try it when that one is done.');
    } catch (error) {
      if (!(error instanceof DataFolderInUse) || clock.monotonic() > deadline) throw error;
      await clock.sleep(PAUSE);
    }
  }
}
