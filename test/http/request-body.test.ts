import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause, setImmediate as turnEnd } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import Koa from 'koa';
import { receiveEntryBytes } from '../../src/http/requests/receive-entry.ts';
import {
  type BodyTimeouts,
  collect,
  isEmptyBody,
  requestBody,
  untilClientGone,
} from '../../src/http/requests/request-body.ts';
import { RawConnection } from '../../testing/http/raw-connection.ts';

type Outcome = { bytes: number } | { isEmpty: boolean } | { code: unknown; status: unknown; message: string };

/**
 * Starts a server that reads one body with these time limits and records how that ended; processing each chunk takes
 * `work` milliseconds.
 */
function reading(t: ExecutionContext, timeouts: BodyTimeouts, work = 0) {
  return receiving(t, async (ctx) => {
    const body = worked(requestBody(ctx, 1_000, timeouts), work);
    return { bytes: (await collect(body, Infinity, () => new Error())).length };
  });
}

/** Starts a server that receives one body so, and records how that ended. */
async function receiving(t: ExecutionContext, receive: (ctx: Koa.Context) => Promise<Outcome>) {
  const outcome = Promise.withResolvers<Outcome>();
  const app = new Koa();
  app.use(async (ctx) => {
    try {
      outcome.resolve(await receive(ctx));
      ctx.body = 'whole';
    } catch (error) {
      const { code, status, message } = error as Error & { code?: string; status?: number };
      outcome.resolve({ code, status, message });
      ctx.status = status ?? 400;
      ctx.body = 'refused';
    }
  });
  return { connection: await connected(t, app), outcome: outcome.promise };
}

/** Connects to a server of the application that accepts half-open connections, like that of the service. */
async function connected(t: ExecutionContext, app: Koa): Promise<RawConnection> {
  app.silent = true;
  const handle = app.callback();
  const server = http.createServer((req: IncomingMessage, res: ServerResponse) => void handle(req, res));
  Object.assign(server, { httpAllowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = await RawConnection.to(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.teardown(() => {
    connection[Symbol.dispose]();
    server.close();
    server.closeAllConnections();
  });
  return connection;
}

async function* worked(body: AsyncIterable<Buffer>, ms: number): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    yield chunk;
    if (ms > 0) await pause(ms);
  }
}

const sized = (bytes: number): string => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`;

test('a client that stalls is refused and receives the reason', async (t) => {
  const { connection, outcome } = await reading(t, { base: 60_000, bytesPerMs: 1, idle: 50 });
  await connection.send(`${sized(10)}abc`);
  const message = 'No byte of the body arrived for 0 seconds.';
  t.like(await outcome, { code: 'ErrorBadRequest', status: 408, message });
  t.is((await connection.answers(1)).status, 408);
});

test('a client below the minimum rate is refused, even if it never stalls', async (t) => {
  const { connection, outcome } = await reading(t, { base: 100, bytesPerMs: 10, idle: 60_000 });
  await connection.send(sized(1_000));
  const drip = setInterval(() => void connection.send('a'), 10);
  t.teardown(() => clearInterval(drip));
  t.like(await outcome, { code: 'ErrorBadRequest', status: 408 });
});

test('a larger body has a longer time limit', async (t) => {
  const { connection, outcome } = await reading(t, { base: 10, bytesPerMs: 0.001, idle: 60_000 });
  await connection.send(sized(20));
  for (let sent = 0; sent < 20; sent += 1) {
    await connection.send('a');
    await pause(10);
  }
  t.deepEqual(await outcome, { bytes: 20 });
});

test('each chunk restarts the idle timeout', async (t) => {
  const { connection, outcome } = await reading(t, { base: 60_000, bytesPerMs: 1, idle: 1000 });
  await connection.send(sized(8));
  for (let sent = 0; sent < 8; sent += 1) {
    await connection.send('a');
    await pause(150);
  }
  t.deepEqual(await outcome, { bytes: 8 });
});

test('the time of a slow store does not count against the client', async (t) => {
  const { connection, outcome } = await reading(t, { base: 400, bytesPerMs: 1, idle: 400 }, 600);
  await connection.send(`${sized(4)}ab`);
  await pause(700); // during all but 100 ms of it the service works on `ab`
  await connection.send('cd');
  t.deepEqual(await outcome, { bytes: 4 });
});

/** Sends bytes, then blocks this thread. As after SIGSTOP, late timers run before the bytes are read. */
async function sendSuspended(connection: RawConnection, text: string, ms: number): Promise<void> {
  await turnEnd(); // timers are next, sockets only then
  await connection.send(text);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test.serial('suspended time does not count if the bytes have arrived', async (t) => {
  const { connection, outcome } = await reading(t, { base: 200, bytesPerMs: 1, idle: 200 });
  await connection.send(`${sized(4)}ab`);
  await pause(50);
  await sendSuspended(connection, 'cd', 1500);
  t.deepEqual(await outcome, { bytes: 4 });
});

/** Starts a server that receives an entry alone. */
async function receivingEntry(t: ExecutionContext, timeouts: BodyTimeouts) {
  await import('koa-body'); // its first import takes longer than the pauses of these tests
  return receiving(t, async (ctx) => ({ bytes: (await receiveEntryBytes(ctx, 1_000, timeouts)).length }));
}

test.serial('nor does it count for an entry alone', async (t) => {
  const { connection, outcome } = await receivingEntry(t, { base: 2_000, bytesPerMs: 1, idle: 2_000 });
  await connection.send(`${sized(4)}ab`);
  await pause(500);
  await sendSuspended(connection, 'cd', 3_000);
  t.deepEqual(await outcome, { bytes: 4 });
});

test('an entry alone may pause within its time, and is refused after it', async (t) => {
  const inTime = await receivingEntry(t, { base: 60_000, bytesPerMs: 1, idle: 50 });
  await inTime.connection.send(`${sized(4)}ab`);
  await pause(300);
  await inTime.connection.send('cd');
  t.deepEqual(await inTime.outcome, { bytes: 4 });
  const late = await receivingEntry(t, { base: 100, bytesPerMs: 1, idle: 60_000 });
  await late.connection.send(`${sized(4)}ab`);
  t.like(await late.outcome, { code: 'ErrorBadRequest' });
  t.is((await late.connection.answers(1)).status, 408);
});

test.serial('an empty chunked body is noticed although the process was suspended', async (t) => {
  const { connection, outcome } = await receiving(t, async (ctx) => ({ isEmpty: await isEmptyBody(ctx) }));
  await connection.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  await pause(500);
  await sendSuspended(connection, '0\r\n\r\n', 6_000);
  t.deepEqual(await outcome, { isEmpty: true });
});

test('a client that disconnects is not logged as an error of the service', async (t) => {
  const { connection, outcome } = await reading(t, { base: 60_000, bytesPerMs: 1, idle: 60_000 });
  await connection.send(`${sized(10)}abc`);
  await pause(50);
  connection.reset();
  t.like(await outcome, { code: 'CLIENT_GONE' });
});

/** Starts a server whose work for each request ends with the signal alone, and sends it a request. */
async function working(t: ExecutionContext) {
  const outcome = Promise.withResolvers<unknown>();
  const begun = Promise.withResolvers<void>();
  const app = new Koa();
  app.use((ctx) =>
    untilClientGone(ctx, async (signal) => {
      begun.resolve();
      await once(signal, 'abort');
      throw new Error('the work has ended');
    }).catch(outcome.resolve),
  );
  const connection = await connected(t, app);
  await connection.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await begun.promise;
  return { connection, outcome: outcome.promise };
}

test('expensive work is aborted when its client closes the connection', async (t) => {
  const { connection, outcome } = await working(t);
  connection.reset();
  t.like(await outcome, { code: 'CLIENT_GONE' });
});

test('expensive work is aborted soon after its client half-closes the connection', async (t) => {
  const { connection, outcome } = await working(t);
  connection.halfClose();
  t.like(await outcome, { code: 'CLIENT_GONE' });
});
