import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { depositContent } from '../../projections/deposit-content.ts';
import { type DepositStatusView, depositStatus } from '../../projections/deposit-status.ts';
import type { DepositEvent } from '../../src/domain/deposit/events.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { estimateTotal } from '../../src/event-log/progress-estimate.ts';
import { copyLog } from '../../src/operations/copy/log-copy.ts';
import type { Call } from '../../src/tools/concurrency/worker-client.ts';
import { runInWorld, type Workers } from '../../src/tools/outside-world.ts';
import { foldByKey, foldStream } from '../../src/views/fold.ts';
import type { Projection } from '../../src/views/projection.ts';
import { Projector } from '../../src/views/projector.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import type { ViewJob } from '../../src/views/store/view-jobs.ts';
import { executeDeposit } from '../../testing/domain/commands.ts';
import { createDeposit, loadedData, reading } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { logOnDouble } from '../event-log/log-on-double.ts';

/** Follows the log until it has caught up, then calls `look` with the views, then stops. */
async function following(
  log: EventLog,
  folder: string,
  look: (views: { status: (id: number) => DepositStatusView | undefined; projector: Projector }) => unknown,
  projection: Projection<DepositStatusView, DepositEvent> = depositStatus,
): Promise<number> {
  using store = new SqliteViewStore(folder, 'memory');
  const projector = new Projector(log, store);
  const view = projector.add(projection);
  projector.add(depositContent);
  let applied = 0;
  await projector.start(
    () => undefined,
    (events) => {
      applied = events;
    },
  );
  await look({ status: (id) => view.get(String(id)), projector });
  await projector.stop();
  return applied;
}

test('the estimate of the events of a start leaves out those that an earlier start has applied', (t) => {
  const [from, position, head] = ['0000000000000014', '000000000000001e', '0000000000000028'];
  t.is(estimateTotal(10, position, head, from), 20);
  t.is(estimateTotal(30, position, head), 40);
  t.is(estimateTotal(0, from, head, from), undefined);
  t.is(estimateTotal(0, head, head, head), undefined);
});

async function depositOf(log: EventLog, depositId: number): Promise<void> {
  await executeDeposit(log, depositId, createDeposit({ depositId }));
}

test('views match the log, before and after a restart, with each event applied once', async (t) => {
  await using log = new MemoryEventLog();
  const folder = await temporaryFolder(t);
  await depositOf(log, 1);
  t.is(await following(log, folder, ({ status }) => t.is(status(1)?.status, 'deposited')), 4);
  await executeDeposit(log, 1, {
    type: 'RecordVerified',
    depositId: 1,
    attempt: 1,
    readings: [reading],
    warnings: [],
  });
  await executeDeposit(log, 1, { type: 'StartLoading', depositId: 1, attempt: 1 });
  await executeDeposit(log, 1, { type: 'RecordLoaded', loaded: loadedData });
  const seen = await following(log, folder, ({ status }) => {
    t.like(status(1), {
      status: 'done',
      revision: 6,
      title: 'Paint',
      loaded: { directory: loadedData.directory },
    });
  });
  t.is(seen, 3, 'events applied before are not read again');
});

test('a deleted views file, a file that is no database, and a new version only cause a rebuild', async (t) => {
  await using log = new MemoryEventLog();
  const folder = await temporaryFolder(t);
  for (const id of [1, 2, 3]) await depositOf(log, id);
  await following(log, folder, () => undefined);
  const file = path.join(folder, 'views.1.sqlite');
  await writeFile(file, 'this is no database, and longer than a header of one would be'.repeat(100));
  for (const suffix of ['-wal', '-shm']) await rm(`${file}${suffix}`, { force: true });
  t.is(await following(log, folder, ({ status }) => t.is(status(3)?.status, 'deposited')), 12);
  const newer = { ...depositStatus, version: depositStatus.version + 1 };
  t.is(await following(log, folder, ({ status }) => t.is(status(2)?.status, 'deposited'), newer), 12);
});

for (const [how, ids] of [
  ['shorter', [4]],
  ['as long', [4, 5]],
  ['longer', [4, 5, 6]],
] as const) {
  test(`views of another log are rebuilt if that is ${how}`, async (t) => {
    const folder = await temporaryFolder(t);
    await using old = new MemoryEventLog();
    for (const id of [1, 2]) await depositOf(old, id);
    await following(old, folder, () => undefined);
    await using log = new MemoryEventLog();
    for (const id of ids) await depositOf(log, id);
    await following(log, folder, ({ status, projector }) => {
      for (const id of ids) t.is(status(id)?.status, 'deposited');
      t.deepEqual([status(1), status(2)], [undefined, undefined]);
      t.deepEqual(
        projector.reached.map(({ events }) => events),
        [4 * ids.length, 4 * ids.length],
      );
    });
  });
}

test('views are rebuilt for a restored log with the same events at other positions', async (t) => {
  const folder = await temporaryFolder(t);
  const { double, log } = await logOnDouble(t);
  for (let event = 0; event < 6; event += 1) double.log.appendSystemEvent();
  await depositOf(log, 1);
  await following(log, folder, () => undefined);
  const { log: restored } = await logOnDouble(t);
  await copyLog(log, restored, { engine: 'eventstoredb' });
  for (const id of [2, 3, 4]) await depositOf(restored, id);
  const [before, after] = await Promise.all([log.head(), restored.head()]);
  t.true(before && after && before < after, 'the views are not beyond the end of the restored log');
  const applied = await following(restored, folder, ({ status }) => {
    for (const id of [1, 2, 3, 4]) t.is(status(id)?.status, 'deposited');
  });
  t.is(applied, 16);
  t.is(await following(restored, folder, () => undefined), 0, 'they belong to that log now');
});

test('waiting for a position returns true once the views have passed it, and false at the timeout', async (t) => {
  await using log = new MemoryEventLog();
  await following(log, await temporaryFolder(t), async ({ status, projector }) => {
    const { position } = await executeDeposit(log, 1, createDeposit());
    t.true(await projector.passed(position, 5000));
    t.is(status(1)?.status, 'deposited');
    t.false(await projector.passed(`${position}0`, 20));
  });
});

test('a view folded from its stream is the view of the projector', async (t) => {
  await using log = new MemoryEventLog();
  for (const id of [1, 2]) await depositOf(log, id);
  await executeDeposit(log, 2, {
    type: 'RecordRejected',
    depositId: 2,
    attempt: 1,
    reasons: [],
    warnings: [],
  });
  const folded = await foldStream(depositStatus, log.readStream('deposit-2'));
  t.deepEqual((await foldByKey(depositStatus, log.readAll())).get('2'), folded);
  await following(log, await temporaryFolder(t), ({ status }) => t.deepEqual(status(2), folded));
});

test('an unknown event type stops the projector and is not skipped', async (t) => {
  await using log = new MemoryEventLog();
  const id = '00000000-0000-4000-8000-000000000000';
  await log.append('deposit-1', 'none', [
    { id, type: 'DepositCreated', data: {}, metadata: { schemaVersion: 99 } },
  ]);
  await t.throwsAsync(
    following(log, await temporaryFolder(t), () => undefined),
    { code: 'UNREADABLE_EVENT', message: /schema version 99/ },
  );
});

/** Returns a log, and a folder with the large file of a view of it. */
async function largeFile(t: ExecutionContext) {
  const log = new MemoryEventLog();
  const folder = await temporaryFolder(t);
  const { DepositCreated: created } = depositStatus.when;
  const when: typeof depositStatus.when = {
    ...depositStatus.when,
    DepositCreated: (view, event) => {
      const changed = created?.(view, event);
      return changed && { ...changed, uuid: 'x'.repeat(1024 ** 2) };
    },
  };
  const large: Projection<DepositStatusView, DepositEvent> = { ...depositStatus, when };
  for (let id = 1; id <= 6; id += 1) await depositOf(log, id);
  await following(log, folder, () => undefined, large);
  return { log, folder, large };
}

/** Runs `work` with threads that report the kind of each job before they get it. */
function withJobs(onJob: (kind: ViewJob['kind'], worker: Worker) => void, work: () => unknown): unknown {
  const start: Workers['start'] = (program, options) => {
    const worker = new Worker(program, options);
    const postMessage = worker.postMessage.bind(worker);
    worker.postMessage = (call: Call<ViewJob>) => {
      onJob(call.request.kind, worker);
      postMessage(call);
    };
    return worker;
  };
  return runInWorld({ workers: { start } }, work);
}

test('lookups of a large file are added in a thread, one view after the other until a stop', async (t) => {
  const { log, folder, large } = await largeFile(t);
  const jobs: string[] = [];
  const stopAt = async (last: number): Promise<void> => {
    jobs.length = 0;
    using store = new SqliteViewStore(folder, 'memory');
    const projector = new Projector(log, store);
    projector.add(large);
    projector.add(depositContent);
    const stopped = Promise.withResolvers<void>();
    const onJob = (kind: ViewJob['kind']): void => {
      if (kind !== 'close' && jobs.push(kind) === last) stopped.resolve(projector.stop());
    };
    withJobs(onJob, () => void projector.start(() => undefined));
    await stopped.promise;
  };
  await stopAt(2);
  t.deepEqual(jobs, ['add-lookups', 'add-lookups']);
  await stopAt(1);
  t.deepEqual(jobs, ['add-lookups']);
});

test('a start continues when the thread ends that adds the lookups of a large file', async (t) => {
  const { log, folder, large } = await largeFile(t);
  using store = new SqliteViewStore(folder, 'memory');
  const projector = new Projector(log, store);
  const view = projector.add(large);
  const reasons: (string | undefined)[] = [];
  const jobs: string[] = [];
  const onJob = (kind: ViewJob['kind'], worker: Worker): void => {
    if (kind !== 'close') reasons.push(projector.lastError);
    if (jobs.push(kind) <= 2) void worker.terminate();
  };
  await withJobs(onJob, () => projector.start((error) => t.fail(String(error))));
  t.deepEqual(jobs, ['add-lookups', 'add-lookups', 'add-lookups']);
  t.regex(reasons[2] ?? '', /^The views in \S+ cannot be written: the worker thread ended with code \d\.$/);
  t.is(projector.lastError, undefined);
  t.is(view.count({}), 6);
  await projector.stop();
});
