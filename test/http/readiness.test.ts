import { mkdir, rename, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { Server } from '../../src/http/server/server.ts';
import { assertUpToDate } from '../../src/service/views-up-to-date.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { archiveHeaders, partial } from '../../testing/http/deposit-bodies.ts';
import { RawConnection } from '../../testing/http/raw-connection.ts';
import { RunningService, until } from '../../testing/service/running-service.ts';
import { CERTIFICATE, tlsFiles } from '../../testing/service/tls-files.ts';

const LOCAL = {
  host: '127.0.0.1',
  port: 0,
  tls: null,
  headersTime: 15_000,
  maxHeadersSize: 16_384,
  trustProxy: false,
} as const;

test('a service without its store is not ready and gives the reason, and is ready when the store returns', async (t) => {
  await using service = await RunningService.start();
  const ready = () => fetch(`${service.url}/health/ready`);
  t.is((await ready()).status, 200);
  const [incoming, away] = [
    path.join(service.folder, 'archives', 'incoming'),
    path.join(service.folder, 'away'),
  ];
  await rename(incoming, away);
  await until(async () => !(await ready()).ok); // the last result is answered again
  const refused = await ready();
  t.true(Number(refused.headers.get('retry-after')) > 0);
  const document = await assertSwordError(t, refused, 503, 'ServiceUnavailable');
  t.regex(JSON.stringify(document), /archive store: /);
  t.is((await fetch(`${service.url}/health/live`)).status, 200);
  await rm(incoming, { recursive: true, force: true });
  await mkdir(path.dirname(incoming), { recursive: true });
  await rename(away, incoming);
  await until(async () => (await ready()).ok);
  t.pass();
});

test('views that do not progress are not ready: the reason has the view, the event count and their age', async (t) => {
  await using log = new MemoryEventLog();
  const event = (id: string, occurredAt: string) => {
    return { id, type: 'DepositCreated', data: {}, metadata: { schemaVersion: 1, occurredAt } };
  };
  const [old, now] = [new Date(Date.now() - 120_000), new Date()].map((date) => date.toISOString());
  const ids = ['9f0f1c1e-0000-4000-8000-000000000001', '9f0f1c1e-0000-4000-8000-000000000002'] as const;
  const { position } = await log.append('deposit-1', 'none', [event(ids[0], old ?? '')]);
  const view = { name: 'deposit-status', streamPrefix: 'deposit-', events: 0 };
  const at = (reached: typeof position | undefined, lastError?: string) =>
    assertUpToDate({ isCurrent: true, reached: [{ ...view, position: reached }], lastError }, log);
  const behind = await t.throwsAsync(at(undefined));
  t.regex(
    behind?.message ?? '',
    /^View deposit-status is behind: 1 event not applied, the oldest 1\d\d seconds old\.$/,
  );
  await t.notThrowsAsync(at(position));
  await log.append('deposit-1', 0, [event(ids[1], now ?? '')]);
  await t.notThrowsAsync(at(position), 'the last change may still be in transit');
  await t.throwsAsync(at(position, 'The log is away.'), { message: 'The log is away.' });
});

test('a request received before the server has a handler is answered once it has one', async (t) => {
  const server = await Server.listen(LOCAL);
  const early = fetch(server.url);
  await pause(50);
  const answer = (_req: unknown, res: ServerResponse) => void res.end('here');
  server.serve(answer, undefined as never); // no request here is no HTTP
  t.is(await (await early).text(), 'here');
  await server.close(1000);

  const never = await Server.listen(LOCAL);
  const unanswered = t.throwsAsync(fetch(never.url));
  await pause(50);
  await never.close(20_000);
  await unanswered;
});

test('a response that a shutdown aborts ends with a reset, also in HTTP/1.0', async (t) => {
  const { folder, ...tls } = await tlsFiles();
  t.teardown(() => rm(folder, { recursive: true }));
  const asked = { ALPNProtocols: ['http/1.0'] };
  for (const [options, connect] of [
    [LOCAL, (url: string) => RawConnection.to(url)],
    [{ ...LOCAL, tls }, (url: string) => RawConnection.overTls(url, CERTIFICATE, asked)],
  ] as const) {
    const server = await Server.listen(options);
    server.serve(async (_req, res) => void res.write('begun'), undefined as never); // no request here is no HTTP
    using old = await connect(server.url);
    await old.send('GET / HTTP/1.0\r\nHost: x\r\n\r\n');
    await until(async () => old.text.endsWith('begun'));
    await server.close(0);
    await old.untilEnded();
    t.is(old.error, 'ECONNRESET');
  }
});

test('a server that shuts down sends pending responses, and does not wait for clients that stop reading', async (t) => {
  const answer = Buffer.alloc(20_000_000);
  const [ask, connect] = ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'];
  for (const [graceMs, sent] of [
    [60_000, ask],
    [0, ask + connect],
  ] as const) {
    const server = await Server.listen(LOCAL);
    const asked = Promise.withResolvers<void>();
    const handler = async (_req: unknown, res: ServerResponse) => {
      res.end(answer);
      asked.resolve();
    };
    server.serve(handler, undefined as never); // none is answered with an error
    const client = net.connect(Number(new URL(server.url).port), '127.0.0.1');
    t.teardown(() => client.destroy());
    client.write(sent);
    await asked.promise;
    const stopped = server.close(graceMs);
    if (graceMs > 0) {
      await pause(300); // all that is idle has ended
      t.true((await buffer(client)).length > answer.length);
    }
    await t.notThrowsAsync(stopped);
  }
});

test('the service is not ready during its shutdown', async (t) => {
  const service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  using connection = await RawConnection.to(service.url);
  const head = [
    'POST /1/software/ HTTP/1.1',
    'Host: x',
    `Authorization: ${alice.authorization}`,
    ...Object.entries({ ...archiveHeaders(), ...partial }).map(([name, value]) => `${name}: ${value}`),
    'Content-Length: 4',
  ];
  await connection.send(`${head.join('\r\n')}\r\n\r\nPK`);
  await pause(100);
  const stopped = service[Symbol.asyncDispose]();
  await pause(100);
  await connection.send('xxGET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n');
  const answer = await connection.answers(2);
  t.is(answer.status, 503);
  t.regex(answer.body, /service: it is stopping\./);
  await stopped;
});
