import path from 'node:path';
import type { ArchiveLimits, ArchiveReader } from '../../archives/inspection.ts';
import { ArchiveWorkers, type ArchiveWorkersOptions } from '../../archives/workers/archive-workers.ts';
import { DryRunFolder, type DryRunPlace } from './dry-run-folder.ts';

/** Temporary storage and an archive reader for dry runs, separate from those of deposits. */
export type OpenDryRuns = AsyncDisposable & {
  readonly begin: () => Promise<DryRunPlace>;
  readonly reader: ArchiveReader;
  readonly limits: ArchiveLimits;
};

/**
 * Opens the folder and the reader of dry runs. They are on the node that receives the request, and independent of the reader
 * of deposits. `observed` wraps the reader; `onAborted` is called for each archive whose check was aborted.
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
