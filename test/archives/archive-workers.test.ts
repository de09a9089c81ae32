import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Transferable, Worker } from 'node:worker_threads';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import test from 'ava';
import { type Inspection, defaultArchiveLimits as limits } from '../../src/archives/archive-reader.ts';
import type { ArchiveJob } from '../../src/archives/workers/archive-job.ts';
import { ArchiveWorkers } from '../../src/archives/workers/archive-workers.ts';
import { OfferedBatches, type SentBatch } from '../../src/archives/workers/assistance.ts';
import { PortAssistant, readSentBatch } from '../../src/archives/workers/port-assistant.ts';
import { WorkerPool } from '../../src/archives/workers/worker-pool.ts';
import { ObjectCorrupt } from '../../src/object-store/object-store.ts';
import { isTransient } from '../../src/tools/concurrency/transient-faults.ts';
import { runInWorld, type Workers } from '../../src/tools/outside-world.ts';
import { tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { inspect } from './reading.ts';

const demo = zipOf([{ name: 'demo/README.md', data: 'A small project.\n' }]);
const demoSource = { kind: 'bytes', bytes: demo } as const;
const demoSha256 = hash('sha256', demo);

function accepted(inspection: Inspection) {
  if (inspection.outcome === 'refused') throw new Error(JSON.stringify(inspection.faults));
  return inspection;
}

/** Returns a gzip of the bytes and of a long piece, as often as given: compressed once, and copied. */
function gzipOfRepeated(begin: Buffer, piece: Buffer, times: number): Buffer {
  const [head, body] = [begin, piece].map((bytes) =>
    deflateRawSync(bytes, { level: 1, finishFlush: constants.Z_FULL_FLUSH }),
  ) as [Buffer, Buffer];
  let sum = crc32(begin);
  for (let time = 0; time < times; time += 1) sum = crc32(piece, sum);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(sum, 0);
  trailer.writeUInt32LE(begin.length + times * piece.length, 4);
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3]);
  const lastBlock = Buffer.from([3, 0]);
  return Buffer.concat([header, head, ...Array<Buffer>(times).fill(body), lastBlock, trailer]);
}

/** An archive that takes seconds to read: 400 MB of zeros without a member. */
const slow = gzipOfRepeated(tarOf([{ name: 'a', data: 'x' }]), Buffer.alloc(4 * 1024 ** 2), 100);
const slowLimits = { ...limits, ratio: 1e6, unpackedBytes: 1e9, wallTime: 50, wallBytesPerMs: 1e9 };

test('a worker returns the same result as the reader in this thread', async (t) => {
  await using workers = new ArchiveWorkers();
  const { tree, ...inspection } = accepted(await workers.inspect(demoSource, demoSha256, limits));
  t.deepEqual<unknown, unknown>(inspection, await inspect(demo));
  const { listing } = inspection;
  t.deepEqual<unknown, unknown>(tree, await workers.merge([{ sha256: demoSha256, listing }]));
});

test('an archive in a file is read by its path', async (t) => {
  const file = join(await temporaryFolder(t), 'a');
  await writeFile(file, demo);
  await using workers = new ArchiveWorkers();
  const inspection = await workers.inspect({ kind: 'file', path: file }, demoSha256, limits);
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
  for (const options of [{}, { execArgv: ['--no-such-option'] }]) {
    const worker = { name: 'test', ...options };
    await using pool = new WorkerPool(entry, { size: 1, queueLength: 1, worker });
    const refused = { code: 'POOL_BUSY', message: 'No worker could begin the job.' };
    const jobs = [pool.run('a job', 60_000), pool.run('another', 60_000)];
    await Promise.all(jobs.map((job) => t.throwsAsync(job, refused)));
  }
});

test('the start time of a worker does not count as time of its job', async (t) => {
  const slow = `import { parentPort } from 'node:worker_threads';
    await new Promise((resolve) => setTimeout(resolve, 300));
    parentPort.on('message', (job) => {
      parentPort.postMessage('begun');
      parentPort.postMessage(job);
    });`;
  const entry = new URL(`data:text/javascript,${encodeURIComponent(slow)}`);
  await using pool = new WorkerPool<string, string>(entry, {
    size: 1,
    queueLength: 1,
    worker: { name: 'test' },
  });
  t.is(await pool.run('a job', 100), 'a job');
});

/** A pool of two threads whose jobs take the milliseconds that they say. */
function napping(): WorkerPool<number, number> {
  const program = `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (ms) => {
      parentPort.postMessage('begun');
      setTimeout(() => parentPort.postMessage(ms), ms);
    });`;
  const entry = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  return new WorkerPool(entry, { size: 2, queueLength: 9, worker: { name: 'test' } });
}

test('a job is not given to an idle worker that has failed and is about to exit', async (t) => {
  const program = `
    import { parentPort, threadId } from 'node:worker_threads';
    parentPort.on('message', (job) => {
      if (job === 'fail') throw new Error('an idle thread fails');
      parentPort.postMessage('begun');
      parentPort.postMessage(threadId);
    });`;
  const entry = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  const hasFailed = Promise.withResolvers<void>();
  const started: Worker[] = [];
  class WatchedWorker extends Worker {
    override emit(event: string | symbol, ...args: unknown[]): boolean {
      if (event === 'error') hasFailed.resolve();
      return super.emit(event as 'error', ...args);
    }
  }
  const start: Workers['start'] = (file, options) => {
    const worker = new WatchedWorker(file, options);
    started.push(worker);
    return worker;
  };
  await runInWorld({ workers: { start } }, async () => {
    const options = { size: 1, queueLength: 1, worker: { name: 'failing' } };
    await using pool = new WorkerPool<string, number>(entry, options);
    const idle = await pool.run('a job', 60_000);
    const alive = setInterval(() => undefined, 1000); // an idle worker does not keep the process alive
    started[0]?.postMessage('fail');
    await hasFailed.promise;
    clearInterval(alive);
    t.not(await pool.run('a job', 60_000), idle);
  });
});

/** Runs `work` with the threads that it starts. */
function withThreads<Result>(work: (started: readonly Worker[]) => Promise<Result>): Promise<Result> {
  const started: Worker[] = [];
  const start: Workers['start'] = (file, options) => {
    const worker = new Worker(file, options);
    started.push(worker);
    return worker;
  };
  return runInWorld({ workers: { start } }, () => work(started));
}

test('an archive is not refused for the end of a thread that had not begun to read it', (t) =>
  withThreads(async (started) => {
    await using workers = new ArchiveWorkers({ size: 1 });
    const inspected = () => workers.inspect(demoSource, demoSha256, limits);
    const { listing } = accepted(await inspected());
    const end = (): void => void started.at(-1)?.terminate(); // the pool notices it later
    end();
    t.is((await inspected()).outcome, 'accepted', 'another thread reads it');
    end();
    const merged = workers.merge([{ sha256: demoSha256, listing }]);
    await t.throwsAsync(merged, { code: 'POOL_BUSY' }, 'its bytes are lost with the thread');
    t.is(started.length, 2);
  }));

test('only a started thread that no other job wants is idle', async (t) => {
  await using pool = napping();
  const runIfIdle = () => pool.runIfIdle(1, 60_000, {});
  t.is(runIfIdle(), undefined, 'no thread was started');
  await Promise.all([pool.run(1, 60_000), pool.run(1, 60_000)]);
  t.is(pool.started, 2);
  const job = pool.run(1, 60_000);
  const idle = runIfIdle();
  t.is(runIfIdle(), undefined, 'the job and the first part have both threads');
  const waiting = pool.run(1, 60_000);
  t.is(await idle, 1);
  await Promise.all([job, waiting]);
  await pool[Symbol.asyncDispose]();
  t.is(runIfIdle(), undefined, 'the pool was closed');
});

const offeredBatch = () => {
  const member = { rawName: 'a', method: 0, crc: 0xe8b7be43, packed: 1, unpacked: 1, isLink: false };
  return { bytes: new Uint8Array(Buffer.from('a')), members: [member] };
};

/** Returns an assistant with one other thread, in which `read` begins to read a batch. */
function assistantOf(read: (batch: SentBatch) => Promise<string> | undefined) {
  const offered = new OfferedBatches(read);
  return { offered, assistant: new PortAssistant({ port: offered.port, threads: 1 }) };
}

test('a batch is read by its own thread if no other one is idle', async (t) => {
  const { offered, assistant } = assistantOf(() => undefined);
  using _offered = offered;
  t.like(await assistant.read(offeredBatch()), [{ hashed: { length: 1, sha256: hash('sha256', 'a') } }]);
});

test('a batch waits for an earlier one of the same archive, and then only for an idle thread', async (t) => {
  const ends: (() => void)[] = [];
  const read = (batch: SentBatch) => {
    if (ends.length > 0) return undefined;
    const { promise, resolve } = Promise.withResolvers<string>();
    ends.push(() => resolve(readSentBatch(batch)));
    return promise;
  };
  const { offered, assistant } = assistantOf(read);
  using _offered = offered;
  const order: string[] = [];
  const first = assistant.read(offeredBatch()).then(() => order.push('first'));
  t.true(assistant.isFree);
  const second = assistant.read(offeredBatch()).then(() => order.push('second'));
  t.false(assistant.isFree);
  while (ends.length === 0) await setTimeout(1);
  await setTimeout(20);
  t.deepEqual(order, []);
  ends[0]?.();
  await Promise.all([first, second]);
  t.deepEqual(order, ['first', 'second']);
});

test('a batch of which another thread dies is not read at all, nor is one that waits', async (t) => {
  const [died, waits] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  let asked = 0;
  const { assistant } = assistantOf(() => {
    asked += 1;
    if (asked === 1) return died.promise;
    waits.resolve();
    return undefined;
  });
  const reads = [assistant.read(offeredBatch()), assistant.read(offeredBatch())];
  await waits.promise;
  died.reject(new Error('The worker failed.'));
  for (const read of reads) await t.throwsAsync(read, { code: 'ASSISTANT_DIED' });
  await setTimeout(20);
  t.is(asked, 2);
});

/** A zip that is large enough to be read by several threads; its members hardly shrink. */
const large = zipOf(
  Array.from({ length: 80 }, (_, index) => ({
    name: `f/${index}`,
    data: Buffer.concat(
      Array.from({ length: 2000 }, (_, part) => hash('sha256', `${index} ${part}`, 'buffer')),
    ),
  })),
);

test('a large zip is read by all idle threads, with the result of one', async (t) => {
  await using workers = new ArchiveWorkers();
  await Promise.all([workers.merge([]), workers.merge([])]);
  let most = 0;
  const inspecting = workers.inspect({ kind: 'bytes', bytes: large }, hash('sha256', large), limits);
  const watch = setInterval(() => (most = Math.max(most, workers.load.busy)), 0);
  const inspection = accepted(await inspecting);
  clearInterval(watch);
  t.is(most, 2);
  t.like(await inspect(large), { listing: inspection.listing, files: 80 });
  t.like(workers.load, { busy: 0, waiting: 0 });
});

test('a large zip is not refused for the end of a thread that had not begun on a part of it', (t) =>
  withThreads(async (started) => {
    await using workers = new ArchiveWorkers();
    await Promise.all([workers.merge([]), workers.merge([])]);
    for (const worker of started) {
      const postMessage = worker.postMessage.bind(worker);
      worker.postMessage = (job: ArchiveJob, transfer: Transferable[]) => {
        if (job.kind === 'batch') void worker.terminate();
        postMessage(job, transfer);
      };
    }
    const inspection = () => workers.inspect({ kind: 'bytes', bytes: large }, hash('sha256', large), limits);
    await t.throwsAsync(inspection(), { code: 'POOL_BUSY' });
    t.is((await inspection()).outcome, 'accepted');
  }));

test('listings are merged in a worker', async (t) => {
  await using workers = new ArchiveWorkers();
  const inspection = await workers.inspect(demoSource, demoSha256, limits);
  if (inspection.outcome === 'refused') return t.fail();
  const merged = await workers.merge([{ sha256: demoSha256, listing: inspection.listing }]);
  t.like(merged, { outcome: 'accepted', files: 1, bytes: 17 });
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
  t.regex(JSON.stringify(crashed), /it took more than \d+ seconds \(the limit\), or more memory than/);
  t.is(next.outcome, 'accepted');
});

test('a worker that ends with an error refuses its archive for this reason, not for its time or memory', async (t) => {
  await using workers = new ArchiveWorkers();
  const merged = await workers.merge([{ sha256: demoSha256, listing: Buffer.from('no listing') }]);
  t.is(merged.outcome, 'refused');
  t.regex(
    JSON.stringify(merged),
    /"CHECK_ABORTED","text":"The check of the archive was aborted by an error: The last line of a listing has no end\."/,
  );
});

test('a check that the system has no memory for refuses no archive: it is repeated', async (t) => {
  const errors = [
    `Object.assign(new Error('Zlib error'), { code: 'Z_MEM_ERROR' })`,
    `Object.assign(new Error('Initialization failed'), { code: 'ERR_ZLIB_INITIALIZATION_FAILED' })`,
    `Object.assign(new Error('No memory is left.'), { code: 'ENOMEM' })`,
    `new RangeError('Array buffer allocation failed')`,
  ];
  for (const error of errors) {
    const program = `import { parentPort } from 'node:worker_threads';
      parentPort.on('message', () => {
        parentPort.postMessage('begun');
        throw ${error};
      });`;
    const entry = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
    const start: Workers['start'] = (_, options) => new Worker(entry, options);
    await runInWorld({ workers: { start } }, async () => {
      await using workers = new ArchiveWorkers({ onAborted: () => t.fail() });
      const refused = await t.throwsAsync(workers.inspect(demoSource, demoSha256, limits), undefined, error);
      t.true(isTransient(refused), error);
    });
  }
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
  await workers.merge([]);
  t.is((await lower()).length, 1);
});

test('an idle worker does not keep the process alive', async (t) => {
  const script = join(await temporaryFolder(t), 'script.ts');
  const room = new URL('../../src/archives/', import.meta.url).href;
  await writeFile(
    script,
    `import { ArchiveWorkers } from '${room}workers/archive-workers.ts';
     const workers = new ArchiveWorkers();
     console.log((await workers.merge([])).outcome);`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 20_000 });
  t.is(stdout, 'accepted\n');
});
