import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import http from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import Koa from 'koa';
import type { ClientLogin } from '../../projections/client-logins.ts';
import { answerErrors } from '../../src/http/middleware/answer-errors.ts';
import { limitUnsent } from '../../src/http/middleware/limit-unsent.ts';
import {
  LISTS,
  type LongAnswerLimits,
  LongAnswers,
  sendInPieces,
} from '../../src/http/responses/long-answers.ts';
import { closeIdle, limitHalfOpen } from '../../src/http/server/idle-connections.ts';
import { refuseTunnel } from '../../src/http/server/parse-errors.ts';
import { Server, type ServerOptions } from '../../src/http/server/server.ts';
import type { RequestState } from '../../src/http/service-context.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { assertErrorDocument } from '../../testing/documents/sword-error.ts';
import { archiveHeaders, helloZip, partial } from '../../testing/http/deposit-bodies.ts';
import { RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { type ServiceWith, testOfService } from '../../testing/service/test-of-service.ts';
import { CERTIFICATE, tlsFiles } from '../../testing/service/tls-files.ts';

type Context = ServiceWith<'alice'>;
const test = testOfService({ alice: { collections: ['software'] } });

function upload(client: TestClient, headers: Record<string, string> = {}): string {
  const length = { 'Content-Length': String(helloZip.length) };
  const all = { ...archiveHeaders(), ...partial, ...length, ...headers };
  return `${requestHead('POST /1/software/', client, all)}${helloZip.toString('latin1')}`;
}

function ask(client: TestClient): string {
  return requestHead('GET /1/servicedocument/', client);
}

async function countDeposits({ service }: RunningService): Promise<number> {
  const events = await Array.fromAsync(service.log.readAll());
  return events.filter(({ type }) => type === 'DepositCreated').length;
}

/** Waits until all connections of the service but those of its other clients are closed. */
async function closesAll(server: Pick<Server, 'connections'>): Promise<void> {
  await until(async () => (await server.connections()) === 0);
}

test.serial(
  'bytes after the declared length are the next request, and are answered after this one',
  async (t) => {
    const { service, alice } = t.context;
    const before = await countDeposits(service);
    using connection = await RawConnection.to(service.url);
    await connection.send(`${upload(alice)}${'X'.repeat(50)}`);
    t.is((await connection.answers(1)).status, 201);
    const { status, body } = await connection.answers(2);
    t.is(status, 400);
    assertErrorDocument(t, body, 'ErrorBadRequest');
    await connection.untilEnded();
    t.is(await countDeposits(service), before + 1);
  },
);

test('a client that sends far too much after its request reads the response', async (t) => {
  const { service, alice } = t.context;
  using connection = await RawConnection.to(service.url);
  await connection.send(upload(alice));
  for (let sent = 0; sent < 5 * 1024 ** 2; sent += 65_536) await connection.send('X'.repeat(65_536));
  t.is((await connection.answers(1)).status, 201);
  await connection.untilEnded();
  t.is(connection.error, undefined, 'the connection was never reset');
});

test('complete pipelined requests are answered before a malformed one after them', async (t) => {
  const { service, alice } = t.context;
  using connection = await RawConnection.to(service.url);
  await connection.send(`${upload(alice)}${ask(alice)}${upload(alice).slice(0, -1)}`);
  connection.halfClose();
  const statuses = [];
  for (const count of [1, 2, 3]) statuses.push((await connection.answers(count)).status);
  t.deepEqual(statuses, [201, 200, 412]);
  await connection.untilEnded();
});

test('surplus bytes are refused after their request even if the client has half-closed', async (t) => {
  const { service, alice } = t.context;
  for (const [requests, statuses] of [
    [upload(alice), [201, 400]],
    [`${upload(alice)}${ask(alice)}`, [201, 200, 400]],
    [upload(alice, { Connection: 'close' }), [201]],
    ['GET /1/servicedocument/ HTTP/2.0\r\nHost: deposit.example\r\n\r\n', [505]], // announces that it is the last
  ] as const) {
    using connection = await RawConnection.to(service.url);
    await connection.send(`${requests}xxxx`);
    connection.halfClose();
    for (const [index, status] of statuses.entries())
      t.is((await connection.answers(index + 1)).status, status);
    await connection.untilEnded();
    t.is(connection.text.match(/HTTP\/1\.1 \d{3} /g)?.length, statuses.length);
  }
});

test('a refused body that is aborted gets no second response', async (t) => {
  const { service, alice } = t.context;
  const length = String(helloZip.length + 1);
  using connection = await RawConnection.to(service.url);
  await connection.send(upload(alice, { Authorization: '', 'Content-Length': length }));
  t.is((await connection.answers(1)).status, 401);
  connection.halfClose();
  await connection.untilEnded();
  await t.throwsAsync(connection.answers(2), { message: /^1 answers before the end/ });
});

test('a half-closed connection is answered, then closed', async (t) => {
  const { service, alice } = t.context;
  for (const [request, statuses] of [
    [upload(alice), [201]],
    [ask(alice), [200]],
    [`${ask(alice)}${upload(alice)}`, [200, 201]],
    ['', []],
  ] as const) {
    using connection = await RawConnection.to(service.url);
    await connection.send(request);
    connection.halfClose();
    for (const [index, status] of statuses.entries())
      t.is((await connection.answers(index + 1)).status, status);
    await connection.untilEnded();
  }
});

test('an idle streamed response is aborted when its half-closed client may have disconnected', async (t) => {
  const server = Object.assign(
    http.createServer((_req, res) => res.write('begun')),
    { httpAllowHalfOpen: true },
  );
  server.on('connection', (socket: Socket) => limitHalfOpen(socket, 20));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  using connection = await RawConnection.to(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await connection.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  while (!connection.text.includes('begun')) await pause(5);
  connection.halfClose();
  await connection.untilEnded();
  t.false(connection.text.endsWith('0\r\n\r\n'), 'and not as if it were complete');
});

test('a header timeout longer than the idle timeout is answered with 408', async (t) => {
  const server = await serve({ headersTime: 300, idleTime: 100 });
  t.teardown(() => server.close(0));
  for (const begun of ['', 'GET / HTTP/1.1\r\nHost: x\r\n']) {
    using connection = await RawConnection.to(server.url);
    await connection.send(begun);
    t.is((await connection.answers(1)).status, 408, begun);
  }
});

test('an idle connection is closed, unless its client waits for an answer', async (t) => {
  const server = http.createServer((req, res) => {
    const answer = req.url === '/long' ? Buffer.alloc(50_000_000) : 'here';
    req.socket.once('timeout', () => res.end(answer)); // after the time that a connection may be idle
  });
  server.on('timeout', closeIdle); // emitted here, since a busy machine would let a short time pass before a request
  server.on('connect', (_req, socket: Socket) => refuseTunnel(socket, undefined as never)); // its turn never comes
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const asked = once(server, 'request');
  using waits = await RawConnection.to(`http://127.0.0.1:${port}`);
  await waits.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nConnection: close\r\n\r\nnot all');
  (await asked)[0].socket.emit('timeout');
  t.is((await waits.answers(1)).body, 'here');
  const connected = once(server, 'connection');
  using asksNothing = await RawConnection.to(`http://127.0.0.1:${port}`);
  (await connected)[0].emit('timeout');
  await asksNothing.untilEnded();
  for (const behind of ['', 'CONNECT elsewhere:443 HTTP/1.1\r\nHost: x\r\n\r\n']) {
    const received = once(server, behind === '' ? 'request' : 'connect');
    const readsNothing = net.connect(port, '127.0.0.1').pause();
    t.teardown(() => readsNothing.destroy());
    const broken = once(readsNothing, 'error');
    readsNothing.write(`GET /long HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n${behind}`);
    const [{ socket }] = await received;
    socket.emit('timeout'); // answers
    socket.emit('timeout');
    readsNothing.resume();
    t.is((await broken)[0].code, 'ECONNRESET', 'not as if it were complete');
  }
});

/** Starts a server with TLS that answers after a delay, or once it is ready. */
async function serveTls(
  t: ExecutionContext<Context>,
  headersTime: number,
  readiness = (): Promise<void> => pause(300),
): Promise<Server> {
  const { folder, ...tls } = await tlsFiles();
  t.teardown(() => rm(folder, { recursive: true }));
  return serve({ tls, headersTime }, readiness);
}

/** Starts a server that answers once it is ready. */
async function serve(
  options: Pick<ServerOptions, 'headersTime'> & Partial<ServerOptions>,
  readiness: () => Promise<void> = () => Promise.resolve(),
): Promise<Server> {
  const local = { host: '127.0.0.1', port: 0, tls: null, maxHeadersSize: 16_384, trustProxy: false };
  const server = await Server.listen({ ...local, ...options });
  const answer = async (_req: IncomingMessage, res: ServerResponse): Promise<void> => {
    await readiness();
    res.end('here');
  };
  server.serve(answer, {
    depositNamespace: 'https://deposit.example/',
    generator: { name: 'test', version: '1', uri: server.url },
    observer: { refused: () => undefined },
    logger: silentLogger,
  });
  return server;
}

/** The beginning of a record with a ClientHello. */
const CUT_HELLO = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]);

test('a connection without a completed TLS handshake is closed after the header timeout', async (t) => {
  const server = await serveTls(t, 150);
  using silent = await RawConnection.to(server.url);
  using cut = await RawConnection.to(server.url);
  await cut.send(CUT_HELLO);
  using gone = await RawConnection.to(server.url);
  gone.halfClose();
  using other = await RawConnection.to(server.url);
  await other.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  for (const connection of [silent, cut, gone, other]) await connection.untilEnded();
  await closesAll(server);
  await server.close(60_000);
  t.pass();
});

test('a server that shuts down waits for responses, but not for incomplete TLS handshakes', async (t) => {
  const [asked, ready] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = await serveTls(t, 60_000, () => {
    asked.resolve();
    return ready.promise;
  });
  using silent = await RawConnection.to(server.url);
  using cut = await RawConnection.to(server.url);
  await cut.send(CUT_HELLO);
  using served = await RawConnection.overTls(server.url, CERTIFICATE);
  await served.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await asked.promise;
  const stopped = server.close(60_000);
  for (const connection of [silent, cut]) await connection.untilEnded();
  ready.resolve();
  t.is((await served.answers(1)).status, 200);
  await stopped;
});

test('a client that offers only HTTP/1.0 in ALPN is answered over TLS', async (t) => {
  const server = await serveTls(t, 5000);
  using connection = await RawConnection.overTls(server.url, CERTIFICATE, { ALPNProtocols: ['http/1.0'] });
  await connection.send('GET / HTTP/1.0\r\n\r\n');
  t.is((await connection.answers(1)).status, 200);
  await connection.untilEnded();
  await server.close(60_000);
});

test('a half-closed connection over TLS is answered, then closed', async (t) => {
  const server = await serveTls(t, 5000);
  using connection = await RawConnection.overTls(server.url, CERTIFICATE);
  await connection.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  connection.halfClose();
  t.is((await connection.answers(1)).status, 200);
  await connection.untilEnded();
  await closesAll(server);
  await server.close(60_000);
});

test('a service that shuts down still accepts the upload that it is receiving', async (t) => {
  await using service = await RunningService.start();
  const bob = await service.register('bob', { collections: ['software'] });
  const request = upload(bob);
  using connection = await RawConnection.to(service.url);
  await connection.send(request.slice(0, -20));
  await pause(200); // it is read
  const stopped = service.stop();
  await pause(500); // all other connections have ended
  await connection.send(request.slice(-20));
  t.is((await connection.answers(1)).status, 201);
  await stopped;
});

test('a connection of a trusted proxy has a longer idle timeout than the proxy, other connections do not', async (t) => {
  for (const [trustProxy, seconds] of [
    [true, 130],
    [false, 10],
  ] as const) {
    await using service = await RunningService.start({ trustProxy });
    using connection = await RawConnection.to(service.url);
    await connection.send('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    t.regex((await connection.answers(1)).head, new RegExp(`^keep-alive: timeout=${seconds}$`, 'im'));
  }
});

test('a service that shuts down answers requests in transit, and has their clients reconnect', async (t) => {
  await using service = await RunningService.start();
  const bob = await service.register('bob', { collections: ['software'] });
  using connection = await RawConnection.to(service.url);
  const request = ask(bob);
  for (const count of [1, 2]) {
    await connection.send(request);
    t.regex((await connection.answers(count)).head, /^connection: keep-alive$/im);
  }
  const stopped = service.stop();
  await connection.send(request);
  const { status, head } = await connection.answers(3);
  t.is(status, 200);
  t.regex(head, /^connection: close$/im);
  await connection.untilEnded();
  await stopped;
});

test('a server that shuts down answers requests that arrive while its event loop is delayed', async (t) => {
  const server = await serve({ headersTime: 5000 });
  using connection = await RawConnection.to(server.url);
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  await connection.send(request);
  t.is((await connection.answers(1)).status, 200);
  const stopped = server.close(60_000);
  await nextTurn(); // the event loop runs timers next, then reads
  const sent = connection.send(request); // the system has it at once
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  await sent;
  t.is((await connection.answers(2)).status, 200);
  await stopped;
});

/** Serves an app with the login of the client that `User-Agent` names. */
async function serveApp(
  t: ExecutionContext<Context>,
  use: (app: Koa<RequestState>) => void,
): Promise<string> {
  const app = new Koa<RequestState>();
  app.silent = true;
  const errors = {
    depositNamespace: 'https://www.softwareheritage.org/schema/2018/deposit',
    generator: { name: 'Test', version: '1', uri: 'https://deposit.example/' },
    observer: { refused: () => undefined },
    logger: silentLogger,
  };
  app.use(answerErrors(silentLogger, errors));
  app.use((ctx, next) => {
    ctx.state.login = { client: ctx.get('User-Agent') } as ClientLogin; // all that limits use of a login
    return next();
  });
  use(app);
  const server = app.listen(0, '127.0.0.1');
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const AS_ALICE = { headers: { 'User-Agent': 'alice' } };
const AS_BOB = { headers: { 'User-Agent': 'bob' } };

/** Sends a request and reads nothing of its answer but what the system buffers. */
function unread(url: string, client: string): Socket {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined); // closed by the server
  socket.pause();
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nUser-Agent: ${client}\r\n\r\n`);
  return socket;
}

test('a client that reads none of its lists delays only itself, and its disconnect frees them', async (t) => {
  const answers = new LongAnswers({ ...LISTS, stalledAfterMs: 600_000 }); // gives way to none here
  const begun: string[] = [];
  let made = 0;
  const piece = 'x'.repeat(1024 ** 2);
  const url = await serveApp(t, (app) =>
    app.use(async (ctx) => {
      await answers.begin(ctx);
      begun.push(ctx.state.login.client);
      await sendInPieces(
        ctx,
        Iterator.from(Array.from({ length: 50 })).map(() => {
          made += 1;
          return piece;
        }),
      );
    }),
  );
  const sockets = Array.from({ length: 20 }, () => unread(url, 'alice'));
  await until(async () => begun.length === 4);
  const other = await fetch(url, AS_BOB);
  t.is((await other.text()).length, 50 * piece.length);
  t.deepEqual(begun, ['alice', 'alice', 'alice', 'alice', 'bob']);
  t.true(made < 50 + 4 * 20, 'a body is rendered only as far as it is read');
  for (const socket of sockets) socket.destroy();
  const again = await fetch(url, AS_ALICE);
  t.is(again.status, 200);
  await again.body?.cancel();
  t.deepEqual(begun.slice(5), ['alice'], 'nothing is started for a disconnected client');
});

/** Serves lists of 20 MiB, and lists the clients whose answer has begun. */
async function serveLists(t: ExecutionContext<Context>, limits: Partial<LongAnswerLimits>) {
  const answers = new LongAnswers({ ...LISTS, ...limits });
  const begun: string[] = [];
  const url = await serveApp(t, (app) =>
    app.use(async (ctx) => {
      await answers.begin(ctx);
      begun.push(ctx.state.login.client);
      await sendInPieces(ctx, Array<string>(20).fill('x'.repeat(1024 ** 2)));
    }),
  );
  const read = async (client: string): Promise<number> =>
    (await (await fetch(url, { headers: { 'User-Agent': client } })).text()).length;
  return { url, begun, read };
}

test('unread responses are aborted if others wait for their permits, of the same client and of others', async (t) => {
  const { url, begun, read } = await serveLists(t, { limit: 4, stalledAfterMs: 300 });
  for (const waiting of ['alice', 'bob']) {
    const sockets = Array.from({ length: 4 }, () => unread(url, 'alice'));
    await until(async () => begun.length === 4);
    t.is(await read(waiting), 20 * 1024 ** 2);
    for (const socket of sockets) socket.destroy();
    begun.length = 0;
  }
});

test('an unread response is retained while no other one waits for its permit', async (t) => {
  const { url, begun, read } = await serveLists(t, { stalledAfterMs: 50 });
  const socket = unread(url, 'alice');
  await until(async () => begun.length === 1);
  await pause(500);
  t.is(await read('bob'), 20 * 1024 ** 2);
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  socket.resume();
  await until(async () => received > 20 * 1024 ** 2);
  t.pass();
});

test('a slowly read response is sent completely, even if another one waits', async (t) => {
  const { url, begun, read } = await serveLists(t, { limit: 1, ownerLimit: 1, stalledAfterMs: 1000 });
  const socket = unread(url, 'alice');
  await until(async () => begun.length === 1);
  const other = read('bob');
  let [received, burst] = [0, 0];
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    burst += chunk.length;
    if (burst < 3 * 1024 ** 2) return;
    burst = 0;
    socket.pause();
    setTimeout(() => socket.resume(), 200);
  });
  socket.resume();
  await until(async () => received > 20 * 1024 ** 2 || socket.destroyed);
  t.true(received > 20 * 1024 ** 2);
  t.is(await other, 20 * 1024 ** 2);
});

test('other requests are served while a long list is rendered, also if the system buffers all of it', async (t) => {
  const answers = new LongAnswers(LISTS);
  let [turns, isCounting] = [0, true];
  const count = (): void => {
    turns += 1;
    if (isCounting) setImmediate(count);
  };
  const url = await serveApp(t, (app) =>
    app.use(async (ctx) => {
      await answers.begin(ctx);
      setImmediate(count);
      await sendInPieces(ctx, Array<string>(20).fill('x'.repeat(64 * 1024)));
      isCounting = false;
    }),
  );
  t.is((await (await fetch(url, AS_ALICE)).text()).length, 20 * 64 * 1024);
  t.true(turns >= 20, `${turns} turns of the event loop`);
});

test('excess concurrent lists of a client are refused, and other clients are served', async (t) => {
  const answers = new LongAnswers(LISTS);
  const url = await serveApp(t, (app) =>
    app.use(async (ctx) => {
      await answers.begin(ctx);
      if (ctx.state.login.client === 'alice') await once(ctx.res, 'close');
      ctx.body = 'read';
    }),
  );
  const sockets = Array.from({ length: 20 }, () => unread(url, 'alice'));
  await pause(300);
  const refused = await fetch(url, AS_ALICE);
  t.is(refused.status, 503);
  t.is(refused.headers.get('retry-after'), '5');
  assertErrorDocument(t, await refused.text(), 'ServiceUnavailable');
  t.is((await fetch(url, AS_BOB)).status, 200);
  for (const socket of sockets) socket.destroy();
});

test('unread bodies are limited per client', async (t) => {
  const body = 'x'.repeat(7 * 1024 ** 2);
  const url = await serveApp(t, (app) => {
    app.use(limitUnsent(false));
    app.use((ctx) => {
      ctx.set('Cache-Control', 'max-age=3600');
      ctx.body = body;
    });
  });
  const first = unread(url, 'alice');
  await pause(300);
  const second = await fetch(url, AS_ALICE);
  t.is(second.status, 503);
  t.is(second.headers.get('cache-control'), 'no-store', 'no cache may answer others with it');
  assertErrorDocument(t, await second.text(), 'ServiceUnavailable');
  const other = await fetch(url, AS_BOB);
  t.is((await other.text()).length, body.length);
  first.destroy();
  await until(async () => {
    const answer = await fetch(url, AS_ALICE);
    return (await answer.text()).length === body.length;
  });
});

test('a write that was executed is answered whatever else is unread, and its body counts', async (t) => {
  const body = 'x'.repeat(5 * 1024 ** 2);
  let executed = 0;
  const url = await serveApp(t, (app) => {
    app.use(limitUnsent(false));
    app.use((ctx) => {
      if (ctx.method === 'POST') executed += 1;
      ctx.body = body;
    });
  });
  const [headers, signal] = [{ 'User-Agent': 'alice' }, AbortSignal.timeout(60_000)];
  const unreadWrites: Response[] = [];
  for (const sent of [1, 2]) {
    const answer = await fetch(url, { method: 'POST', headers, signal });
    t.deepEqual([answer.status, executed], [200, sent]);
    unreadWrites.push(answer);
  }
  const refused = await fetch(url, { headers });
  t.is(refused.status, 503);
  await refused.text();
  for (const answer of unreadWrites) await answer.body?.cancel();
  await until(async () => {
    const answer = await fetch(url, { headers });
    return (await answer.text()).length === body.length;
  });
});

test('unread bodies of answers without login leave room for those of clients', async (t) => {
  const body = 'x'.repeat(7 * 1024 ** 2);
  const url = await serveApp(t, (app) => {
    app.use((ctx, next) => {
      if (ctx.get('User-Agent') === 'nobody') Reflect.deleteProperty(ctx.state, 'login');
      return next();
    });
    app.use(limitUnsent(true));
    app.use((ctx) => {
      ctx.body = body;
    });
  });
  const from = (address: string) => ({ 'User-Agent': 'nobody', 'X-Forwarded-For': address });
  const statusOf = async (headers: Record<string, string>) => {
    const answer = await fetch(url, { headers });
    await answer.text();
    return answer.status;
  };
  const signal = AbortSignal.timeout(60_000);
  const first = await fetch(url, { headers: from('2001:db8::1'), signal });
  t.is(await statusOf(from('2001:db8::2')), 503, 'a network is one reader');
  const second = await fetch(url, { headers: from('192.0.2.1'), signal });
  t.is(second.status, 200, 'another network is another reader');
  t.is(await statusOf(from('192.0.2.2')), 503, 'other clients without a login wait');
  t.is(await statusOf({ 'User-Agent': 'alice' }), 200);
  await Promise.all([first.body?.cancel(), second.body?.cancel()]);
});

test('empty lines after a response do not keep a connection open', async (t) => {
  const server = await serve({ headersTime: 1000, keepAliveTime: 1500 });
  t.teardown(() => server.close(0));
  using connection = await RawConnection.to(server.url);
  await connection.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await connection.answers(1);
  await pause(100);
  await connection.send('\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n');
  t.is((await connection.answers(2)).status, 200, 'empty lines before a request are allowed');
  const started = performance.now();
  // The connection is reset if the server closes it before it has read the last line.
  const isClosed = () => connection.ended || connection.error !== undefined;
  while (!isClosed() && performance.now() - started < 20_000) {
    await connection.send('\r\n');
    await pause(50);
  }
  t.true(isClosed());
  t.true(performance.now() - started > 2500, 'a client may send the next request later');
});
