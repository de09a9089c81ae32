import { createHash } from 'node:crypto';
import StreamZip from 'node-stream-zip';
import { defaultArchiveLimits } from '../../src/archives/archive-reader.ts';
import { ArchiveWorkers } from '../../src/archives/workers/archive-workers.ts';
import { comparedByClockAndCpu, type Work } from '../frame/by-clock-and-cpu.ts';
import { atLeast, type Bench, type Bound, type Comparison, type Goal } from '../frame/goal.ts';
import type { MadeArchive } from '../inputs/archives.ts';
import { ended } from '../inputs/ended.ts';

/**
 * Has each side read all members and compare their checksums. The service also hashes the archive and every member and
 * computes the identifier of the tree. `unzip -t` hashes nothing; the popular reader gets SHA-1 on top.
 */
export const checkZip: Goal = {
  id: 'G9',
  what: 'zip: check and identifier',
  async measure(bench) {
    const tree = await bench.inputs.tree();
    const { zip } = await bench.inputs.archives();
    const note = `${tree.files} files, ${Math.round(tree.bytes / 1e6)} MB unpacked: ${tree.sources}`;
    const [againstUnzip, ...more] = await compared(bench, 'G9', zip, {
      what: 'unzip',
      name: 'unzip -t',
      work: () => ended('unzip', ['-tqq', zip.file]),
      wanted: atLeast(0.8),
    });
    const againstStreamZip = await compared(bench, 'G9', zip, {
      what: 'node-stream-zip',
      name: 'node-stream-zip, asynchronous',
      work: () => readWithStreamZip(zip.file),
      wanted: atLeast(4),
    });
    return [{ ...againstUnzip, note }, ...more, ...againstStreamZip];
  },
};

/** `tar tzf` runs gzip in a separate process, on another core if there is one. */
export const checkTarGz: Goal = {
  id: 'G10',
  what: 'tar.gz: check and identifier',
  async measure(bench) {
    const { tarGz } = await bench.inputs.archives();
    return compared(bench, 'G10', tarGz, {
      what: 'tar',
      name: 'tar tzf',
      work: () => ended('tar', ['tzf', tarGz.file]),
      wanted: atLeast(0.7),
    });
  },
};

type Reference = Work & { readonly what: string; readonly wanted: Bound };

async function compared(
  bench: Bench,
  id: string,
  archive: MadeArchive,
  { what, wanted, ...reference }: Reference,
): Promise<[Comparison, Comparison]> {
  const { bytes } = await bench.inputs.tree();
  await using workers = new ArchiveWorkers({ size: 1 });
  const ours = { name: 'service, in its worker', work: () => identify(workers, archive) };
  return await comparedByClockAndCpu(bench, { id, what, megabytes: bytes / 1e6, ours, reference, wanted });
}

/** Computes the identifier as checker and loader do. */
async function identify(workers: ArchiveWorkers, { file, sha256 }: MadeArchive): Promise<string> {
  const inspection = await workers.inspect({ kind: 'file', path: file }, sha256, defaultArchiveLimits);
  if (inspection.outcome !== 'accepted') throw new Error(JSON.stringify(inspection.faults));
  const merged = await workers.merge([{ sha256, listing: inspection.listing }]);
  if (merged.outcome !== 'accepted') throw new Error(JSON.stringify(merged.faults));
  return merged.directory;
}

async function readWithStreamZip(file: string): Promise<void> {
  const zip = new StreamZip.async({ file, skipEntryNameValidation: true });
  for (const entry of Object.values(await zip.entries())) {
    if (entry.isDirectory) continue;
    const bytes = await zip.entryData(entry);
    createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest();
  }
  await zip.close();
}
