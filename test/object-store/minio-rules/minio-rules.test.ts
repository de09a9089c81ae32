import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { bucketRules } from './buckets.ts';
import { copyRules } from './copies.ts';
import { kindRules } from './kinds.ts';
import { listRules } from './lists.ts';
import { objectRules } from './objects.ts';
import { rules } from './server.ts';
import { stateRules } from './states.ts';
import { uploadRules } from './uploads.ts';

objectRules();
uploadRules();
listRules();
copyRules();
bucketRules();
stateRules();
kindRules();

const PAGE = path.join(import.meta.dirname, '../../../docs/minio-rules.md');
const RUNS_ON = { both: 'both', drive: 'both, with its drive', 'test server': 'test server' } as const;

test('every rule is in the table of docs/minio-rules.md, with where it runs, and no other', async (t) => {
  const lines = (await readFile(PAGE, 'utf8')).split('\n');
  const cells = lines
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('\\', '')));
  const places: readonly string[] = Object.values(RUNS_ON);
  const listed = cells.filter(([, , , place = '']) => places.includes(place));
  t.deepEqual(
    listed.map(([, , title, place]) => `${title}: ${place}`).toSorted(),
    rules.map(({ title, where }) => `${title}: ${RUNS_ON[where]}`).toSorted(),
  );
});
