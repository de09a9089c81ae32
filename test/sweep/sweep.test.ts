import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { Config } from '../../src/config/config.ts';
import type { RecordedEvent } from '../../src/event-log/event-log.ts';
import { ObjectMissing, ObjectStoreUnavailable } from '../../src/object-store/object-store.ts';
import { EventLogParking, parkedEvents } from '../../src/reactors/parking.ts';
import { RECEIVERS } from '../../src/reactors/reactor-names.ts';
import { Sweep } from '../../src/reactors/sweep/sweep.ts';
import { openDeliveries } from '../../src/service/backends/open-log.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { until } from '../../testing/processes/until.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';
import { Exposition } from '../../testing/service/exposition.ts';
import { keptLines } from '../../testing/service/kept-lines.ts';
import { deposit, notify, temporaryKey, WAY } from '../../testing/service/notified-service.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { WebhookReceiver } from '../../testing/service/webhook-receiver.ts';

const HTTP_ALONE = { roles: ['http'] } as const;
const SOON = 400;
const STUCK_AFTER = { stuckAfter: SOON };

/** Starts a service without reactors, with deposits that wait for them. */
async function waiting(t: ExecutionContext, overrides: Partial<Config> = {}) {
  const service = await RunningService.start({ ...HTTP_ALONE, ...overrides });
  t.teardown(() => service[Symbol.asyncDispose]());
  const alice = await service.register('alice', { collections: ['software'] });
  return { service, alice };
}

/** Starts the service with reactors, all of which have already acknowledged every event: nothing is delivered. */
async function startedWithoutDeliveries(
  t: ExecutionContext,
  service: RunningService,
  overrides: Partial<Config>,
): Promise<RunningService> {
  const head = await service.service.log.head();
  await service.stop();
  const folder = path.join(service.folder, 'checkpoints');
  await mkdir(folder, { recursive: true });
  const acknowledged = JSON.stringify({ position: head, last: head, underWay: [] });
  for (const group of RECEIVERS) await writeFile(path.join(folder, `${group}.json`), acknowledged);
  const again = await RunningService.startIn(service.folder, overrides);
  t.teardown(() => again.stop());
  return again;
}

function statusOf(client: TestClient, service: RunningService, id: number): Promise<string | undefined> {
  return client
    .at(service.url)
    .get(`/1/software/${id}/status/`)
    .then((answer) => answer.text())
    .then((text) => /<deposit_status>(\w+)</.exec(text)?.[1]);
}

async function typesOf({ service }: RunningService, stream: string): Promise<string[]> {
  return Array.fromAsync(service.log.readStream(stream), ({ type }) => type);
}

test('deposits without a delivery are checked and loaded by a sweep, and reported until then', async (t) => {
  const { service, alice } = await waiting(t);
  const ids = await Promise.all([1, 2, 3].map(() => deposit(alice, 'software')));
  const idle = await startedWithoutDeliveries(t, service, {});
  t.is(await statusOf(alice, idle, ids[0] as number), 'deposited');
  await idle.stop();

  await pause(SOON);
  const held = await RunningService.startIn(service.folder, { ...HTTP_ALONE, ...STUCK_AFTER });
  const stuck = (await Exposition.of(service.folder)).value('deposit_stuck_deposits', {
    status: 'deposited',
  });
  t.is(stuck, 3);
  await held.stop();

  const sweeping = await RunningService.startIn(service.folder, STUCK_AFTER);
  t.teardown(() => sweeping.stop());
  for (const id of ids) await until(async () => (await statusOf(alice, sweeping, id)) === 'done');
  const metrics = await Exposition.of(service.folder);
  t.is(metrics.value('deposit_stuck_deposits', { status: 'deposited' }), 0);
  t.is(metrics.value('deposit_sweep_begun_total'), 3);
});

test('a sweep sends unsent notifications in order, and repeats none', async (t) => {
  const keyFile = await temporaryKey(t);
  const webhooks = { keyFile, allowPrivate: true, giveUpAfter: 3_600_000, firstPause: 20, longestPause: 200 };
  await using receiver = await WebhookReceiver.start();
  const { service, alice } = await waiting(t, { webhooks });
  const before = await deposit(alice, 'software');
  await notify(service, 'alice', receiver, keyFile);
  const ids = await Promise.all([1, 2].map(() => deposit(alice, 'software')));
  const deleted = await deposit(alice, 'software', { 'In-Progress': 'true' });
  await alice.send('DELETE', `/1/software/${deleted}/metadata/`);
  const sweeping = await startedWithoutDeliveries(t, service, { webhooks, ...STUCK_AFTER });
  await until(async () => ids.every((id) => receiver.statusesOf(id).length === 5));
  await until(async () => receiver.taken.filter((one) => one.deposit === deleted).length === 2);
  for (const id of ids) t.deepEqual(receiver.statusesOf(id), WAY);
  await until(async () => (await statusOf(alice, sweeping, before)) === 'done');
  await pause(3 * SOON);
  t.is(receiver.received.length, 2 * 5 + 2 + 3, 'of the earlier deposit only the events after the webhook');
  t.deepEqual(receiver.statusesOf(before), ['verified', 'loading', 'done']);
});

test('a notification that is too old and has no record is counted and listed, not sent', async (t) => {
  const keyFile = await temporaryKey(t);
  const webhooks = { keyFile, allowPrivate: true, giveUpAfter: 1, firstPause: 20, longestPause: 200 };
  await using receiver = await WebhookReceiver.start();
  const { service, alice } = await waiting(t, { webhooks });
  await notify(service, 'alice', receiver, keyFile);
  const id = await deposit(alice, 'software');
  await startedWithoutDeliveries(t, service, { webhooks, ...STUCK_AFTER });
  const found = async () => {
    const { out } = await runScript(service.folder, 'status', ['--json']);
    return (JSON.parse(out) as { sweep: { unrecorded: { count: number; deposit_ids: number[] } } }).sweep;
  };
  await until(async () => (await found()).unrecorded.count === 1);
  t.deepEqual((await found()).unrecorded.deposit_ids, [id]);
  t.is(receiver.received.length, 0);
  const screen = (await runScript(service.folder, 'status', [])).out;
  t.regex(screen, new RegExp(`without a record and expired: 1 deposit \\(${id}\\)`));
});

test('a sweep ignores events skipped by an operator', async (t) => {
  const { service, alice } = await waiting(t);
  const id = await deposit(alice, 'software');
  const events = await Array.fromAsync(service.service.log.readStream(`deposit-${id}`));
  const completed = events.find(({ type }) => type === 'DepositCompleted');
  const about = { reactor: 'checker', eventId: completed?.id ?? '' };
  const where = { stream: `deposit-${id}`, revision: completed?.revision ?? -1 };
  const { administration } = service;
  await administration.parking({ type: 'ParkEvent', ...about, ...where, reason: 'Deadly.' });
  t.is((await parkedEvents(service.service.log, 'checker')).length, 1);
  await administration.parking({ type: 'SkipParked', ...about, reason: 'Left.' });
  const other = await deposit(alice, 'software');
  const sweeping = await startedWithoutDeliveries(t, service, STUCK_AFTER);
  await until(async () => (await statusOf(alice, sweeping, other)) === 'done');
  await pause(3 * SOON);
  t.is(await statusOf(alice, sweeping, id), 'deposited');
});

test('a parked event whose object is not available delays no retry of another one', async (t) => {
  await using log = new MemoryEventLog();
  const parking = new EventLogParking(log);
  const [away, back] = ['a'.repeat(64), 'b'.repeat(64)];
  for (const [index, object] of [away, back].entries()) {
    const event = {
      id: randomUUID(),
      stream: `deposit-${index}`,
      revision: 1,
      metadata: {},
    } as RecordedEvent;
    await parking.park('checker', event, new ObjectMissing(object), 1);
  }
  let isReady = false;
  const store = {
    get: async (sha256: string) => {
      if (!isReady || sha256 === away) throw new ObjectStoreUnavailable('Some drives are away.');
      return { body: Readable.from([]) };
    },
    ready: async () => {
      if (!isReady) throw new ObjectStoreUnavailable('All drives are away.');
    },
  };
  const { lines, logger } = keptLines();
  const nothing = { find: () => [], values: () => [].values() };
  await using _sweep = new Sweep({
    log,
    store: store as never,
    parking,
    deliveries: { status: async () => ({ position: undefined, waiting: 0, oldest: undefined }) } as never,
    views: { statuses: nothing, webhooks: nothing } as never,
    ready: Promise.resolve(),
    runners: [{ name: 'checker', streamPrefix: 'deposit-' }] as never,
    logger,
    stuckAfter: 1,
    giveUpAfter: 1,
  });
  await until(async () => lines.some(({ msg }) => msg === 'sweep failed, retrying later'));
  t.is((await parking.waiting('checker')).length, 2);
  isReady = true;
  await until(async () => (await parking.waiting('checker')).length === 1);
  t.is((await parking.waiting('checker'))[0]?.object, away);
});

test('two concurrent sweeps record one outcome each', async (t) => {
  await using nodes = await DistributedNodes.start();
  const http = await nodes.add(['http']);
  const alice = await nodes.register(http);
  const ids = await Promise.all(Array.from({ length: 6 }, () => deposit(alice, 'software')));
  await acknowledgedUnseen(nodes);
  await Promise.all([nodes.add(['reactors'], STUCK_AFTER), nodes.add(['reactors'], STUCK_AFTER)]);
  for (const id of ids) {
    await until(async () => (await statusOf(alice, http, id)) === 'done');
    const types = await typesOf(http, `deposit-${id}`);
    t.deepEqual(types.slice(-4), ['DepositCompleted', 'DepositVerified', 'LoadingStarted', 'DepositLoaded']);
  }
  // The work went through the counted path of a delivery.
  t.true(
    (await Array.fromAsync(http.service.log.readAll({ streamPrefixes: ['attempts-checker-'] }))).length > 0,
  );
});

/** Has the group of the reactors acknowledge everything without doing any work, as after a loss. */
async function acknowledgedUnseen(nodes: DistributedNodes): Promise<void> {
  const node = await nodes.add(['http']);
  const { log } = node.service;
  const connectionString = nodes.double.connectionString;
  const config = { eventLog: { kind: 'eventstoredb', connectionString }, dataDir: node.folder };
  const deliveries = await openDeliveries(config as Config, log, { receivers: RECEIVERS });
  const stop = new AbortController();
  const receiving = RECEIVERS.map(async (group) => {
    const prefix = group.endsWith('-retries') ? 'parked-' : 'deposit-';
    for await (const delivery of deliveries.receive(group, prefix, stop.signal)) await delivery.acknowledge();
  });
  const head = (await log.head()) ?? '';
  await until(async () => ((await deliveries.status('checker', 'deposit-')).position ?? '') >= head);
  stop.abort();
  await Promise.all(receiving);
  await deliveries[Symbol.asyncDispose]?.();
}
