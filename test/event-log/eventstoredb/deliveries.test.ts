import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { EventStoreDBClient } from '@eventstore/db-client';
import test, { type ExecutionContext } from 'ava';
import {
  acknowledging,
  beginning,
  Consumer,
  connected,
  GROUP,
  holding,
  RECEIVER,
  unacknowledged,
} from '../consumer-on-double.ts';
import { eventually, type LogOnDouble, logOnDouble } from '../log-on-double.ts';
import { appendEach, idsOf, listOf, newEvents, revisionsOf, upTo } from '../log-under-test.ts';
import { deliveryFaults } from './delivery-faults.ts';

test.serial(
  'two consumers share a hundred events; each is acknowledged once, in the order of its stream',
  async (t) => {
    const server = await logOnDouble(t);
    const [first, second] = [new Consumer(t, server, acknowledging), new Consumer(t, server, acknowledging)];
    await eventually(() => server.double.groups.get(GROUP)?.consumers === 2);
    await Promise.all(upTo(20).map((number) => appendEach(server.log, `deposit-${number}`, newEvents(5))));
    await appendEach(server.log, 'ids-deposit', newEvents(5));
    await eventually(() => first.received.length + second.received.length >= 100);
    await eventually(() => unacknowledged(server) === 0);
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

test.serial('a consumer has no more events in flight than its limit', async (t) => {
  const server = await logOnDouble(t);
  await server.log.append('deposit-1', 'none', newEvents(10));
  const consumer = new Consumer(t, server, holding, { bufferSize: 4 });
  await consumer.has(4);
  await setTimeout(50);
  t.is(consumer.received.length, 4);
  await consumer.received[2]?.acknowledge();
  await consumer.has(5);
  t.is(server.double.groups.get(GROUP)?.held, 4);
});

test.serial('a hundred unacknowledged events do not block later ones', async (t) => {
  const server = await logOnDouble(t);
  await server.log.append('deposit-1', 'none', newEvents(100));
  await server.log.append('deposit-2', 'none', newEvents(1));
  const consumer = new Consumer(t, server, holding);
  await consumer.has(101);
  t.is(consumer.received.at(-1)?.event.stream, 'deposit-2');
});

test.serial('events of a killed consumer are delivered to another one with a higher count', async (t) => {
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
  const last = new Consumer(t, server, beginning);
  await last.hasBegun(5);
  t.deepEqual(last.counts, [3, 3, 3, 3, 3]);
  t.deepEqual(last.ids, idsOf(events));
  const attempts = await listOf(server.log.readStream(`attempts-${RECEIVER}-${events[0]?.id}`));
  t.deepEqual(
    attempts.map(({ type }) => type),
    ['EventHandedOut', 'EventHandedOut', 'EventHandedOut', 'EventHandedBack'],
  );
});

test.serial('an event recorded while a node receives is not counted', async (t) => {
  const server = await logOnDouble(t);
  await server.log.append('deposit-1', 'none', newEvents(1));
  const consumer = new Consumer(t, server, holding);
  await consumer.has(1);
  await server.log.append('deposit-2', 'none', newEvents(1));
  await consumer.has(2);
  for (const delivery of consumer.received) t.is(await delivery.begin('beside others'), 1);
  const counted = await listOf(server.log.readAll({ streamPrefixes: ['attempts-'] }));
  t.deepEqual(
    counted.map(({ stream }) => stream),
    [`attempts-${RECEIVER}-${consumer.ids[0]}`],
  );
});

test.serial('an event that another node received before is counted', async (t) => {
  const server = await logOnDouble(t);
  const first = new Consumer(t, server, (delivery) => delivery.begin('beside others'));
  await connected(server, 1);
  const other = new Consumer(t, server, (delivery) => delivery.begin('beside others'));
  await connected(server, 2);
  await server.log.append('deposit-1', 'none', newEvents(1));
  await eventually(() => first.counts.length + other.counts.length === 1);
  const [holder, heir] = first.counts.length === 1 ? [first, other] : [other, first];
  await holder.stop(); // without an acknowledgement
  await heir.hasBegun(1);
  t.deepEqual(heir.counts, [1], 'the first begin was not counted');
  const counted = await listOf(server.log.readAll({ streamPrefixes: ['attempts-'] }));
  t.deepEqual(
    counted.map(({ stream }) => stream),
    [`attempts-${RECEIVER}-${heir.ids[0]}`],
  );
});

test.serial('a started and returned attempt does not count', async (t) => {
  const server = await logOnDouble(t);
  await server.log.append('deposit-1', 'none', newEvents(1));
  for (const [count, isStopped] of [
    [1, true],
    [1, false],
    [2, true],
    [2, true],
  ] as const) {
    const consumer = new Consumer(t, server, holding);
    await consumer.has(1);
    const [delivery] = consumer.received;
    t.is(await delivery?.begin('beside others'), count);
    if (isStopped) await delivery?.handBack?.();
    await consumer.stop();
  }
});

test.serial('returning an event that was not counted appends nothing', async (t) => {
  const server = await logOnDouble(t);
  const consumer = new Consumer(t, server, holding);
  await connected(server, 1);
  await server.log.append('deposit-1', 'none', newEvents(1));
  await consumer.has(1);
  t.is(await consumer.received[0]?.begin('beside others'), 1);
  await consumer.received[0]?.handBack?.();
  t.deepEqual(await listOf(server.log.readAll({ streamPrefixes: ['attempts-'] })), []);
});

test.serial('the server never parks an event on its own', async (t) => {
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

test.serial('an event that an operator parks on the server is delivered again when replayed', async (t) => {
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
  await eventually(
    async () => (await client.getPersistentSubscriptionToAllInfo(GROUP)).stats.parkedMessageCount === 1n,
  );
  await other.unsubscribe();
  const later = new Consumer(t, server, acknowledging);
  await client.replayParkedMessagesToAll(GROUP);
  await later.has(1);
  t.is(later.received[0]?.event.revision, 1);
  await client.dispose();
});

deliveryFaults();

function consumerProcess(t: ExecutionContext, { double }: LogOnDouble): ChildProcess {
  const file = path.join(import.meta.dirname, 'processes/consumer.ts');
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
