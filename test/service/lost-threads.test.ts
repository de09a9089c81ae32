import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { runInWorld, type Workers } from '../../src/tools/outside-world.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { archivePart, entryPart, final, formOf, formType } from '../../testing/http/deposit-bodies.ts';
import { until } from '../../testing/processes/until.ts';
import { keptLines } from '../../testing/service/kept-lines.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { quickCredential } from '../../testing/service/secret-password.ts';

const NAMES = ['archive-reader', 'event-log-writer', 'hashing', 'store-writer', 'view-writer'];

/** The threads of a service. Those with a name in `broken` end as soon as they are started. */
class Threads {
  readonly broken = new Set<string>();
  /** Names of all threads that were started. */
  readonly started: string[] = [];
  readonly #running = new Map<Worker, string>();
  readonly world: Workers = {
    start: (program, options) => {
      const name = options?.name ?? '';
      this.started.push(name);
      const isBroken = this.broken.has(name);
      const worker = isBroken ? new Worker('process.exit(7)', { eval: true }) : new Worker(program, options);
      this.#running.set(worker, name);
      return worker.on('exit', () => this.#running.delete(worker));
    },
  };

  get names(): string[] {
    return [...new Set(this.#running.values())].sort();
  }

  async end(name: string): Promise<void> {
    for (const [worker, named] of this.#running) if (named === name) await worker.terminate();
  }
}

async function serviceWithThreads(t: ExecutionContext) {
  const threads = new Threads();
  const { logger, lines } = keptLines();
  const service = await runInWorld({ workers: threads.world }, () => RunningService.start({}, logger));
  t.teardown(() => service[Symbol.asyncDispose]());
  const alice = await service.register('alice', { collections: ['software'] });
  let clients = 0;
  /** Changes more values of views at a time than the main thread writes. */
  const changeViews = async (): Promise<void> => {
    const names = Array.from({ length: 20 }, () => `client${(clients += 1)}`);
    const register = (client: string) =>
      service.administration.client({ type: 'RegisterClient', client, credential: quickCredential });
    await Promise.all(names.map(register));
  };
  /** Makes a deposit that is hashed by a thread. */
  const deposit = async (): Promise<void> => {
    const archive = tarOf([{ name: 'noise', data: randomBytes(700_000) }]);
    const form = formOf([archivePart(archive, 'a.tar', 'application/x-tar'), entryPart()]);
    const answer = await alice.post('/1/software/', form, { ...formType, ...final });
    t.is(answer.status, 201, await answer.clone().text());
    const editIri = answer.headers.get('location') ?? '';
    await alice.waitFor(editIri.replace(/metadata\/$/, 'status/'), 'done');
  };
  const ready = () => fetch(`${service.url}/health/ready`);
  return { alice, threads, lines, changeViews, deposit, ready };
}

test.serial(
  'each thread that ends while it is idle is logged, and the service continues with a new one',
  async (t) => {
    const { threads, lines, changeViews, deposit, ready } = await serviceWithThreads(t);
    const useAll = async (): Promise<void> => {
      await Promise.all([changeViews(), deposit()]);
      await until(async () => threads.names.length === NAMES.length);
      t.deepEqual(threads.names, NAMES);
    };
    await useAll();
    for (const name of NAMES) {
      await threads.end(name);
      await until(async () => lines.some(({ thread }) => thread === name));
      const line = lines.find(({ thread }) => thread === name);
      t.like(line, { level: 'error', reason: 'the worker thread ended with code 1' });
      t.is((await ready()).status, 200);
    }
    await until(async () => (await ready()).ok && threads.names.includes('store-writer'));
    t.true(threads.names.includes('event-log-writer'), 'readiness has started it again');
    await useAll();
  },
);

for (const [name, problem] of [
  ['event-log-writer', /event log: it cannot write: the worker thread ended with code 7\./],
  ['store-writer', /archive store: The archive store cannot write: the worker thread ended with code 7\./],
] as const)
  test.serial(`a service whose ${name} cannot be started again is not ready, before it writes`, async (t) => {
    const { threads, ready } = await serviceWithThreads(t);
    threads.broken.add(name);
    await threads.end(name);
    await until(async () => !(await ready()).ok); // the last result is answered for a moment
    t.regex(await (await ready()).text(), problem);
    threads.broken.clear();
    await until(async () => (await ready()).ok);
  });

test.serial(
  'a service whose views cannot be written without their thread is not ready, and continues',
  async (t) => {
    const { threads, lines, changeViews, deposit, ready } = await serviceWithThreads(t);
    threads.broken.add('view-writer');
    await changeViews();
    await until(async () => !(await ready()).ok);
    t.regex(
      await (await ready()).text(),
      /views: The views in \S+ cannot be written: the worker thread ended with code 7\./,
    );
    await deposit();
    await until(async () => threads.started.filter((name) => name === 'view-writer').length >= 4);
    threads.broken.clear();
    await until(async () => (await ready()).ok);
    const ofWriter = lines.filter(({ thread }) => thread === 'view-writer');
    t.deepEqual(
      ofWriter.map(({ level, reason }) => [level, reason]),
      [
        ['error', 'the worker thread ended with code 7'],
        ['info', undefined],
      ],
      'it is logged once, and that it is over',
    );
  },
);

test.serial('a search for an object whose thread cannot start is answered 503', async (t) => {
  const { alice, threads, deposit } = await serviceWithThreads(t);
  await deposit();
  const search = () => alice.get(`/1/resolve/swh:1:cnt:${'0'.repeat(40)}/`);
  threads.broken.add('client-reader');
  const answer = await search();
  t.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5'], await answer.text());
  threads.broken.clear();
  t.is((await search()).status, 404);
});
