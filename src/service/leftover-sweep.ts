import path from 'node:path';
import type { Config } from '../config/config.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { clock } from '../tools/clock.ts';
import type { Logger } from '../tools/logger.ts';
import { removeFilesPerView } from '../views/store/files-per-view.ts';
import { ViewFolder } from '../views/store/view-folder.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Swept = {
  readonly config: Pick<Config, 'archiveStore' | 'dataDir'>;
  readonly store: ObjectStore;
  readonly logger: Logger;
};

/**
 * Removes, at the start and daily, the remains of uploads after killed processes and outages of the store: local files
 * after an hour without a write, uploads in a bucket after a day. Failed removals are repeated the next time. Resolves
 * when local files are swept; a bucket takes longer. Disposing of the result ends it.
 */
export async function sweepLeftovers(
  { config, store, logger }: Swept,
  every: number = DAY,
): Promise<Disposable> {
  let isStopped = false;
  const views = new ViewFolder(path.join(config.dataDir, 'views'));
  const timer = clock.setInterval(() => void sweepFiles().then(sweepBucket), every).unref();
  await sweepFiles();
  void sweepBucket();
  return {
    [Symbol.dispose]: () => {
      isStopped = true;
      clock.clearInterval(timer);
    },
  };

  async function sweepFiles(): Promise<void> {
    await attempt('files', 'temporary archives of a killed process', () =>
      store.sweepIncoming(before(HOUR), { onlyFiles: true }),
    );
    // Until the views of this release are a day old, an older release would find its own again.
    await attempt('files', 'view files of an older release', async () =>
      removeFilesPerView(views, before(DAY)),
    );
  }

  async function sweepBucket(): Promise<void> {
    if (config.archiveStore.kind === 'file') return;
    await attempt('uploads', 'uploads left in the bucket', () => store.sweepIncoming(before(DAY)));
  }

  /** Runs a sweep and logs its result. Never rejects. */
  async function attempt(unit: string, what: string, sweep: () => Promise<number>): Promise<void> {
    try {
      const count = await sweep();
      if (count > 0) logger.info({ [unit]: count }, `${what} removed`);
    } catch (err) {
      if (!isStopped) logger.warn({ err }, `${what} not removed`);
    }
  }
}

function before(age: number): Date {
  return new Date(clock.now() - age);
}
