import { rmSync } from 'node:fs';
import path from 'node:path';
import { defaultArchiveLimits } from '../../src/archives/archive-reader.ts';
import { ArchiveWorkers } from '../../src/archives/workers/archive-workers.ts';
import { median } from '../frame/statistics.ts';
import { type MadeArchive, madeArchive } from '../inputs/archives.ts';
import { zipSmallFiles } from '../inputs/small-files-zip.ts';
import { Curves, type Dimension } from './dimension.ts';

const X = 'members of the archive, 1 KB each';
const TIMES = 3;

export const byMembers: Dimension = {
  name: 'members',
  what: 'members of one zip, 1 KB each',
  sizes: [1_000, 10_000, 100_000],
  async measure({ folder, tell }, sizes) {
    const [seconds, each] = [new Curves(), new Curves()];
    await using workers = new ArchiveWorkers({ size: 1 });
    for (const size of sizes) {
      tell(`${size} members`);
      const file = path.join(folder, `${size}.zip`);
      await zipSmallFiles(file, size);
      const zip = await madeArchive(file);
      const found: { check: number; load: number }[] = [];
      for (let turn = 0; turn <= TIMES; turn += 1) found.push(await checkAndLoad(workers, zip));
      for (const part of ['check', 'load'] as const) {
        const time = median(found.slice(1).map((times) => times[part])); // the first one warms up
        seconds.add(part, size, time);
        each.add(part, size, (time * 1e6) / size);
      }
      rmSync(zip.file);
    }
    return {
      'archive-by-members': seconds.plot('Check and load, by the members of the archive', X, 's, median'),
      'member-by-members': each.plot('A member, by the members of the archive', X, 'µs for each, median'),
    };
  },
};

async function checkAndLoad(workers: ArchiveWorkers, { file, sha256 }: MadeArchive) {
  const started = performance.now();
  const inspection = await workers.inspect({ kind: 'file', path: file }, sha256, defaultArchiveLimits);
  const checked = performance.now();
  if (inspection.outcome !== 'accepted') throw new Error(JSON.stringify(inspection.faults));
  const merged = await workers.merge([{ sha256, listing: inspection.listing }]);
  if (merged.outcome !== 'accepted') throw new Error(JSON.stringify(merged.faults));
  return { check: (checked - started) / 1000, load: (performance.now() - checked) / 1000 };
}
