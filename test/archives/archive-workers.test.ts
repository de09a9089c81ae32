import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { type Inspection, defaultArchiveLimits as limits } from '../../src/archives/inspection.ts';
import { ArchiveWorkers } from '../../src/archives/workers/archive-workers.ts';
import { WorkerPool } from '../../src/archives/workers/worker-pool.ts';
import { ObjectCorrupt } from '../../src/object-store/object-store.ts';
import { tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { inspect } from './reading.ts';

const demo = zipOf([{ name: 'demo/README.md', data: 'A small project.\n' }]);
const demoSource = { kind: 'bytes', bytes: demo } as const;
const demoSha256 = hash('sha256', demo);

function accepted(inspection: Inspection) {
  if (inspection.outcome === 'refused') throw new Error(JSON.stringify(inspection.faults));
  return inspection;
}

/** An archive that takes seconds to read: 400 MB of zeros without a member. */
const slow = gzipSync(Buffer.concat([tarOf([{ name: 'a', data: 'x' }]), Buffer.alloc(400 * 1024 ** 2)]), {
  level: 1,
});
const slowLimits = { ...limits, ratio: 1e6, unpackedBytes: 1e9, wallTime: 50, wallBytesPerMs: 1e9 };

test('a worker returns the same result as the reader in this thread', async (t) => {
  await using workers = new ArchiveWorkers();
  const { tree, ...inspection } = accepted(await workers.inspect(demoSource, demoSha256, limits));
  t.deepEqual<unknown, unknown>(inspection, await inspect(demo));
  const { listing } = inspection;
  t.deepEqual<unknown, unknown>(tree, await workers.overlay([{ sha256: demoSha256, listing }]));
});

test('an archive in a file is read by its path', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'workers-test-'));
  await writeFile(join(folder, 'a'), demo);
  await using workers = new ArchiveWorkers();
  const inspection = await workers.inspect({ kind: 'file', path: join(folder, 'a') }, demoSha256, limits);
  await rm(folder, { recursive: true });
  const { tree: _tree, ...found } = accepted(inspection);
  t.deepEqual<unknown, unknown>(found, await inspect(demo));
});

test('a worker makes no tree of an archive with a long listing', async (t) => {
  await using workers = new ArchiveWorkers();
  const files = Array.from({ length: 600 }, (_, index) => ({ name: `${'a'.repeat(100)}${index}`, data: '' }));
  const bytes = zipOf(files);
  const inspection = accepted(await workers.inspect({ kind: 'bytes', bytes }, hash('sha256', bytes), limits));
  t.is(inspection.files, 600);
  t.is(inspection.tree, undefined);
});

test('a worker that cannot start reports nothing about the job', async (t) => {
  const entry = new URL('data:text/javascript,throw new Error("too many open files")');
  for (const worker of [{}, { execArgv: ['--no-such-option'] }]) {
    await using pool = new WorkerPool(entry, { size: 1, queueLength: 1, worker });
    const refused = { code: 'POOL_BUSY', message: 'No worker could start.' };
    const jobs = [pool.run('a job', 60_000), pool.run('another', 60_000)];
    await Promise.all(jobs.map((job) => t.throwsAsync(job, refused)));
  }
});

test('the start time of a worker does not count as time of its job', async (t) => {
  const slow = `import { parentPort } from 'node:worker_threads';
    await new Promise((resolve) => setTimeout(resolve, 300));
    parentPort.postMessage('begun');
    parentPort.on('message', (job) => parentPort.postMessage(job));`;
  const entry = new URL(`data:text/javascript,${encodeURIComponent(slow)}`);
  await using pool = new WorkerPool<string, string>(entry, { size: 1, queueLength: 1, worker: {} });
  t.is(await pool.run('a job', 100), 'a job');
});

test('listings are overlaid in a worker', async (t) => {
  await using workers = new ArchiveWorkers();
  const inspection = await workers.inspect(demoSource, demoSha256, limits);
  if (inspection.outcome === 'refused') return t.fail();
  const overlay = await workers.overlay([{ sha256: demoSha256, listing: inspection.listing }]);
  t.like(overlay, { outcome: 'accepted', files: 1, bytes: 17 });
  t.is(inspection.listing.length, 0, 'the buffer was transferred');
});

test('bytes that do not match the digest are an error of the store', async (t) => {
  await using workers = new ArchiveWorkers();
  for (const bytes of [demo, demo.subarray(0, 50), Buffer.from('no archive')]) {
    const reading = workers.inspect({ kind: 'bytes', bytes }, '0'.repeat(64), limits);
    await t.throwsAsync(reading, { instanceOf: ObjectCorrupt, code: 'OBJECT_CORRUPT' });
  }
});

test('an archive that cannot be opened rejects with the error of the file system', async (t) => {
  await using workers = new ArchiveWorkers();
  const path = join(tmpdir(), 'there-is-no-such-archive');
  await t.throwsAsync(workers.inspect({ kind: 'file', path }, demoSha256, limits), { code: 'ENOENT' });
  await t.throwsAsync(workers.inspect({ kind: 'file', path: tmpdir() }, demoSha256, limits), {
    code: 'EISDIR',
  });
  t.is((await workers.inspect(demoSource, demoSha256, limits)).outcome, 'accepted');
});

test('a check that takes too long is aborted, and the next one succeeds', async (t) => {
  const aborted: unknown[] = [];
  const onAborted = ({ message }: Error, archives: readonly string[]) => aborted.push([message, archives]);
  await using workers = new ArchiveWorkers({ size: 1, onAborted });
  const [tooSlow, next] = await Promise.all([
    workers.inspect({ kind: 'bytes', bytes: slow }, hash('sha256', slow), slowLimits),
    workers.inspect(demoSource, demoSha256, limits),
  ]);
  t.like(tooSlow, { outcome: 'refused', faults: [{ code: 'CHECK_ABORTED' }] });
  t.is(next.outcome, 'accepted');
  t.deepEqual(aborted, [['It took more than 51 ms.', [hash('sha256', slow)]]]);
});

test('a worker that runs out of memory refuses its archive, and the next one is read', async (t) => {
  const many = tarOf(Array.from({ length: 60_000 }, (_, index) => ({ name: `${'n'.repeat(80)}${index}` })));
  await using workers = new ArchiveWorkers({ size: 1, heapMegabytes: 16 });
  const [crashed, next] = await Promise.all([
    workers.inspect({ kind: 'bytes', bytes: many }, hash('sha256', many), limits),
    workers.inspect(demoSource, demoSha256, limits),
  ]);
  t.like(crashed, { outcome: 'refused', faults: [{ code: 'CHECK_ABORTED' }] });
  t.is(next.outcome, 'accepted');
});

test('archives are read in order of arrival', async (t) => {
  await using workers = new ArchiveWorkers({ size: 1 });
  const order: number[] = [];
  const jobs = Array.from({ length: 10 }, async (_, index) => {
    await workers.inspect(demoSource, demoSha256, limits);
    order.push(index);
  });
  await Promise.all(jobs);
  t.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('the number of waiting jobs is limited', async (t) => {
  await using workers = new ArchiveWorkers({ size: 1, queueLength: 1 });
  const jobs = Array.from({ length: 3 }, () => workers.inspect(demoSource, demoSha256, limits));
  const results = await Promise.allSettled(jobs);
  t.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected'],
  );
  t.like(results[2], { reason: { code: 'POOL_BUSY' } });
});

test('a job may have a longer time limit than a timer can count', async (t) => {
  await using workers = new ArchiveWorkers();
  const large = { ...limits, wallTime: 2 ** 31 };
  t.like(await workers.inspect(demoSource, demoSha256, large), { outcome: 'accepted' });
});

test('disposing stops running and waiting jobs', async (t) => {
  const workers = new ArchiveWorkers({ size: 1 });
  const patient = { ...slowLimits, wallTime: 60_000 };
  const jobs = [
    workers.inspect({ kind: 'bytes', bytes: slow }, hash('sha256', slow), patient),
    workers.inspect(demoSource, demoSha256, limits),
  ];
  const results = Promise.allSettled(jobs);
  await setTimeout(100);
  await workers[Symbol.asyncDispose]();
  for (const result of await results) t.like(result, { status: 'rejected', reason: { code: 'POOL_CLOSED' } });
  await t.throwsAsync(workers.inspect(demoSource, demoSha256, limits), { code: 'POOL_CLOSED' });
});

const onLinux = process.platform === 'linux' ? test.serial : test.skip;

onLinux('a worker has a lower priority than the other threads', async (t) => {
  const lower = async () =>
    (await readdir('/proc/self/task')).filter((thread) => getPriority(Number(thread)) > getPriority());
  t.deepEqual(await lower(), []);
  await using workers = new ArchiveWorkers({ size: 1 });
  await workers.overlay([]);
  t.is((await lower()).length, 1);
});

test('an idle worker does not keep the process alive', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'workers-test-'));
  const script = join(folder, 'script.ts');
  const room = new URL('../../src/archives/', import.meta.url).href;
  await writeFile(
    script,
    `import { ArchiveWorkers } from '${room}workers/archive-workers.ts';
     const workers = new ArchiveWorkers();
     console.log((await workers.overlay([])).outcome);`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 20_000 });
  await rm(folder, { recursive: true });
  t.is(stdout, 'accepted\n');
});
