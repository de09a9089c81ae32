import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { bucketRules } from './minio-rules-buckets.ts';
import { copyRules } from './minio-rules-copies.ts';
import { kindRules } from './minio-rules-kinds.ts';
import { listRules } from './minio-rules-lists.ts';
import { objectRules } from './minio-rules-objects.ts';
import { rules } from './minio-rules-server.ts';
import { stateRules } from './minio-rules-states.ts';
import { uploadRules } from './minio-rules-uploads.ts';

objectRules();
uploadRules();
listRules();
copyRules();
bucketRules();
stateRules();
kindRules();

const PAGE = path.join(import.meta.dirname, '../../docs/minio-rules.md');
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
