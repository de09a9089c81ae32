import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import test from 'ava';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { acknowledging, Consumer, GROUP, holding, unacknowledged } from '../consumer-on-double.ts';
import { eventually, logOnDouble } from '../log-on-double.ts';
import { appendEach, newEvents, upTo } from '../log-under-test.ts';

export function deliveryFaults(): void {
  losingTheConnection();
  workingLong();
  losingTheServer();
}

function losingTheConnection(): void {
  for (const how of ['error', 'silent end'] as const) {
    test.serial(
      `consumers whose connection is dropped (${how}) resume, and nothing is delivered twice at once`,
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
        await eventually(() => unacknowledged(server) === 0 && consumer.received.length >= 100);
        t.is(new Set(consumer.ids).size, 100);
      },
    );
  }

  test.serial(
    'work in progress when the connection fails is acknowledged on the new one, and not delivered again',
    async (t) => {
      const server = await logOnDouble(t);
      await server.log.append('deposit-1', 'none', newEvents(3));
      const consumer = new Consumer(t, server, holding, { firstPause: 200, longestPause: 200 });
      await consumer.has(3);
      server.double.dropSubscriptions();
      await eventually(() => consumer.connectionError !== undefined);
      await consumer.received[0]?.acknowledge();
      await eventually(() => server.double.groups.get(GROUP)?.consumers === 1);
      await consumer.received[1]?.acknowledge();
      await eventually(() => unacknowledged(server) === 1);
      await consumer.received[2]?.acknowledge();
      await eventually(() => unacknowledged(server) === 0);
      t.is(consumer.received.length, 3);
    },
  );
}

function workingLong(): void {
  test.serial(
    'an event redelivered by the server after its timeout is not delivered twice at once',
    async (t) => {
      const server = await logOnDouble(t);
      await server.log.append('deposit-1', 'none', newEvents(1));
      const consumer = new Consumer(t, server, holding);
      await consumer.has(1);
      for (let times = 0; times < 3; times += 1) server.double.groups.get(GROUP)?.timeOut();
      await server.log.append('deposit-1', 0, newEvents(1));
      await consumer.has(2); // redelivered events came before it
      t.is(new Set(consumer.ids).size, 2);
      for (const delivery of consumer.received) await delivery.acknowledge();
      await eventually(() => unacknowledged(server) === 0);
      t.is(consumer.received.length, 2);
    },
  );

  test.serial('a receiver that stops still accepts the acknowledgements of events in flight', async (t) => {
    const server = await logOnDouble(t);
    await server.log.append('deposit-1', 'none', newEvents(2));
    const consumer = new Consumer(t, server, holding, { linger: 40_000 });
    await consumer.has(2);
    const stopping = consumer.stop();
    await consumer.received[0]?.acknowledge();
    await consumer.received[1]?.acknowledge();
    const begun = Date.now();
    await stopping;
    t.true(Date.now() - begun < 20_000, 'once nothing is in flight');
    t.is(unacknowledged(server), 0);
  });
}

function losingTheServer(): void {
  test.serial('consumers survive restarts, refusals, hanging calls and a change of leader', async (t) => {
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
    await consumer.has(8); // for a recreated group every event is new
    await eventually(() => unacknowledged(server) === 0);
    t.is(new Set(consumer.ids).size, 4);
  });

  test.serial('a silent server gets a new subscription', async (t) => {
    const server = await logOnDouble(t);
    const consumer = new Consumer(t, server, acknowledging, { consumerQuietTime: 60 });
    await server.log.append('deposit-1', 'none', newEvents(1));
    await eventually(() => consumer.received.length === 1 && unacknowledged(server) === 0);
    server.double.dropSubscriptions('silence');
    await server.log.append('deposit-1', 0, newEvents(1));
    await eventually(() => consumer.received.length === 2 && unacknowledged(server) === 0);
    server.double.faults.set('consume', { kind: 'hang' });
    server.double.dropSubscriptions();
    await server.log.append('deposit-1', 1, newEvents(1));
    await consumer.has(3);
    t.deepEqual(
      consumer.received.map(({ event }) => event.revision),
      upTo(3),
    );
  });

  test.serial(
    'a certificate file that is missing for a while, as when it is renewed, ends no consumer',
    async (t) => {
      const server = await logOnDouble(t);
      const folder = await temporaryFolder(t);
      const [certificate, key] = [path.join(folder, 'user.crt'), path.join(folder, 'user.key')];
      for (const file of [certificate, key]) writeFileSync(file, '');
      const connectionString = `${server.double.connectionString}&userCertFile=${certificate}&userKeyFile=${key}`;
      const consumer = new Consumer(t, server, acknowledging, { connectionString });
      await server.log.append('deposit-1', 'none', newEvents(1));
      await consumer.has(1);
      rmSync(certificate);
      server.double.dropSubscriptions();
      await eventually(() => consumer.connectionError?.includes('DEPOSIT_EVENT_LOG') ?? false);
      writeFileSync(certificate, '');
      await server.log.append('deposit-1', 0, newEvents(1));
      await consumer.has(2);
      t.is(consumer.connectionError, undefined);
    },
  );

  test.serial('unfinished work does not prevent a node from leaving a silent connection', async (t) => {
    const server = await logOnDouble(t);
    const consumer = new Consumer(t, server, holding, { consumerQuietTime: 60 });
    await server.log.append('deposit-1', 'none', newEvents(1));
    await consumer.has(1);
    server.double.dropSubscriptions('silence');
    await server.log.append('deposit-2', 'none', newEvents(1));
    await consumer.has(2);
    t.deepEqual(
      consumer.received.map(({ event }) => event.stream),
      ['deposit-1', 'deposit-2'],
    );
  });

  test.serial(
    'an attempt that cannot be counted is not started, and a later one is counted once',
    async (t) => {
      const server = await logOnDouble(t);
      await server.log.append('deposit-1', 'none', newEvents(1));
      const other = await server.another({ retryTimeout: 50 });
      for (const count of [1, 2]) {
        const fault = count === 1 ? 'hang' : 'commit and hang';
        const consumer = new Consumer(t, { ...server, log: other }, holding);
        await consumer.has(1);
        server.double.faults.set('append', { kind: fault }, 10);
        await t.throwsAsync(async () => consumer.received[0]?.begin('beside others'), {
          code: 'EVENT_LOG_UNAVAILABLE',
        });
        server.double.faults.clear();
        t.is(await consumer.received[0]?.begin('beside others'), count);
        await consumer.stop();
      }
    },
  );
}
