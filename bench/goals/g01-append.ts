import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { atLeast, type Bench, type Comparison, type Goal } from '../frame/goal.ts';
import { interleave, secondsOf } from '../frame/interleave.ts';
import { GroupCommitFile } from '../references/group-commit-file.ts';

/** Events of one measurement by number of writers, and the share of the limit to reach. */
const CASES = [
  { writers: 1, events: 4_000, share: 0.85 },
  { writers: 16, events: 20_000, share: 0.5 },
  { writers: 256, events: 30_000, share: 0.4 },
];

/** Both sides create the same events, serialize them to JSON and resolve when they are durable. */
export const append: Goal = {
  id: 'G1',
  what: 'durable append in process, 1 KB',
  async measure(bench) {
    await using log = await SqliteEventLog.open({ file: path.join(bench.folder, 'log.sqlite') });
    await using file = new GroupCommitFile(path.join(bench.folder, 'raw-log'));
    const comparisons: Comparison[] = [];
    for (const each of CASES) comparisons.push(await compare(bench, log, file, each));
    return comparisons;
  },
};

async function compare(
  bench: Bench,
  log: SqliteEventLog,
  file: GroupCommitFile,
  { writers, events, share }: (typeof CASES)[number],
): Promise<Comparison> {
  const count = Math.ceil((bench.addedSyncTime > 0 ? events / 8 : events) / writers);
  const rate = async (write: (stream: string, revision: number) => Promise<unknown>): Promise<number> => {
    const seconds = await secondsOf(() => writeAll(writers, count, write));
    return (writers * count) / seconds;
  };
  const what = `${writers} ${writers === 1 ? 'writer' : 'writers'}`;
  const found = await interleave(bench, `G1, ${what}`, {
    log: () =>
      rate((stream, revision) => log.append(stream, revision === 0 ? 'none' : revision - 1, [newEvent()])),
    file: () => rate((stream, revision) => file.append(JSON.stringify({ stream, revision, ...newEvent() }))),
  });
  return {
    what,
    unit: 'events/s',
    ours: { name: 'event log', values: found.log },
    reference: { name: 'group-commit file', values: found.file },
    wanted: atLeast(share),
  };
}

/** Has each writer append to its own stream, one event after the other. */
async function writeAll(
  writers: number,
  count: number,
  write: (stream: string, revision: number) => Promise<unknown>,
): Promise<void> {
  const writer = async (): Promise<void> => {
    const stream = `bench-${randomUUID()}`;
    for (let revision = 0; revision < count; revision += 1) await write(stream, revision);
  };
  await Promise.all(Array.from({ length: writers }, writer));
}

function newEvent() {
  return { id: randomUUID(), type: 'Benched', data: { text: 'x'.repeat(800) }, metadata: { actor: 'bench' } };
}
