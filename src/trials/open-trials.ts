import path from 'node:path';
import { ArchiveWorkers, type ArchiveWorkersOptions } from '../archives/archive-workers.ts';
import type { ArchiveLimits, ArchiveReader } from '../archives/inspection.ts';
import { TrialFolder, type TrialPlace } from './trial-folder.ts';

/** Where deposits are tried that are not to be made, apart from all that is kept. */
export type OpenTrials = AsyncDisposable & {
  readonly begin: () => Promise<TrialPlace>;
  readonly reader: ArchiveReader;
  readonly limits: ArchiveLimits;
};

/**
 * They lie on the node that takes them, and never wait for archives that are to be kept, nor these for them.
 * `observed` sees what the reader does, `onAborted` is told of what it had to give up.
 */
export async function openTrials(
  { dataDir, archiveLimits }: { readonly dataDir: string; readonly archiveLimits: ArchiveLimits },
  observed: (reader: ArchiveReader) => ArchiveReader,
  onAborted: NonNullable<ArchiveWorkersOptions['onAborted']>,
): Promise<OpenTrials> {
  const folder = await TrialFolder.open(path.join(dataDir, 'dry-runs'));
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
