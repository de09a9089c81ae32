import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { defaultArchiveLimits } from '../../src/archives/archive-reader.ts';
import { readArchive } from '../../src/archives/read-archive.ts';
import { mergeListings } from '../../src/archives/tree/merge-archives.ts';

/* Repeats in this thread the work of a worker for the checker or the loader, to be profiled. */
const [what, file = '', times = '5'] = process.argv.slice(2);
const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
const read = () => readArchive({ kind: 'file', path: file }, sha256, defaultArchiveLimits);
const { inspection } = await read();
if (inspection.outcome !== 'accepted') throw new Error(JSON.stringify(inspection.faults));
for (let turn = 0; turn < Number(times); turn += 1) {
  if (what === 'check') await read();
  else mergeListings([{ sha256, listing: inspection.listing }]);
}
