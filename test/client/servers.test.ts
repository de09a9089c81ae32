import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http, { type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import anyTest, { type TestFn } from 'ava';
import { Unreachable } from '../../client/faults.ts';
import { bytesBody } from '../../client/http/bodies.ts';
import { Connection } from '../../client/http/connection.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { AlteringProxy } from '../../testing/http/altering-proxy.ts';
import { helloTar } from '../../testing/http/deposit-bodies.ts';
import { CommandLineDepositor, type Facts } from '../../testing/processes/deposit-command.ts';
import { RunningService, type TestClient } from '../../testing/service/running-service.ts';
import { depositDone } from './known-deposits.ts';

type Context = { service: RunningService; alice: TestClient; depositor: CommandLineDepositor; home: string };
const test = anyTest as TestFn<Context>;

test.before(async (t) => {
  const service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  const home = await mkdtemp(path.join(tmpdir(), 'depositor-'));
  const login = { url: service.url, user: 'alice', password: 'secret' };
  t.context = { service, alice, depositor: new CommandLineDepositor(home, login), home };
});

test.after.always(async (t) => {
  await t.context.service[Symbol.asyncDispose]();
  await rm(t.context.home, { recursive: true, force: true });
});

test('a server that lists no deposits is said to list none', async (t) => {
  const { depositor, service } = t.context;
  await using old = await AlteringProxy.start(service.url, (answer, line) =>
    line.startsWith('GET /1/software/') ? { ...answer, status: 405, body: '' } : answer,
  );
  const { code, err } = await depositor.run(['list'], { env: { SWORD_SERVER: old.url } });
  t.is(code, 1);
  t.regex(err, /^The server lists no deposits: GET .* is not possible there\.$/m);
});

test('a server that gives no receipt for the asking, and calls its namespaces otherwise, is understood all the same', async (t) => {
  const { depositor, service } = t.context;
  const id = await depositDone(t.context.alice);
  await using other = await AlteringProxy.start(service.url, (answer, line) => {
    if (line.endsWith('/metadata/')) return { ...answer, status: 405, body: '' };
    const renamed = answer.body
      .replaceAll(/<(\/?)deposit_\w+>[^<]*(<\/deposit_\w+>)?/g, '')
      .replaceAll('depositns:', 'd:')
      .replaceAll('xmlns:depositns=', 'xmlns:d=');
    return { ...answer, body: renamed };
  });
  const facts = await depositor.facts(['status', id], { env: { SWORD_SERVER: other.url } });
  t.like(facts, { deposit: Number(id), status: 'done' });
});

test('what is not what the server announced, or not what was deposited, is found out', async (t) => {
  const { depositor, service, home } = t.context;
  const id = await depositDone(t.context.alice, helloTar, 'true.tar');
  const other = tarOf([{ name: 'hello/hello.py', data: 'print("other")\n' }]).toString();
  const env = (proxy: AlteringProxy) => ({ env: { SWORD_SERVER: proxy.url } });
  for (const header of [
    { 'content-md5': '0'.repeat(32) },
    { 'content-digest': 'unknown=:AA==:, sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:' },
  ]) {
    await using lying = await AlteringProxy.start(service.url, (answer, line) =>
      line.endsWith('/media/') ? { ...answer, headers: { ...answer.headers, ...header } } : answer,
    );
    const { code, err } = await depositor.run(['fetch', id, '--output', 'lie.tar'], env(lying));
    t.is(code, 1);
    t.regex(err, /^What came is not what the server announced: content-/m);
  }
  await using swapping = await AlteringProxy.start(service.url, (answer, line) =>
    line.endsWith('/media/') ? { ...answer, headers: {}, body: other } : answer,
  );
  const swapped = await depositor.run(['fetch', id, '--output', 'swapped.tar'], env(swapping));
  t.is(swapped.code, 4);
  t.regex(swapped.out, /The identifier is NOT that of the deposit/);
  await t.throwsAsync(readFile(path.join(home, 'lie.tar')));
});

test('an identifier other than the one that was computed here has an exit code of its own', async (t) => {
  const { depositor, service, home } = t.context;
  await writeFile(path.join(home, 'mine.tar'), helloTar);
  await using wrong = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    body: answer.body.replaceAll(/swh:1:dir:[0-9a-f]{40}/g, `swh:1:dir:${'0'.repeat(40)}`),
  }));
  const upload = ['upload', 'mine.tar', '--name', 'Mine', '--author', 'Me', '--wait'];
  const { code, out } = await depositor.run(upload, { env: { SWORD_SERVER: wrong.url } });
  t.is(code, 4);
  t.regex(out, /The identifier DIFFERS from the one that was computed here: swh:1:dir:[0-9a-f]*[1-9a-f]/);
});

test('a server that cannot be reached, or is none, is told with an exit code of its own', async (t) => {
  const { depositor, service } = t.context;
  const refused = await depositor.run(['list', '--server', 'http://127.0.0.1:1']);
  t.deepEqual([refused.code, refused.out], [5, '']);
  t.regex(refused.err, /^The server at http:\/\/127\.0\.0\.1:1 cannot be reached: connect ECONNREFUSED/);
  await using captive = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    body: '<!DOCTYPE html><html/>',
  }));
  const { code, results } = await depositor.json(['list', '--server', captive.url]);
  t.is(code, 1);
  const { error } = results[0] as { error: Facts };
  t.regex(String(error['message']), /cannot be read: it has a DOCTYPE, which is not allowed/);
});

test('a server that is not ready is asked again, as long as the patience lasts', async (t) => {
  let refusals = 2;
  await using proxy = await AlteringProxy.start(t.context.service.url, (answer) =>
    refusals-- > 0 ? { ...answer, status: 503, body: '' } : answer,
  );
  const { depositor } = t.context;
  const patient = await depositor.run(['list', '--server', proxy.url]);
  t.is(patient.code, 0);
  t.is(patient.err.match(/The server is not ready \(503\); trying again\./g)?.length, 2);
  refusals = Infinity;
  const impatient = await depositor.run(['list', '--server', proxy.url, '--patience', '0.1']);
  t.is(impatient.code, 5);
  t.regex(impatient.err, /^The server is not ready: 503\.$/m);
});

const tricks: Record<string, (response: ServerResponse) => void> = {
  'says nothing': () => undefined,
  'goes on with something for ever': (response) => often(response, () => response.writeProcessing()),
  'gives its document by the byte': (response) => often(response, () => response.write(' ')),
};
for (const [trick, answer] of Object.entries(tricks)) {
  test(`a server that ${trick} is waited for no longer than the patience lasts`, async (t) => {
    await using server = await listening((request, response) => {
      if (request.url === '/first') response.end();
      else answer(response);
    });
    const connection = impatient(server.url);
    await connection.get(`${server.url}/first`);
    const get = () => connection.get(`${server.url}/`);
    await t.throwsAsync(get, { instanceOf: Unreachable, message: /no whole answer came within/ });
    const headers = { 'Content-Type': 'text/plain' };
    const body = bytesBody(Buffer.alloc(100_000));
    const post = () => connection.write('POST', `${server.url}/`, { headers, body, repeatable: false });
    await t.throwsAsync(post, { instanceOf: Unreachable });
  });
}

test('what got lost in silence is asked for again while there is patience', async (t) => {
  let asked = 0;
  await using server = await listening((_request, response) => {
    if ((asked += 1) !== 2) response.end(); // the second one never answers
  });
  const connection = impatient(server.url);
  await connection.get(`${server.url}/`);
  t.is((await connection.get(`${server.url}/`)).status, 200);
  t.is(asked, 3);
});

test('an archive that flows is waited for, however long it takes', async (t) => {
  await using server = await listening((request, response) => {
    if (request.method === 'POST') request.resume().once('end', () => response.end());
    else often(response, (times) => (times > 10 ? response.end() : response.write('.')));
  });
  const connection = impatient(server.url);
  const taken = await connection.download(`${server.url}/`, async (message, onPiece) => {
    let text = '';
    for await (const piece of message as AsyncIterable<Buffer>) {
      text += piece.toString();
      onPiece();
    }
    return text;
  });
  t.is(taken, '.'.repeat(10));
  async function* pieces() {
    for (let count = 0; count < 10; count += 1) {
      await pause(200);
      yield Buffer.from('.');
    }
  }
  const body = { length: 10, pieces };
  const sent = await connection.write('POST', `${server.url}/`, { body, repeatable: false });
  t.is(sent.status, 200);
});

/** Returns a connection with a time limit of 1.5 s. */
function impatient(url: string): Connection {
  const limits = {
    total: 1500,
    silence: 1500,
    silenceOfReads: 1000,
    shortestTry: 100,
    firstPause: 10,
    longestPause: 10,
  };
  const login = { server: new URL(url), user: 'alice', password: 'secret' };
  return new Connection({ login, limits, note: () => undefined });
}

async function listening(answer: RequestListener) {
  const server = http.createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, [Symbol.asyncDispose]: close };
}

function often(response: ServerResponse, work: (times: number) => unknown): void {
  let times = 0;
  const timer = setInterval(() => work((times += 1)), 200);
  response.once('close', () => clearInterval(timer));
}

test('a password is sent to no other server than the one that was named', async (t) => {
  const { depositor, service } = t.context;
  await using elsewhere = await AlteringProxy.start(service.url, (answer) => answer);
  await using leading = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    body: answer.body.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, elsewhere.url),
  }));
  const { code, err } = await depositor.run(['list', '--server', leading.url]);
  t.is(code, 1);
  t.regex(err, /names an address elsewhere, .*, where the password is not sent/);
  t.deepEqual(elsewhere.requests, []);
  await using moved = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    status: 301,
    headers: { location: elsewhere.url },
  }));
  const redirected = await depositor.run(['list', '--server', moved.url]);
  t.regex(redirected.err, /was answered 301 and sent on to .* Redirects are not followed with a password/);
  t.deepEqual(elsewhere.requests, []);
});
