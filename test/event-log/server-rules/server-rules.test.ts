import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { appendRules } from './appends.ts';
import { bufferRules } from './buffers.ts';
import { channelRules } from './channel.ts';
import { checkpointRules } from './checkpoints.ts';
import { clusterRules } from './clusters.ts';
import { discoveryRules } from './discovery.ts';
import { filterRules } from './filters.ts';
import { killedWriterRules } from './killed-writers.ts';
import { pinnedRules } from './pinned.ts';
import { quorumRules } from './quorum.ts';
import { readingRules } from './reading.ts';
import { rules } from './server.ts';
import { userRules } from './users.ts';

checkpointRules();
filterRules();
pinnedRules();
bufferRules();
clusterRules();
quorumRules();
discoveryRules();
channelRules();
appendRules();
killedWriterRules();
readingRules();
userRules();

const PAGE = path.join(import.meta.dirname, '../../../docs/eventstoredb-rules.md');
const RUNS_ON = { both: 'both', users: 'both, with TLS', double: 'double' } as const;

test('every rule is in the table of docs/eventstoredb-rules.md, with where it runs, and no other', async (t) => {
  const lines = (await readFile(PAGE, 'utf8')).split('\n');
  const cells = lines
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const places: readonly string[] = Object.values(RUNS_ON);
  const listed = cells.filter(([, , , place = '']) => places.includes(place));
  t.deepEqual(
    listed.map(([, , title, place]) => `${title}: ${place}`).toSorted(),
    rules.map(({ title, where }) => `${title}: ${RUNS_ON[where]}`).toSorted(),
  );
});
