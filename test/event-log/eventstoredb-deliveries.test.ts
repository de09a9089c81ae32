import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { EventStoreDBClient } from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import type { Delivery } from '../../src/event-log/deliveries.ts';
import { EventLogUnavailable } from '../../src/event-log/event-log.ts';
import {
  EventStoreDbDeliveries,
  type EventStoreDbDeliveriesOptions,
} from '../../src/event-log/eventstoredb-deliveries.ts';
import { until } from '../support/running-service.ts';
import { type LogOnDouble, logOnDouble } from './log-on-double.ts';
import { appendEach, idsOf, listOf, newEvents, revisionsOf, upTo } from './log-under-test.ts';

const GROUP = 'checker';
const TIMES = { callTimeout: 300, firstPause: 10, longestPause: 100, linger: 200 };

/** A consumer that goes on until the test ends. */
class Consumer {
  readonly received: Delivery[] = [];
  readonly #stop = new AbortController();
  readonly #receiving: Promise<void>;
  readonly #deliveries: EventStoreDbDeliveries;

  constructor(
    t: ExecutionContext,
    { double, log }: LogOnDouble,
    work: (delivery: Delivery) => Promise<void>,
    options: Partial<EventStoreDbDeliveriesOptions> = {},
  ) {
    const { connectionString } = double;
    this.#deliveries = new EventStoreDbDeliveries(log, { connectionString, ...TIMES, ...options });
    this.#receiving = this.#receive(work);
    t.teardown(() => this.stop());
  }

  get ids(): string[] {
    return this.received.map(({ event }) => event.id);
  }

  /** Resolves when it has received so many events. */
  has(count: number): Promise<void> {
    return until(() => Promise.resolve(this.received.length >= count));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#receiving;
    await this.#deliveries[Symbol.asyncDispose]();
  }

  async #receive(work: (delivery: Delivery) => Promise<void>): Promise<void> {
    for await (const delivery of this.#deliveries.receive(GROUP, 'deposit-', this.#stop.signal)) {
      this.received.push(delivery);
      await work(delivery);
    }
  }
}

const acknowledging = (delivery: Delivery) => delivery.acknowledge();
const holding = () => Promise.resolve();

function unacknowledged({ double }: LogOnDouble): number {
  return double.groups.get(GROUP)?.unacknowledged ?? -1;
}

test.serial(
  'two consumers share a hundred events; each is acknowledged once, in the order of its stream',
  async (t) => {
    const server = await logOnDouble(t);
    const [first, second] = [new Consumer(t, server, acknowledging), new Consumer(t, server, acknowledging)];
    await until(() => Promise.resolve(server.double.groups.get(GROUP)?.consumers === 2));
    await Promise.all(upTo(20).map((number) => appendEach(server.log, `deposit-${number}`, newEvents(5))));
    await appendEach(server.log, 'ids-deposit', newEvents(5));
    await until(() => Promise.resolve(first.received.length + second.received.length >= 100));
    await until(() => Promise.resolve(unacknowledged(server) === 0));
    const all = await listOf(server.log.readAll({ streamPrefixes: ['deposit-'] }));
    t.deepEqual([...first.ids, ...second.ids].sort(), idsOf(all).sort());
    t.true(first.received.length > 10 && second.received.length > 10);
    for (const number of upTo(20)) {
      const consumer = first.received.some(({ event }) => event.stream === `deposit-${number}`)
        ? first
        : second;
      const events = consumer.received.map(({ event }) => event);
      t.deepEqual(revisionsOf(events.filter(({ stream }) => stream === `deposit-${number}`)), upTo(5));
    }
  },
);

test.serial('a consumer holds no more events than it may', async (t) => {
  const server = await logOnDouble(t);
  await server.log.append('deposit-1', 'none', newEvents(10));
  const consumer = new Consumer(t, server, holding, { bufferSize: 4 });
  await consumer.has(4);
  await setTimeout(50);
  t.is(consumer.received.length, 4);
  await consumer.received[2]?.acknowledge();
  await consumer.has(5);
  t.is(unacknowledged(server), 4);
});

test.serial(
  'what a consumer process held when it was killed comes elsewhere, with a higher count',
  async (t) => {
    const server = await logOnDouble(t);
    const events = newEvents(5);
    await server.log.append('deposit-1', 'none', events);
    for (const count of [1, 2]) {
      const process = consumerProcess(t, server);
      t.deepEqual(
        await lines(process, 5),
        events.map(({ id }) => `${id} ${count}`),
      );
      process.kill('SIGKILL');
    }
    const last = new Consumer(t, server, acknowledging, { freshFor: 0 });
    await last.has(5);
    t.deepEqual(
      last.received.map(({ count }) => count),
      [3, 3, 3, 3, 3],
    );
    t.deepEqual(last.ids, idsOf(events));
    const attempts = await listOf(server.log.readStream(`attempts-${GROUP}-${events[0]?.id}`));
    t.deepEqual(revisionsOf(attempts), upTo(3));
  },
);

test.serial('an event that comes at once is not counted, one that waited is', async (t) => {
  const server = await logOnDouble(t);
  const consumer = new Consumer(t, server, acknowledging, { freshFor: 300 });
  await server.log.append('deposit-1', 'none', newEvents(1));
  await consumer.has(1);
  await consumer.stop();
  await server.log.append('deposit-2', 'none', newEvents(1));
  await setTimeout(350);
  const later = new Consumer(t, server, acknowledging, { freshFor: 300 });
  await later.has(1);
  const counted = await listOf(server.log.readAll({ streamPrefixes: ['attempts-'] }));
  t.deepEqual(
    counted.map(({ stream }) => stream),
    [`attempts-${GROUP}-${later.ids[0]}`],
  );
  t.deepEqual(
    [...consumer.received, ...later.received].map(({ count }) => count),
    [1, 1],
  );
});

for (const how of ['error', 'silent end'] as const) {
  test.serial(
    `consumers whose connection is dropped (${how}) go on, and nothing is handed out twice at once`,
    async (t) => {
      const server = await logOnDouble(t);
      const consumer = new Consumer(t, server, async (delivery) => {
        await setTimeout(1);
        await delivery.acknowledge();
      });
      const writing = Promise.all(
        upTo(5).map((number) => appendEach(server.log, `deposit-${number}`, newEvents(20))),
      );
      for (let times = 0; times < 8; times += 1) {
        await setTimeout(15);
        server.double.dropSubscriptions(how);
      }
      await writing;
      await until(() => Promise.resolve(unacknowledged(server) === 0 && consumer.received.length >= 100));
      t.is(new Set(consumer.ids).size, 100);
    },
  );
}

test.serial(
  'what is still worked on when the connection breaks is acknowledged on the new one, and not handed out again',
  async (t) => {
    const server = await logOnDouble(t);
    await server.log.append('deposit-1', 'none', newEvents(3));
    const consumer = new Consumer(t, server, holding);
    await consumer.has(3);
    server.double.dropSubscriptions();
    await consumer.received[0]?.acknowledge();
    await until(() => Promise.resolve(server.double.groups.get(GROUP)?.consumers === 1));
    await consumer.received[1]?.acknowledge();
    await until(() => Promise.resolve(unacknowledged(server) === 1));
    await consumer.received[2]?.acknowledge();
    await until(() => Promise.resolve(unacknowledged(server) === 0));
    t.is(consumer.received.length, 3);
  },
);

test.serial(
  'an event the server hands out again after its time-out is not handed out twice at once',
  async (t) => {
    const server = await logOnDouble(t);
    await server.log.append('deposit-1', 'none', newEvents(1));
    const consumer = new Consumer(t, server, holding, { messageTimeout: 40 });
    await consumer.has(1);
    await setTimeout(150);
    await consumer.received[0]?.acknowledge();
    await until(() => Promise.resolve(unacknowledged(server) === 0));
    t.is(consumer.received.length, 1);
  },
);

test.serial('consumers outlive restarts, refusals, hanging calls and a change of leader', async (t) => {
  const server = await logOnDouble(t);
  const { double, log } = server;
  double.faults.set('createGroup', { kind: 'hang' });
  double.faults.set('createGroup', { kind: 'refuse', code: status.UNAVAILABLE });
  double.faults.set('consume', { kind: 'not leader' });
  double.faults.set('features', { kind: 'refuse', code: status.INTERNAL });
  const consumer = new Consumer(t, server, acknowledging);
  await log.append('deposit-1', 'none', newEvents(2));
  await consumer.has(2);
  await double.restart();
  await log.append('deposit-1', 1, newEvents(2));
  await consumer.has(4);
  double.groups.delete(GROUP);
  double.dropSubscriptions();
  await consumer.has(8); // of a group that is created anew every event is new
  await until(() => Promise.resolve(unacknowledged(server) === 0));
  t.is(new Set(consumer.ids).size, 4);
});

test.serial('a server that falls silent is asked anew', async (t) => {
  const server = await logOnDouble(t);
  const consumer = new Consumer(t, server, acknowledging, { quietTime: 60 });
  await server.log.append('deposit-1', 'none', newEvents(1));
  await consumer.has(1);
  server.double.dropSubscriptions('silence');
  await server.log.append('deposit-1', 0, newEvents(1));
  await consumer.has(2);
  server.double.faults.set('consume', { kind: 'hang' });
  server.double.dropSubscriptions();
  await server.log.append('deposit-1', 1, newEvents(1));
  await consumer.has(3);
  t.deepEqual(
    consumer.received.map(({ event }) => event.revision),
    upTo(3),
  );
});

test.serial('while attempts cannot be counted, nothing is handed out', async (t) => {
  const server = await logOnDouble(t);
  await server.log.append('deposit-1', 'none', newEvents(1));
  const other = await server.another({ patience: 50 });
  server.double.faults.set('append', { kind: 'refuse', code: status.UNAVAILABLE }, 10);
  const consumer = new Consumer(t, { ...server, log: other }, acknowledging, { freshFor: 0 });
  await until(() => Promise.resolve(server.double.faults.seen('consume') >= 2));
  t.deepEqual(consumer.received, []);
  server.double.faults.clear();
  await consumer.has(1);
  t.is(consumer.received[0]?.count, 1);
  await t.notThrowsAsync(other.head(), EventLogUnavailable.name);
});

test.serial('a receiver that stops takes the acknowledgements of what is under way', async (t) => {
  const server = await logOnDouble(t);
  await server.log.append('deposit-1', 'none', newEvents(2));
  const consumer = new Consumer(t, server, holding, { linger: 5000 });
  await consumer.has(2);
  const stopping = consumer.stop();
  await consumer.received[0]?.acknowledge();
  await consumer.received[1]?.acknowledge();
  const begun = Date.now();
  await stopping;
  t.true(Date.now() - begun < 2500);
  t.is(unacknowledged(server), 0);
});

test.serial('the server never parks an event by itself', async (t) => {
  const server = await logOnDouble(t);
  const consumer = new Consumer(t, server, acknowledging);
  await server.log.append('deposit-1', 'none', newEvents(1));
  await consumer.has(1);
  const client = EventStoreDBClient.connectionString(server.double.connectionString);
  const { settings, stats } = await client.getPersistentSubscriptionToAllInfo(GROUP);
  t.true(settings.maxRetryCount >= 1_000_000);
  t.true(settings.messageTimeout >= 3_600_000);
  t.is(stats.parkedMessageCount, 0n);
  await client.dispose();
});

test.serial('what an operator has the server park is handed out again when it is replayed', async (t) => {
  const server = await logOnDouble(t);
  const { double, log } = server;
  const client = EventStoreDBClient.connectionString(double.connectionString);
  const consumer = new Consumer(t, server, acknowledging);
  await log.append('deposit-1', 'none', newEvents(1));
  await consumer.has(1);
  await consumer.stop();
  await log.append('deposit-1', 0, newEvents(1));
  const other = client.subscribeToPersistentSubscriptionToAll(GROUP);
  for await (const message of other) {
    await other.nack('park', 'by hand', message);
    break;
  }
  await until(
    async () => (await client.getPersistentSubscriptionToAllInfo(GROUP)).stats.parkedMessageCount === 1n,
  );
  await other.unsubscribe();
  const later = new Consumer(t, server, acknowledging);
  await client.replayParkedMessagesToAll(GROUP);
  await later.has(1);
  t.is(later.received[0]?.event.revision, 1);
  await client.dispose();
});

function consumerProcess(t: ExecutionContext, { double }: LogOnDouble): ChildProcess {
  const file = path.join(import.meta.dirname, 'processes/eventstoredb-consumer.ts');
  const process_ = spawn(process.execPath, [file, double.connectionString], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => process_.kill('SIGKILL'));
  return process_;
}

async function lines({ stdout }: ChildProcess, count: number): Promise<string[]> {
  const found: string[] = [];
  for await (const line of createInterface(stdout ?? process.stdin)) {
    found.push(line);
    if (found.length === count) break;
  }
  return found;
}
