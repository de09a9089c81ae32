import { setTimeout } from 'node:timers/promises';
import {
  EventStoreDBClient,
  PINNED,
  persistentSubscriptionToAllSettingsFromDefaults,
  START,
} from '@eventstore/db-client';
import test, { type ExecutionContext } from 'ava';
import type { Delivery } from '../../../src/event-log/consumer-groups/deliveries.ts';
import { EventStoreDbConnection } from '../../../src/event-log/eventstoredb/connection.ts';
import { EventStoreDbDeliveries } from '../../../src/event-log/eventstoredb/consumer-groups/eventstoredb-deliveries.ts';
import { deleteRetiredGroups } from '../../../src/event-log/eventstoredb/consumer-groups/retired-groups.ts';
import { acknowledging, Consumer, GROUP, holding, unacknowledged } from '../consumer-on-double.ts';
import { eventually, type LogOnDouble, logOnDouble } from '../log-on-double.ts';
import { appendEach, listOf, newEvents, upTo } from '../log-under-test.ts';

const TIMES = { callTimeout: 1000, firstPause: 10, longestPause: 100, linger: 200 };

/** A node with two receivers of deposits and one of another prefix. */
class ReceivingNode {
  readonly received = { checker: [] as Delivery[], loader: [] as Delivery[], retries: [] as Delivery[] };
  readonly #stop = new AbortController();
  readonly #deliveries: EventStoreDbDeliveries;
  readonly #receiving: Promise<unknown>;

  constructor(t: ExecutionContext, { double, log }: LogOnDouble) {
    const { connectionString } = double;
    const receivers = ['checker', 'loader', 'retries'];
    this.#deliveries = new EventStoreDbDeliveries(log, { connectionString, receivers, ...TIMES });
    this.#receiving = Promise.all([
      this.#receive('checker', 'deposit-'),
      this.#receive('loader', 'deposit-'),
      this.#receive('retries', 'parked-'),
    ]);
    t.teardown(() => this.stop());
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#receiving;
    await this.#deliveries[Symbol.asyncDispose]();
  }

  async #receive(group: keyof ReceivingNode['received'], prefix: string): Promise<void> {
    for await (const delivery of this.#deliveries.receive(group, prefix, this.#stop.signal))
      this.received[group].push(delivery);
  }
}

test('one consumer feeds all receivers; an event is acknowledged when all that it concerns are done', async (t) => {
  const server = await logOnDouble(t);
  const node = new ReceivingNode(t, server);
  await appendEach(server.log, 'deposit-1', newEvents(1));
  await appendEach(server.log, 'parked-checker', newEvents(1));
  await appendEach(server.log, 'ids-deposit', newEvents(3));
  const { checker, loader, retries } = node.received;
  await eventually(() => checker.length === 1 && loader.length === 1 && retries.length === 1);
  await eventually(() => unacknowledged(server) === 2); // those that concern no receiver are acknowledged at once
  await checker[0]?.acknowledge();
  await retries[0]?.acknowledge();
  await eventually(() => unacknowledged(server) === 1);
  await setTimeout(50);
  t.is(unacknowledged(server), 1, 'the loader has not acknowledged it');
  await loader[0]?.acknowledge();
  await eventually(() => unacknowledged(server) === 0);
  t.is(server.double.groups.get(GROUP)?.consumers, 1);
});

test('settings of a group that differ from those of this release are reported once', async (t) => {
  const server = await logOnDouble(t);
  const own: string[] = [];
  const first = new Consumer(t, server, acknowledging, {
    onOtherSettings: (...found) => own.push(JSON.stringify(found)),
  });
  await eventually(() => server.double.groups.get(GROUP)?.consumers === 1);
  await first.stop();
  const client = EventStoreDBClient.connectionString(server.double.connectionString);
  t.teardown(() => client.dispose());
  const again = new Consumer(t, server, acknowledging, {
    onOtherSettings: (...found) => own.push(JSON.stringify(found)),
  });
  await eventually(() => server.double.groups.get(GROUP)?.consumers === 1);
  await again.stop();
  t.deepEqual(own, [], 'a group that the service has created');

  await client.deletePersistentSubscriptionToAll(GROUP);
  const settings = persistentSubscriptionToAllSettingsFromDefaults({
    startFrom: START,
    consumerStrategyName: PINNED,
    checkPointLowerBound: 1,
    historyBufferSize: 5000,
    liveBufferSize: 5000,
    readBatchSize: 500,
    messageTimeout: 30_000,
  });
  await client.createPersistentSubscriptionToAll(GROUP, settings);
  const reported: unknown[] = [];
  const consumer = new Consumer(t, server, acknowledging, {
    onOtherSettings: (...found) => void reported.push(found),
  });
  await eventually(() => server.double.groups.get(GROUP)?.consumers === 1);
  server.double.dropSubscriptions();
  await appendEach(server.log, 'deposit-1', newEvents(1));
  await eventually(() => consumer.received.length === 1);
  const differences = [
    'messageTimeout is 30000 instead of 3600000',
    'maxRetryCount is 10 instead of 1000000',
  ];
  t.deepEqual(reported, [[GROUP, differences]]);
});

test('events in flight at a slow receiver delay no event of other streams', async (t) => {
  const server = await logOnDouble(t);
  const node = new ReceivingNode(t, server);
  for (const number of upTo(600)) await server.log.append(`deposit-${number}`, 'none', newEvents(1));
  await eventually(() => node.received.loader.length === 600);
  for (const delivery of node.received.loader) await delivery.acknowledge();
  await server.log.append('parked-checker', 'none', newEvents(1));
  await server.log.append('deposit-new', 'none', newEvents(1));
  await eventually(() => node.received.retries.length === 1 && node.received.checker.length === 601);
  t.is(node.received.loader.at(-1)?.event.stream, 'deposit-new');
});

test('events appended without a connected consumer are delivered after a server restart', async (t) => {
  const server = await logOnDouble(t);
  const first = new Consumer(t, server, acknowledging);
  await appendEach(server.log, 'deposit-0', newEvents(1));
  await first.has(1);
  await first.stop();
  for (const number of upTo(20)) {
    await server.log.append(`deposit-${number + 1}`, 'none', newEvents(2));
    await server.log.append(`ids-${number}`, 'none', newEvents(1)); // none of its events
  }
  await setTimeout(2500); // the server writes a checkpoint
  await server.double.restart();
  const second = new Consumer(t, server, acknowledging);
  await eventually(() => new Set(second.ids).size >= 40);
  const all = await listOf(server.log.readAll({ streamPrefixes: ['deposit-'] }));
  const ids = new Set([...first.ids, ...second.ids]);
  t.deepEqual(
    all.filter(({ id }) => !ids.has(id)),
    [],
  );
});

test('lost connections do not count as attempts', async (t) => {
  const server = await logOnDouble(t);
  await server.log.append('deposit-1', 'none', newEvents(1));
  const consumer = new Consumer(t, server, holding);
  await consumer.has(1);
  for (let times = 0; times < 3; times += 1) {
    server.double.dropSubscriptions();
    await eventually(() => server.double.groups.get(GROUP)?.held === 1);
  }
  await consumer.stop();
  const later = new Consumer(t, server, (delivery) => delivery.begin('beside others'));
  await later.hasBegun(1);
  t.deepEqual(later.counts, [1]);
});

test('an event delivered again after it was done does not count as one that crashes its consumers', async (t) => {
  const server = await logOnDouble(t);
  const begun: (number | undefined)[] = [];
  const work = async (delivery: Delivery): Promise<void> => {
    if (delivery.event.stream === 'deposit-1') return; // in work, so that the checkpoint stays before it
    begun.push(await delivery.begin('beside others'));
    await delivery.acknowledge();
  };
  await server.log.append('deposit-1', 'none', newEvents(1));
  await server.log.append('deposit-2', 'none', newEvents(1));
  const consumer = new Consumer(t, server, work);
  await consumer.has(2);
  for (const times of upTo(4)) {
    await eventually(() => unacknowledged(server) === 1 && begun.length === times + 1);
    server.double.groups.restart(); // as when another node leads
    await consumer.has(3 + times);
  }
  await eventually(() => begun.length === 5);
  t.deepEqual(begun, [1, 2, 2, 2, 2]);
});

test('an idle consumer stays connected while the server serves it', async (t) => {
  const server = await logOnDouble(t);
  const consumer = new Consumer(t, server, holding, { consumerQuietTime: 40 });
  await server.log.append('deposit-1', 'none', newEvents(1));
  await consumer.has(1);
  const connected = server.double.faults.seen('consume');
  await setTimeout(400);
  t.is(server.double.faults.seen('consume'), connected, 'ten periods of silence');
  server.double.dropSubscriptions('silence'); // the server forgets it, and does not report it
  await server.log.append('deposit-2', 'none', newEvents(1));
  await consumer.has(2); // also while work is under way
  t.true(server.double.faults.seen('consume') > connected);
});

test('an idle consumer stays connected although another node names its connection alike', async (t) => {
  const server = await logOnDouble(t);
  const connectionString = `${server.double.connectionString}&connectionName=deposits`;
  const busy = new Consumer(t, server, holding, { connectionString });
  await server.log.append('deposit-1', 'none', newEvents(1));
  await busy.has(1);
  const idle = new Consumer(t, server, holding, { connectionString, consumerQuietTime: 40 });
  await eventually(() => server.double.groups.get(GROUP)?.consumers === 2);
  const [connected, asked] = [server.double.faults.seen('consume'), server.double.faults.seen('groupInfo')];
  await eventually(() => server.double.faults.seen('groupInfo') >= asked + 4);
  t.is(server.double.faults.seen('consume'), connected);
  t.is(idle.received.length, 0);
});

test('a group that is catching up continues for the others while one node is at its limit', async (t) => {
  const server = await logOnDouble(t);
  for (const number of upTo(1500)) await server.log.append(`deposit-${number}`, 'none', newEvents(1));
  const full = new Consumer(t, server, holding, { bufferSize: 5 });
  await full.has(5);
  const other = new Consumer(t, server, acknowledging);
  await eventually(() => other.received.length > 600);
  t.is(full.received.length, 5);
});

test('the new group starts after the lowest checkpoint of the old ones, which are deleted once unused', async (t) => {
  const server = await logOnDouble(t);
  await using client = Object.assign(EventStoreDBClient.connectionString(server.double.connectionString), {
    [Symbol.asyncDispose]: () => client.dispose(),
  });
  for (const number of upTo(4)) await server.log.append(`deposit-${number}`, 'none', newEvents(1));
  const settings = persistentSubscriptionToAllSettingsFromDefaults({
    startFrom: START,
    consumerStrategyName: PINNED,
    checkPointLowerBound: 1,
    checkPointAfter: 50,
  });
  for (const [group, done] of [
    ['old-checker', 3],
    ['old-loader', 2],
  ] as const) {
    await client.createPersistentSubscriptionToAll(group, settings);
    const subscription = client.subscribeToPersistentSubscriptionToAll(group);
    let acknowledged = 0;
    for await (const { event } of subscription) {
      await subscription.ack({ event } as Parameters<typeof subscription.ack>[0]);
      if (!event?.streamId.startsWith('deposit-')) continue;
      acknowledged += 1;
      if (acknowledged < done) continue;
      await eventually(() => (server.double.groups.get(group)?.checkpoint ?? 0n) >= event.position.commit);
      break;
    }
    await subscription.unsubscribe();
  }
  const remaining = client.subscribeToPersistentSubscriptionToAll('old-loader', { bufferSize: 1 });
  remaining.on('error', () => undefined);
  await eventually(() => server.double.groups.get('old-loader')?.consumers === 1);

  const deleted: string[] = [];
  const consumer = new Consumer(t, server, acknowledging, {
    retiredGroups: ['old-checker', 'old-loader', 'never-made'],
    lookEvery: 20,
    unusedFor: 200,
    onDeleted: (group) => void deleted.push(group),
  });
  await consumer.has(3);
  // The server begins with the event at the position, which had been acknowledged.
  t.deepEqual(
    consumer.received.map(({ event }) => event.stream),
    ['deposit-1', 'deposit-2', 'deposit-3'],
  );
  await eventually(() => deleted.length === 1);
  t.deepEqual(deleted, ['old-checker']);
  await setTimeout(400);
  t.truthy(server.double.groups.get('old-loader'), 'a consumer is connected');
  await remaining.unsubscribe();
  await eventually(() => deleted.length === 2);
  t.is(server.double.groups.get('old-loader'), undefined);
});

test('an old group is deleted only after a full period without a consumer, which each consumer restarts', async (t) => {
  const { double } = await logOnDouble(t);
  const { connectionString } = double;
  await using connection = new EventStoreDbConnection({ connectionString });
  const { driver } = connection.client();
  await driver.createPersistentSubscriptionToAll('old', persistentSubscriptionToAllSettingsFromDefaults());
  const unusedFor = 600;
  let [isUsed, deletedAt] = [false, 0];
  const options = {
    lookEvery: 20,
    unusedFor,
    onUsed: () => {
      isUsed = true;
      return undefined;
    },
    onDeleted: () => {
      deletedAt = performance.now();
    },
  };
  const begunAt = performance.now();
  const deleting = deleteRetiredGroups(connection, ['old'], options, new AbortController().signal);
  await setTimeout(unusedFor / 2);
  const consumer = driver.subscribeToPersistentSubscriptionToAll('old');
  consumer.on('error', () => undefined);
  await eventually(() => isUsed);
  await setTimeout(Math.max(0, unusedFor + 100 - (performance.now() - begunAt)));
  t.truthy(double.groups.get('old'), 'a consumer is connected');
  const leftAt = performance.now();
  await consumer.unsubscribe();
  await deleting;
  t.true(deletedAt - leftAt >= unusedFor, `deleted ${deletedAt - leftAt} ms after its consumer had left`);
  t.is(double.groups.get('old'), undefined);
});
