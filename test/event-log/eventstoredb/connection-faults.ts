import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { jsonEvent } from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import test from 'ava';
import { EventLogUnavailable } from '../../../src/event-log/event-log.ts';
import { DroppableClient } from '../../../src/event-log/eventstoredb/droppable-client.ts';
import { EventStoreDbEventLog } from '../../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import { InvalidPosition } from '../../../src/event-log/position.ts';
import { EventStoreDbDouble } from '../../../testing/eventstoredb-double/eventstoredb-double.ts';
import { logOnDouble } from '../log-on-double.ts';
import { idsOf, listOf, newEvents, revisionsOf } from '../log-under-test.ts';

export function connectionFaults(): void {
  reading();
  comingAndGoing();
  options();
}

function reading(): void {
  for (const fault of [{ kind: 'hang' }, { kind: 'refuse', code: status.UNAVAILABLE }] as const) {
    test.serial(`reads survive a server that fails once with: ${fault.kind}`, async (t) => {
      const { double, log } = await logOnDouble(t);
      const events = newEvents(3);
      await log.append('deposit-1', 'none', events);
      double.faults.set('read', fault);
      t.deepEqual(idsOf(await listOf(log.readStream('deposit-1'))), idsOf(events));
      double.faults.set('read', fault);
      t.deepEqual(idsOf(await listOf(log.readAll())), idsOf(events));
      double.faults.set('read', fault);
      t.truthy(await log.head());
    });
  }

  test.serial(
    'a read whose client is dropped by another call is not mistaken for a short stream',
    async (t) => {
      const { double, log } = await logOnDouble(t, { callTimeout: 400 });
      await log.append('deposit-1', 'none', newEvents(5));
      double.faults.set('append', { kind: 'commit and hang' });
      const appending = log.append('deposit-2', 'none', newEvents(1));
      await setTimeout(200);
      double.faults.set('read', { kind: 'delay', milliseconds: 350 });
      t.is((await listOf(log.readStream('deposit-1'))).length, 5);
      await appending;
    },
  );

  test.serial('a read is aborted as soon as its signal is', async (t) => {
    const { double, log } = await logOnDouble(t, { callTimeout: 20_000, retryTimeout: 20_000 });
    double.faults.set('read', { kind: 'hang' });
    const signal = AbortSignal.timeout(30);
    await t.throwsAsync(listOf(log.readStream('deposit-1', { signal })), { name: 'TimeoutError' });
  });

  test.serial('system events of the server are not returned, and are not the head', async (t) => {
    const { double, log } = await logOnDouble(t);
    double.log.appendSystemEvent();
    t.is(await log.head(), undefined);
    const { position } = await log.append('deposit-1', 'none', newEvents(1));
    for (let count = 0; count < 200; count += 1) double.log.appendSystemEvent('$$deposit-1', '$metadata');
    double.log.appendSystemEvent('deposit-1-links', '$>');
    t.is(await log.head(), position);
    t.is((await listOf(log.readAll())).length, 1);
    for await (const message of log.subscribe()) {
      t.is(message.kind === 'events' ? message.events.length : 1, 1);
      if (message.kind === 'caught-up') break;
    }
  });

  test.serial('a stream that was deleted permanently is empty, and refuses appends', async (t) => {
    const { double, log } = await logOnDouble(t);
    const deleted = {
      kind: 'refuse',
      code: status.FAILED_PRECONDITION,
      exception: 'stream-deleted',
      trailers: { 'stream-name': 'deposit-1' },
    } as const;
    double.faults.set('read', deleted);
    t.deepEqual(await listOf(log.readStream('deposit-1')), []);
    double.faults.set('append', deleted);
    await t.throwsAsync(log.append('deposit-1', 'none', newEvents(1)), { code: 'APPEND_REFUSED' });
  });

  test.serial('a stream is read past pages with only events of other streams', async (t) => {
    const { double, log } = await logOnDouble(t);
    await log.append('deposit-1', 'none', newEvents(1));
    for (let count = 0; count < 1001; count += 1) double.log.appendSystemEvent('deposit-1', '$>');
    const backwards = await listOf(log.readStream('deposit-1', { backwards: true, limit: 1 }));
    t.deepEqual(revisionsOf(backwards), [0]);
    await log.append('deposit-1', 1001, newEvents(1));
    t.deepEqual(revisionsOf(await listOf(log.readStream('deposit-1', { from: 1 }))), [1002]);
  });
}

function comingAndGoing(): void {
  test.serial('a log opens without its server, and calls report it as unavailable', async (t) => {
    const { double, log } = await logOnDouble(t, { retryTimeout: 150 });
    double.stop();
    await t.throwsAsync(log.append('deposit-1', 'none', newEvents(1)), { instanceOf: EventLogUnavailable });
    const error = await t.throwsAsync(log.head(), { instanceOf: EventLogUnavailable });
    t.is(error.message, 'Reading the last event failed: the server cannot be reached (ECONNREFUSED).');
  });

  // By default gRPC waits a second, then increasingly longer, up to two minutes.
  test.serial('connecting to an unreachable server is retried until the timeout', async (t) => {
    let connections = 0;
    const away = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(away, 'listening');
    const { port } = away.address() as AddressInfo;
    const connectionString = `esdb://127.0.0.1:${port}?tls=false`;
    await using log = await EventStoreDbEventLog.open({
      connectionString,
      retryTimeout: 2000,
      longestPause: 50,
    });
    await t.throwsAsync(log.head(), { instanceOf: EventLogUnavailable });
    away.close();
    t.true(connections >= 5, `${connections} in two seconds`);
  });

  // If no code could catch it, it would throw, and the process would end.
  test.serial('a call that begins while the client closes its channel succeeds', async (t) => {
    const { double } = await logOnDouble(t);
    const droppable = new DroppableClient(double.connectionString);
    const { driver } = droppable;
    const options = { credentials: { username: 'nobody', password: 'nothing' } };
    const append = () =>
      driver.appendToStream('deposit-1', jsonEvent({ type: 'NoteTaken', data: {} }), options);
    await append();
    const internals = driver as unknown as { getChannel(): Promise<{ close(): void }> };
    const channel = await internals.getChannel();
    const appending = append();
    channel.close();
    t.true((await appending).success);
    await droppable.drop();
  });

  test.serial('the first call after a server restart succeeds', async (t) => {
    const { double, log } = await logOnDouble(t);
    await log.append('deposit-1', 'none', newEvents(1));
    await double.restart();
    t.is((await log.append('deposit-1', 0, newEvents(1))).revision, 1);
    await double.restart();
    t.is((await listOf(log.readStream('deposit-1'))).length, 2);
  });

  test.serial('a cluster is reached through any of its available nodes', async (t) => {
    const double = await EventStoreDbDouble.start();
    t.teardown(() => double[Symbol.asyncDispose]());
    const connectionString = `esdb://127.0.0.1:1,127.0.0.1:${double.port}?tls=false&nodePreference=leader`;
    await using log = await EventStoreDbEventLog.open({ connectionString });
    t.is((await log.append('deposit-1', 'none', newEvents(1))).revision, 0);
  });

  test.serial('closing does not wait for a server that hangs', async (t) => {
    const { double, log } = await logOnDouble(t, { callTimeout: 60_000 });
    double.faults.set('subscribe', { kind: 'hang' });
    const messages = log.subscribe()[Symbol.asyncIterator]();
    const next = messages.next();
    await setTimeout(50);
    const begun = Date.now();
    await log[Symbol.asyncDispose]();
    await next;
    t.true(Date.now() - begun < 2500);
  });

  test.serial('processes share a double that runs in its own process', async (t) => {
    const main = path.join(import.meta.dirname, '../../../testing/eventstoredb-double/main.ts');
    const server = spawn(process.execPath, [main], { stdio: ['pipe', 'pipe', 'inherit'] });
    t.teardown(() => server.kill());
    const [port] = await once(createInterface(server.stdout), 'line');
    const connectionString = `esdb://127.0.0.1:${port}?tls=false`;
    await using first = await EventStoreDbEventLog.open({ connectionString, callTimeout: 300 });
    await using second = await EventStoreDbEventLog.open({ connectionString, callTimeout: 300 });
    server.stdin.write('{"call": "append", "fault": {"kind": "commit and hang"}}\n');
    const [event] = newEvents(1);
    await first.append('deposit-1', 'none', event ? [event] : []);
    server.stdin.write('restart\n');
    t.deepEqual(idsOf(await listOf(second.readAll())), [event?.id ?? '']);
    server.stdin.end();
    t.deepEqual(await once(server, 'exit'), [0, null]);
  });
}

function options(): void {
  test.serial('TLS needs credentials in the connection string', async (t) => {
    const connectionString = 'esdb://log.example.org:2113?tls=true';
    await t.throwsAsync(EventStoreDbEventLog.open({ connectionString }), {
      code: 'BAD_CONFIG',
      message: /^DEPOSIT_EVENT_LOG: /,
    });
    await using within = await EventStoreDbEventLog.open({
      connectionString: 'esdb://deposit:secret@log.example.org:2113?tls=true',
    });
    t.truthy(within);
  });

  test.serial('an invalid connection string is refused without being printed', async (t) => {
    const connectionString = 'postgres://deposit:secret@log.example.org?tls=false';
    const error = await t.throwsAsync(EventStoreDbEventLog.open({ connectionString }), {
      code: 'BAD_CONFIG',
    });
    t.false(error.message.includes('secret'));
  });

  test.serial('a position of another log is an error of the caller', async (t) => {
    const { log } = await logOnDouble(t);
    const after = '0000000000000001';
    await t.throwsAsync(listOf(log.readAll({ after })), { instanceOf: InvalidPosition });
    await t.throwsAsync(listOf(log.subscribe({ after })), { instanceOf: InvalidPosition });
  });
}
