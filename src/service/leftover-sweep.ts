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
 * after an hour without a write, uploads in a bucket after a day. Failed removals are repeated the next time.
 */
export class LeftoverSweep implements Disposable {
  readonly #swept: Swept;
  readonly #timer: NodeJS.Timeout;
  #stopped = false;

  /** Resolves when local files are swept; a bucket takes longer. */
  static async start(swept: Swept, every: number = DAY): Promise<LeftoverSweep> {
    const sweep = new LeftoverSweep(swept, every);
    await sweep.#sweepFiles();
    await sweep.#sweepViews();
    void sweep.#sweepBucket();
    return sweep;
  }

  private constructor(swept: Swept, every: number) {
    this.#swept = swept;
    this.#timer = clock.setInterval(() => void this.#sweep(), every).unref();
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    clock.clearInterval(this.#timer);
  }

  async #sweep(): Promise<void> {
    await this.#sweepFiles();
    await this.#sweepViews();
    await this.#sweepBucket();
  }

  #sweepFiles(): Promise<void> {
    const before = new Date(clock.now() - HOUR);
    return this.#attempt('files', 'temporary archives of a killed process', () =>
      this.#swept.store.sweepIncoming(before, { onlyFiles: true }),
    );
  }

  /** Until the views of this release are a day old, an older release would find its own again. */
  #sweepViews(): Promise<void> {
    const folder = new ViewFolder(path.join(this.#swept.config.dataDir, 'views'));
    const builtBefore = new Date(clock.now() - DAY);
    return this.#attempt('files', 'view files of an older release', async () =>
      removeFilesPerView(folder, builtBefore),
    );
  }

  async #sweepBucket(): Promise<void> {
    const { config, store } = this.#swept;
    if (config.archiveStore.kind === 'file') return;
    const before = new Date(clock.now() - DAY);
    await this.#attempt('uploads', 'uploads left in the bucket', () => store.sweepIncoming(before));
  }

  /** Runs a sweep and logs its result. Never rejects. */
  async #attempt(unit: string, what: string, sweep: () => Promise<number>): Promise<void> {
    const { logger } = this.#swept;
    try {
      const count = await sweep();
      if (count > 0) logger.info({ [unit]: count }, `${what} removed`);
    } catch (err) {
      if (!this.#stopped) logger.warn({ err }, `${what} not removed`);
    }
  }
}
