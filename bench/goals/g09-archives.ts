import { createHash } from 'node:crypto';
import StreamZip from 'node-stream-zip';
import { ArchiveWorkers } from '../../src/archives/archive-workers.ts';
import { defaultArchiveLimits } from '../../src/archives/inspection.ts';
import { CpuRates } from '../frame/cpu-rates.ts';
import { atLeast, type Comparison, type Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import type { MadeArchive } from '../inputs/archives.ts';
import { ended } from '../inputs/ended.ts';

/**
 * Each side reads all members and compares their checksums. The service hashes the archive and every member beside
 * it and computes the identifier of the tree; `unzip -t` hashes nothing; the popular reader gets SHA-1 on top.
 */
export const checkZip: Goal = {
  id: 'G9',
  what: 'zip: check and identifier',
  async measure(bench) {
    const tree = await bench.inputs.tree();
    const { zip } = await bench.inputs.archives();
    await using workers = new ArchiveWorkers({ size: 1 });
    const rates = new CpuRates(tree.bytes / 1e6);
    const found = await interleave(bench, 'G9', {
      service: rates.of('service', () => identify(workers, zip)),
      unzip: rates.of('unzip', () => ended('unzip', ['-tqq', zip.file])),
      streamZip: rates.of('streamZip', () => readWithStreamZip(zip.file)),
    });
    const ours = { name: 'service, in its worker', values: found.service };
    const note = `${tree.files} files, ${Math.round(tree.bytes / 1e6)} MB unpacked: ${tree.sources}`;
    return [
      {
        what: 'beside unzip',
        unit: 'MB/s',
        ours,
        reference: { name: 'unzip -t', values: found.unzip },
        wanted: atLeast(0.8),
        note,
      },
      {
        what: 'beside node-stream-zip',
        unit: 'MB/s',
        ours,
        reference: { name: 'node-stream-zip, asynchronous', values: found.streamZip },
        wanted: atLeast(4),
      },
      byCpu(rates, bench.pairs, 'unzip', 'unzip -t'),
      byCpu(rates, bench.pairs, 'streamZip', 'node-stream-zip, asynchronous'),
    ];
  },
};

/** `tar tzf` has gzip unpack in a process of its own, on another core if there is one. */
export const checkTarGz: Goal = {
  id: 'G10',
  what: 'tar.gz: check and identifier',
  async measure(bench) {
    const tree = await bench.inputs.tree();
    const { tarGz } = await bench.inputs.archives();
    await using workers = new ArchiveWorkers({ size: 1 });
    const rates = new CpuRates(tree.bytes / 1e6);
    const found = await interleave(bench, 'G10', {
      service: rates.of('service', () => identify(workers, tarGz)),
      tar: rates.of('tar', () => ended('tar', ['tzf', tarGz.file])),
    });
    return [
      {
        what: 'beside tar',
        unit: 'MB/s',
        ours: { name: 'service, in its worker', values: found.service },
        reference: { name: 'tar tzf', values: found.tar },
        wanted: atLeast(0.7),
      },
      byCpu(rates, bench.pairs, 'tar', 'tar tzf'),
    ];
  },
};

/** Without a goal: it tells what costs more when other work on the machine blurs the clock. */
export function byCpu(rates: CpuRates, pairs: number, side: string, name: string): Comparison {
  return {
    what: `by CPU time, beside ${name}`,
    unit: 'MB/CPU s',
    ours: { name: 'service', values: rates.byCpu('service', pairs) },
    reference: { name, values: rates.byCpu(side, pairs) },
    wanted: undefined,
  };
}

/** As checker and loader do it. */
async function identify(workers: ArchiveWorkers, { file, sha256 }: MadeArchive): Promise<string> {
  const inspection = await workers.inspect({ kind: 'file', path: file }, sha256, defaultArchiveLimits);
  if (inspection.outcome !== 'accepted') throw new Error(JSON.stringify(inspection.faults));
  const overlay = await workers.overlay([{ sha256, listing: inspection.listing }]);
  if (overlay.outcome !== 'accepted') throw new Error(JSON.stringify(overlay.faults));
  return overlay.directory;
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
