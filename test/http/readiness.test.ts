import { mkdir, rename, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import type { Position } from '../../src/event-log/event-log.ts';
import { Server } from '../../src/http/server/server.ts';
import { viewsUpToDate } from '../../src/service/views-up-to-date.ts';
import { CLOCK_OF_NODE } from '../../src/tools/clock.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import type { Reached } from '../../src/views/view.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { archiveHeaders, partial } from '../../testing/http/deposit-bodies.ts';
import { RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
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

test('the reason names a file of a folder with spaces, and no folder', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'data of the service');
  await using service = await RunningService.startIn(folder);
  const log = path.join(folder, 'event-log.sqlite');
  await rename(log, `${log} away`);
  await until(async () => !(await fetch(`${service.url}/health/ready`)).ok); // the last result is answered again
  const text = await (await fetch(`${service.url}/health/ready`)).text();
  await rename(`${log} away`, log);
  t.regex(text, /event log: it cannot write: event-log\.sqlite was moved or deleted/);
});

test('views that do not progress are not ready: the reason has the view, the event count and the time', async (t) => {
  await using log = new MemoryEventLog();
  const append = (revision: number, clockAhead = 0) => {
    const occurredAt = new Date(Date.now() + clockAhead).toISOString();
    const event = { id: crypto.randomUUID(), type: 'DepositCreated', data: {} };
    return log.append('deposit-1', revision < 0 ? 'none' : revision, [
      { ...event, metadata: { schemaVersion: 1, occurredAt } },
    ]);
  };
  const view = { name: 'deposit-status', version: 1, streamPrefix: 'deposit-', events: 0 };
  const projector: {
    isCurrent: true;
    reached: (typeof view & Pick<Reached, 'position'>)[];
    lastError?: string;
  } = { isCurrent: true, reached: [{ ...view, position: undefined }] };
  const reach = (position: Position): void => {
    projector.reached = [{ ...view, position }];
  };
  let elapsed = 0;
  const clock = { ...CLOCK_OF_NODE, monotonic: () => elapsed };
  await runInWorld({ clock }, async () => {
    const check = viewsUpToDate(projector as Parameters<typeof viewsUpToDate>[0], log);
    const { position: first } = await append(-1, -300_000);
    await t.notThrowsAsync(check, 'the event is new, although the clock of its node is five minutes late');
    elapsed += 31_000;
    await t.throwsAsync(check, {
      message: 'View deposit-status is behind: 1 event not applied for at least 31 seconds.',
    });
    const { position: second } = await append(0, 300_000);
    await t.throwsAsync(check, { message: /2 events not applied for at least 31 seconds/ });
    reach(first);
    await t.throwsAsync(check, { message: /1 event not applied/ }, 'they had to catch up');
    reach(second);
    await t.notThrowsAsync(check);
    await append(1);
    await t.notThrowsAsync(check, 'the last change may still be in transit');
    elapsed += 20_000;
    const { position: last } = await append(2);
    reach(last);
    await append(3);
    await t.notThrowsAsync(check);
    elapsed += 20_000;
    await t.notThrowsAsync(check, 'they advance');
    projector.lastError = 'The log is away.';
    await t.throwsAsync(check, { message: 'The log is away.' });
  });
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
  const headers = { ...archiveHeaders(), ...partial, 'Content-Length': 4 };
  await connection.send(`${requestHead('POST /1/software/', alice, headers)}PK`);
  await pause(100);
  const stopped = service[Symbol.asyncDispose]();
  await pause(100);
  await connection.send('xxGET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n');
  const answer = await connection.answers(2);
  t.is(answer.status, 503);
  t.regex(answer.body, /service: it is stopping\./);
  await stopped;
});
