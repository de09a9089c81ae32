import path from 'node:path';
import { ArchiveWorkers } from '../../archives/workers/archive-workers.ts';
import type { HttpModule } from '../../http/http-module.ts';
import { HashingThreads } from '../../object-store/hashing/hashing-threads.ts';
import { files } from '../../tools/files.ts';
import type { Module } from '../module.ts';
import { dryRuns } from './dry-run.ts';
import { DryRunStorage } from './dry-run-storage.ts';

/**
 * Checks of a new deposit that do not make it. Their storage and threads are separate from those of deposits, so that
 * neither waits for the other.
 */
export const dryRun: Module = {
  name: 'dry-run',
  async serve({ config: { dataDir, archiveLimits: limits }, logger, resources, observedReader }) {
    const folder = path.join(dataDir, 'dry-runs'); // of this process alone
    const clear = () => files.rm(folder, { recursive: true, force: true });
    await clear(); // of what a crash left
    resources.defer(clear);
    const hashing = resources.use(new HashingThreads(1));
    const workers = resources.use(
      new ArchiveWorkers({
        name: 'dry-run-reader',
        size: 1,
        onAborted: (err, archives) => logger.warn({ archives, err }, 'check of a dry run aborted'),
      }),
    );
    const places = {
      begin: () => DryRunStorage.open(folder, hashing),
      reader: observedReader(workers),
      limits,
    };
    return {
      name: 'dry-run',
      dryRun: (parts) => dryRuns(places, parts),
    } satisfies HttpModule;
  },
};
