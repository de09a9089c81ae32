import { defaultArchiveLimits } from '../../src/archives/inspection.ts';
import { ArchiveWorkers } from '../../src/archives/workers/archive-workers.ts';
import { ProcessFacts } from '../frame/process-facts.ts';
import type { MadeArchive } from '../inputs/archives.ts';
import type { Loaded } from './peer-loader.ts';

/** Checks and loads an archive as the service does, without log and store. */
export async function loadArchive(workers: ArchiveWorkers, { file, sha256 }: MadeArchive): Promise<Loaded> {
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  const inspection = await workers.inspect({ kind: 'file', path: file }, sha256, defaultArchiveLimits);
  if (inspection.outcome !== 'accepted') throw new Error(JSON.stringify(inspection.faults));
  const overlay = await workers.overlay([{ sha256, listing: inspection.listing }]);
  if (overlay.outcome !== 'accepted') throw new Error(JSON.stringify(overlay.faults));
  const { user, system } = process.cpuUsage(cpu);
  return {
    directory: overlay.directory,
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: (user + system) / 1e6,
    peakMemory: new ProcessFacts(process.pid).peakMemory,
  };
}

// As a program it loads one archive: the memory of a process of its own.
if (import.meta.main) {
  const [file = '', sha256 = ''] = process.argv.slice(2);
  await using workers = new ArchiveWorkers();
  process.stdout.write(`${JSON.stringify(await loadArchive(workers, { file, sha256 }))}\n`);
}
