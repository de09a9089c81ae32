import path from 'node:path';
import type { ArchiveLimits, ArchiveReader } from '../archives/inspection.ts';
import { ArchiveWorkers, type ArchiveWorkersOptions } from '../archives/threads/archive-workers.ts';
import { DryRunFolder, type DryRunPlace } from './dry-run-folder.ts';

/** Where deposits are tried that are not to be made, apart from all that is kept. */
export type OpenDryRuns = AsyncDisposable & {
  readonly begin: () => Promise<DryRunPlace>;
  readonly reader: ArchiveReader;
  readonly limits: ArchiveLimits;
};

/**
 * They lie on the node that takes them, and never wait for archives that are to be kept, nor these for them.
 * `observed` sees what the reader does, `onAborted` is told of what it had to give up.
 */
export async function openDryRuns(
  { dataDir, archiveLimits }: { readonly dataDir: string; readonly archiveLimits: ArchiveLimits },
  observed: (reader: ArchiveReader) => ArchiveReader,
  onAborted: NonNullable<ArchiveWorkersOptions['onAborted']>,
): Promise<OpenDryRuns> {
  const folder = await DryRunFolder.open(path.join(dataDir, 'dry-runs'));
  const workers = new ArchiveWorkers({ size: 1, overlayTime: archiveLimits.wallTime, onAborted });
  return {
    begin: () => folder.begin(),
    reader: observed(workers),
    limits: archiveLimits,
    [Symbol.asyncDispose]: async () => {
      await workers[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
