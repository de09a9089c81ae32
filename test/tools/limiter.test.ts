import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { mapConcurrent } from '../../src/tools/concurrency/limiter.ts';

const JOBS = 100_000;

test('a long job retains nothing of the jobs that run and end meanwhile', async (t) => {
  const long = Promise.withResolvers<void>();
  const before = heapBytes();
  let grown = 0;
  await mapConcurrent(Array(JOBS).keys(), 8, async (job) => {
    if (job === 0) return long.promise;
    await nextTurn();
    if (job < JOBS - 1) return;
    grown = heapBytes() - before;
    long.resolve();
  });
  t.true(grown < 5e6, `${grown} bytes`);
});

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
