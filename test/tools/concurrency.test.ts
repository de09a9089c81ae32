import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { AbortGate } from '../../src/tools/concurrency/abort-gate.ts';
import { Backoff } from '../../src/tools/concurrency/backoff.ts';
import { FairQueue } from '../../src/tools/concurrency/fair-queue.ts';
import { FairSemaphore } from '../../src/tools/concurrency/fair-semaphore.ts';
import { mapConcurrent } from '../../src/tools/concurrency/limiter.ts';

test('owners are served round-robin, each in its order of arrival', (t) => {
  const waiting = new FairQueue<string>();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) waiting.add(name.charAt(0), name);
  t.is(waiting.size, 6);
  t.is(
    waiting.take((owner) => owner !== 'a'),
    'b1',
  );
  const taken = Array.from({ length: 4 }, () => waiting.take());
  t.deepEqual(taken, ['a1', 'c1', 'a2', 'c2']);
  waiting.add('b', 'b2');
  t.deepEqual([waiting.takeAll(), waiting.size, waiting.take()], [['a3', 'b2'], 0, undefined]);
});

const refused = (reached: string) => new Error(`limit of ${reached}`);

test('a semaphore has a limit, a lower one per owner, and serves waiters in turn', async (t) => {
  const semaphore = new FairSemaphore({
    limit: 3,
    ownerLimit: 2,
    waiting: 3,
    ownerWaiting: 2,
    refuse: refused,
  });
  const first = semaphore.acquireNow('a');
  const second = await semaphore.acquire('a');
  t.throws(() => semaphore.acquireNow('a'), { message: 'limit of owner' });
  const third = semaphore.acquireNow('b');
  t.throws(() => semaphore.acquireNow('c'), { message: 'limit of total' });
  const order: string[] = [];
  const waiting = ['a', 'a', 'c'].map(async (owner) => {
    const permit = await semaphore.acquire(owner);
    order.push(owner);
    return permit;
  });
  t.is(semaphore.waiting, 3);
  await t.throwsAsync(semaphore.acquire('d'), { message: 'limit of total' }, 'the queue is full');
  third[Symbol.dispose]();
  await waiting[2];
  t.deepEqual(order, ['c'], 'a is at its share');
  first[Symbol.dispose]();
  second[Symbol.dispose]();
  await Promise.all(waiting.slice(0, 2));
  t.is(semaphore.held, 3);
});

test('a permit is wanted if a waiting acquisition could get it', (t) => {
  const semaphore = new FairSemaphore({ limit: 3, ownerLimit: 2, waiting: 9, refuse: refused });
  for (const owner of ['a', 'a', 'b']) semaphore.acquireNow(owner);
  const wanted = () => ['a', 'b'].filter((owner) => semaphore.isWanted(owner));
  t.deepEqual(wanted(), []);
  void semaphore.acquire('a');
  t.deepEqual(wanted(), ['a'], 'a permit of b would not help, since a is at its share');
  void semaphore.acquire('c');
  t.deepEqual(wanted(), ['a', 'b']);
});

test('a permit of an owner is wanted if its release would raise the share of a waiting one', (t) => {
  const semaphore = new FairSemaphore({
    limit: 64,
    ownerLimit: 16,
    shrinking: true,
    waiting: 9,
    refuse: refused,
  });
  for (let count = 0; count < 16; count += 1) semaphore.acquireNow('a');
  for (let count = 0; count < 12; count += 1) semaphore.acquireNow('b');
  t.false(semaphore.isWanted('a'));
  void semaphore.acquire('b');
  t.true(semaphore.isWanted('a'));
});

test('shrinking shares leave a permit for an owner without one', async (t) => {
  const refuse = (reached: string, held: number) => new Error(`${reached} has ${held}`);
  const semaphore = new FairSemaphore({ limit: 16, ownerLimit: 12, shrinking: true, waiting: 9, refuse });
  const held = new Map<string, Disposable[]>();
  for (const owner of ['a', 'b', 'c']) {
    const permits: Disposable[] = [];
    held.set(owner, permits);
    t.throws(
      () => {
        for (;;) permits.push(semaphore.acquireNow(owner));
      },
      { message: /^owner has / },
    );
  }
  t.deepEqual(
    [...held.values()].map(({ length }) => length),
    [12, 3, 1],
  );
  t.throws(() => semaphore.acquireNow('d'), { message: 'total has 16' });
  const waiting = ['b', 'b', 'c'].map((owner) => semaphore.acquire(owner));
  for (const permit of held.get('a') ?? []) permit[Symbol.dispose]();
  await Promise.all(waiting);
  t.is(semaphore.held, 7, 'each within its share starts');
});

test('an acquisition waits for a limited time, and ends with its signal, without losing a permit', async (t) => {
  const semaphore = new FairSemaphore({ limit: 1, waiting: 9, timeoutMs: 20, refuse: refused });
  const held = semaphore.acquireNow('a');
  await t.throwsAsync(semaphore.acquire('b'), { message: 'limit of total' });
  const stop = new AbortController();
  const aborted = semaphore.acquire('b', stop.signal);
  stop.abort(new Error('gone'));
  await t.throwsAsync(aborted, { message: 'gone' });
  const closed = semaphore.acquire('c');
  semaphore.rejectWaiting(new Error('closed'));
  await t.throwsAsync(closed, { message: 'closed' });
  held[Symbol.dispose]();
  t.deepEqual([semaphore.held, semaphore.waiting], [0, 0]);
  semaphore.acquireNow('b');
});

test('pauses grow with failures, further in an outage, and restart after a success', (t) => {
  const backoff = new Backoff({ firstPause: 100, longestPause: 400, outageAfter: 0, outagePause: 1000 });
  for (const expected of [100, 200, 400, 800, 1000]) {
    const pause = backoff.next();
    t.true(pause >= expected * 0.75 && pause <= expected * 1.25, `${pause} of ${expected}`);
  }
  backoff.reset();
  t.true(backoff.next() <= 125);
});

test('finished work counts, and running and later work is aborted', async (t) => {
  const cutOff = new AbortGate();
  t.is(await cutOff.race(Promise.resolve(1)), 1);
  await t.throwsAsync(cutOff.race(Promise.reject(new Error('its own'))), { message: 'its own' });
  const never = new Promise<void>(() => undefined);
  const waiting = [cutOff.race(never), cutOff.race(never)];
  cutOff.abort(new Error('cut'));
  for (const one of [...waiting, cutOff.race(never)]) await t.throwsAsync(one, { message: 'cut' });
});

const JOBS = 100_000;

// Alone, since it measures the heap.
test.serial('a long job retains nothing of the jobs that run and end meanwhile', async (t) => {
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
