import { defaultArchiveLimits } from '../../src/archives/archive-reader.ts';
import { ArchiveWorkers } from '../../src/archives/workers/archive-workers.ts';
import { ProcessFacts } from '../frame/process-facts.ts';
import type { MadeArchive } from '../inputs/archives.ts';
import type { Loaded } from './peer-loader.ts';

/** Checks and loads an archive as the service does, without log and store. */
export async function loadArchive(workers: ArchiveWorkers, { file, sha256 }: MadeArchive): Promise<Loaded> {
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  const inspection = await workers.inspect({ kind: 'file', path: file }, sha256, defaultArchiveLimits);
  if (inspection.outcome !== 'accepted') throw new Error(JSON.stringify(inspection.faults));
  const merged = await workers.merge([{ sha256, listing: inspection.listing }]);
  if (merged.outcome !== 'accepted') throw new Error(JSON.stringify(merged.faults));
  const { user, system } = process.cpuUsage(cpu);
  return {
    directory: merged.directory,
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
