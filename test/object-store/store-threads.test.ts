import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { HashingThreads } from '../../src/object-store/hashing/hashing-threads.ts';
import { ObjectStoreUnavailable } from '../../src/object-store/object-store.ts';
import { storeThread } from '../../src/object-store/store-errors.ts';
import type { WorkerClient } from '../../src/tools/concurrency/worker-client.ts';
import { runInWorld, type Workers } from '../../src/tools/outside-world.ts';
import { md5Of, newBody, sha256Of } from './bodies.ts';

/** Echoes its requests, except the words that make it fail, end or stay silent. */
const PROGRAM = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ call, request }) => {
    if (request === 'throw') throw new Error('out of order');
    if (request === 'exit') process.exit(3);
    if (request === 'fail') parentPort.postMessage([{ call, fault: { message: 'no room', code: 'ENOSPC' } }]);
    else if (request !== 'wait') parentPort.postMessage([{ call, reply: request }]);
  });
`;

for (const death of ['throw', 'exit']) {
  test(`every open call rejects when the worker ends by ${death}, and the next has a new worker`, async (t) => {
    const calls = callsIn(t);
    const waiting = t.throwsAsync(calls.call('wait'), { instanceOf: ObjectStoreUnavailable });
    const error = await t.throwsAsync(calls.call(death), { instanceOf: ObjectStoreUnavailable });
    t.regex(error.message, death === 'throw' ? /out of order/ : /code 3/);
    await waiting;
    t.is(await calls.call('hello'), 'hello');
  });
}

test('a call rejects with the error of the store when the system has no thread left', async (t) => {
  const calls = callsIn(t);
  const start = (): never => {
    throw new Error('no thread left');
  };
  const error = await runInWorld({ workers: { start } }, () => t.throwsAsync(calls.call('hello')));
  t.true(error instanceof ObjectStoreUnavailable, error.stack);
  t.is(await calls.call('hello'), 'hello');
});

test('an error of the worker keeps its code', async (t) => {
  const error = await t.throwsAsync(callsIn(t).call('fail'), { instanceOf: ObjectStoreUnavailable });
  t.is(error.message, 'The archive store cannot test: ENOSPC.');
  t.like(error.cause, { code: 'ENOSPC', message: 'no room' });
});

test('open calls reject when the worker is closed, later ones too', async (t) => {
  const calls = callsIn(t);
  const waiting = t.throwsAsync(calls.call('wait'), { instanceOf: ObjectStoreUnavailable });
  await calls[Symbol.asyncDispose]();
  await waiting;
  await t.throwsAsync(calls.call('hello'), { instanceOf: ObjectStoreUnavailable });
});

test('a worker that has ended is not started again to be closed', async (t) => {
  let starts = 0;
  const start: Workers['start'] = (program, options) => {
    starts += 1;
    return new Worker(program, options);
  };
  await runInWorld({ workers: { start } }, async () => {
    const calls = callsIn(t);
    await t.throwsAsync(calls.call('exit'), { instanceOf: ObjectStoreUnavailable });
    await calls.closeBy('close');
  });
  t.is(starts, 1);
});

test('a reply that arrives while the worker is closed does not let the process end before', async (t) => {
  const calls = callsIn(t);
  await calls.call('started');
  const reply = calls.call('late');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100); // the reply arrives, and waits for this thread
  await calls[Symbol.asyncDispose](); // AVA fails the test if nothing keeps the process alive meanwhile
  t.is(await reply, 'late');
});

test('each of many concurrent bodies has its own digests, and MD5 only if requested', async (t) => {
  await using threads = new HashingThreads(2);
  const bodies = [0, 1, 262_143, 262_144, 262_145, 524_288, 3_000_000].map(newBody);
  await Promise.all(
    bodies.map(async (body, index) => {
      const md5 = index % 2 === 0;
      using hash = threads.begin({ md5 });
      for (let start = 0; start < body.length; start += 50_001) {
        await hash.update(body.subarray(start, start + 50_001));
      }
      t.deepEqual(await hash.digest(), { sha256: sha256Of(body), md5: md5 ? md5Of(body) : undefined });
    }),
  );
});

test('a hash whose thread is gone rejects and does not restart', async (t) => {
  const threads = new HashingThreads(1);
  using hash = threads.begin();
  await hash.update(newBody(600_000));
  await threads[Symbol.asyncDispose]();
  await t.throwsAsync(hash.digest(), { instanceOf: ObjectStoreUnavailable });
});

function callsIn(t: ExecutionContext): WorkerClient<string, string> {
  const program = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`);
  const calls = storeThread<string, string>('test', program, 'test');
  t.teardown(() => calls[Symbol.asyncDispose]());
  return calls;
}
