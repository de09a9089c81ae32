import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { zipOf } from '../../testing/archives/archive-builders.ts';
import { assertErrorDocument } from '../../testing/documents/sword-error.ts';
import {
  archiveHeaders,
  archivePart,
  BOUNDARY,
  entryHeaders,
  entryPart,
  final,
  formOf,
  formType,
  helloEntry,
  helloForm,
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { type RawAnswer, RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { keptLines } from '../../testing/service/kept-lines.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { leavesNothing } from '../../testing/service/stored-things.ts';
import { type ServiceWith, testOfService } from '../../testing/service/test-of-service.ts';

type Context = ServiceWith<'alice'>;
const test = testOfService({ alice: { collections: ['software'] } }, { maxUploadSize: 4 * 1024 ** 2 });

type Headers = Readonly<Record<string, string>>;

function head(t: ExecutionContext<Context>, line: string, headers: Headers = {}): string {
  return requestHead(line, t.context.alice, headers);
}

function uploadHead(t: ExecutionContext<Context>, headers: Headers): string {
  const upload = {
    'Content-Type': 'application/zip',
    'Content-Disposition': 'attachment; filename=a.zip',
    ...partial,
  };
  return head(t, 'POST /1/software/', { ...upload, ...headers });
}

function assertError(t: ExecutionContext, answer: RawAnswer, status: number, name: string, about = ''): void {
  t.is(answer.status, status, `${about} ${answer.body}`);
  t.regex(answer.head, /^content-type: application\/xml$/im, about);
  t.regex(answer.head, /^date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/im, about);
  assertErrorDocument(t, answer.body, name, about);
}

const notHttp: Record<string, [bytes: string, status: number]> = {
  garbage: ['HELLO\r\n\r\n', 400],
  'another protocol': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  'an unknown method': ['FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  'a NUL in the target': ['GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  'a malformed header': ['GET / HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n', 400],
  'two lengths': ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
  'a signed length': ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na', 400],
  'a length and chunks': [
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  'chunked, then something else': [
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n',
    400,
  ],
  'a target beyond bounds': [`GET /${'a'.repeat(8192)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
  'a target beyond all bounds': [`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
  'another major version': ['GET / HTTP/2.0\r\nHost: x\r\n\r\n', 505],
  'an unknown version': ['GET / HTTP/3.0\r\nHost: x\r\n\r\n', 505],
  'no version': ['GET /\r\n\r\n', 505],
  'a line that ends with LF alone': ['GET / HTTP/1.1\nHost: x\n\n', 400],
  'a header that ends with LF alone': ['GET / HTTP/1.1\r\nHost: x\n\n', 400],
  'headers beyond bounds': [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
};

for (const [what, [bytes, status]] of Object.entries(notHttp)) {
  test(`${what} gets a SWORD error, and the connection is closed`, async (t) => {
    using connection = await RawConnection.to(t.context.service.url);
    await connection.send(bytes);
    assertError(t, await connection.answers(1), status, 'ErrorBadRequest');
    await connection.untilEnded();
    t.true(connection.ended);
  });
}

const long = (length: number): string => 'a'.repeat(length);

const longHeads: Record<string, [packets: readonly string[], status: number]> = {
  'a target in two packets': [[`GET /${long(10_000)}`, `${long(10_000)} HTTP/1.1\r\nHost: x\r\n\r\n`], 414],
  'a target in packets that end in its line': [
    [`GET /${long(9000)}`, long(9000), `${long(900)} HT`, 'TP/1.1\r\nHost: x\r\n\r\n'],
    414,
  ],
  'a header in two packets': [[`GET / HTTP/1.1\r\nX: ${long(10_000)}`, `${long(10_000)}\r\n\r\n`], 431],
  'a header without an end': [[`GET / HTTP/1.1\r\nX: ${long(10_000)}`, long(10_000)], 431],
  'headers after a target within bounds': [
    [`GET /${long(7000)}`, ` HTTP/1.1\r\nX: ${long(12_000)}\r\n\r\n`],
    431,
  ],
};

for (const [what, [packets, status]] of Object.entries(longHeads)) {
  test(`an oversized request head is refused with the status of the part that is too long: ${what}`, async (t) => {
    using connection = await RawConnection.to(t.context.service.url);
    for (const packet of packets) {
      await connection.send(packet);
      await pause(50); // else they may arrive as one
    }
    assertError(t, await connection.answers(1), status, 'ErrorBadRequest');
    await connection.untilEnded();
  });
}

test('a request with Content-Length and Transfer-Encoding is refused, with the header to omit, and logged', async (t) => {
  const { logger, lines } = keptLines();
  const folder = await temporaryFolder(t);
  await using service = await RunningService.startIn(folder, {}, logger);
  for (const headers of [
    'Content-Length: 3\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 3',
  ]) {
    using connection = await RawConnection.to(service.url);
    await connection.send(`POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n0\r\n\r\n`);
    t.regex(
      (await connection.answers(1)).body,
      /both Content-Length and Transfer-Encoding: send one of them/,
    );
  }
  const logged = lines.filter(({ msg }) => msg === 'request is not valid HTTP');
  t.is(logged.length, 2);
  for (const { status, reason } of logged) {
    t.is(status, 400);
    t.regex(String(reason), /can't be present with/);
  }
});

test('a request without Host gets the same refusal as any other', async (t) => {
  using connection = await RawConnection.to(t.context.service.url);
  await connection.send('GET /1/servicedocument/ HTTP/1.1\r\n\r\n');
  assertError(t, await connection.answers(1), 400, 'ErrorBadRequest');
});

test('a request with two Host headers is refused, in both HTTP versions and on public pages', async (t) => {
  for (const [target, version] of [
    ['/1/servicedocument/', '1.1'],
    ['/', '1.0'],
  ]) {
    using connection = await RawConnection.to(t.context.service.url);
    await connection.send(`GET ${target} HTTP/${version}\r\nHost: x\r\nhost: y\r\n\r\n`);
    assertError(t, await connection.answers(1), 400, 'ErrorBadRequest', target);
  }
});

test('an invalid Host is refused, also on a public page', async (t) => {
  const ask = async (host: string) => {
    using connection = await RawConnection.to(t.context.service.url);
    await connection.send(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return await connection.answers(1);
  };
  for (const host of [
    'a b',
    'x/y',
    'user@x',
    'x:80:80',
    'x:y',
    '[::1',
    '[x]',
    'x?',
    'x#',
    'a%zz',
    '\u00e9.example',
  ])
    assertError(t, await ask(host), 400, 'ErrorBadRequest', host);
  for (const host of [
    '',
    'x',
    'x:',
    'under_score.example:8080',
    '192.0.2.1:80',
    '[::ffff:1.2.3.4]:80',
    'a%20b',
  ])
    t.is((await ask(host)).status, 200, host);
});

test('all headers are read if their total size is within the limit', async (t) => {
  using connection = await RawConnection.to(t.context.service.url);
  const many = 'X-A: b\r\n'.repeat(1900);
  await connection.send(head(t, 'GET /1/servicedocument/').replace('Authorization', `${many}Authorization`));
  t.is((await connection.answers(1)).status, 200);
});

test('CONNECT is refused with a SWORD error', async (t) => {
  using connection = await RawConnection.to(t.context.service.url);
  await connection.send('CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere\r\n\r\n');
  assertError(t, await connection.answers(1), 405, 'MethodNotAllowed');
  await connection.untilEnded();
  using other = await RawConnection.to(t.context.service.url);
  await other.send('CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere\r\n\r\n');
  other.reset();
  t.is((await t.context.alice.get('/1/servicedocument/')).status, 200, 'and the service continues');
});

test('a pipelined CONNECT is refused after the responses to earlier requests', async (t) => {
  const big = zipOf([{ name: 'noise', data: randomBytes(3 * 1024 ** 2) }]);
  const created = await t.context.alice.post('/1/software/', big, { ...archiveHeaders(), ...partial });
  const media = new URL(`${created.headers.get('location')}`).pathname.replace('metadata', 'media');
  using connection = await RawConnection.to(t.context.service.url);
  const length = { 'Content-Length': String(helloZip.length) };
  await connection.send(uploadHead(t, length) + helloZip.toString('latin1') + head(t, `GET ${media}`));
  await connection.send('CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere\r\n\r\n');
  t.is((await connection.answers(1)).status, 201);
  t.is((await connection.answers(2)).body.length, big.length);
  assertError(t, await connection.answers(3), 405, 'MethodNotAllowed');
  await connection.untilEnded();
});

test.serial('an Upgrade is ignored, and the connection is closed after the response', async (t) => {
  const { service } = t.context;
  await leavesNothing(t, service, async () => {
    using connection = await RawConnection.to(service.url);
    const wish = { Upgrade: 'h2c', Connection: 'Upgrade, HTTP2-Settings', 'HTTP2-Settings': 'AAA' };
    const dropped = uploadHead(t, { 'Content-Length': String(helloZip.length) });
    await connection.send(
      `${head(t, 'GET /1/servicedocument/', wish)}${dropped}${helloZip.toString('latin1')}`,
    );
    const answer = await connection.answers(1);
    t.is(answer.status, 200);
    t.regex(answer.head, /^connection: close$/im);
    await connection.untilEnded();
    await t.throwsAsync(connection.answers(2), { message: /^1 answers before the end/ });
  });
});

test('a target that is not a URL is a bad request, and the service continues', async (t) => {
  for (const target of ['http://[/', 'http://a:b:c/x', 'http://a%00b/x', 'http://[::1/1/', 'http://:0/']) {
    using connection = await RawConnection.to(t.context.service.url);
    await connection.send(head(t, `GET ${target}`));
    assertError(t, await connection.answers(1), 400, 'ErrorBadRequest', target);
  }
  t.is((await t.context.alice.get('/1/servicedocument/')).status, 200);
});

test('a target in absolute form is served by its path', async (t) => {
  using connection = await RawConnection.to(t.context.service.url);
  await connection.send(head(t, 'GET http://elsewhere.example/1/servicedocument/'));
  const { status, body } = await connection.answers(1);
  t.is(status, 200);
  t.true(
    body.includes(`href="${t.context.service.url}/1/software/"`),
    'and the IRIs are those of the service',
  );
});

test.serial('a body with a transfer coding other than chunked is refused', async (t) => {
  await leavesNothing(t, t.context.service, async () => {
    using connection = await RawConnection.to(t.context.service.url);
    await connection.send(uploadHead(t, { 'Transfer-Encoding': 'gzip, chunked' }));
    await connection.send(`${helloZip.length.toString(16)}\r\n${helloZip.toString('latin1')}\r\n0\r\n\r\n`);
    assertError(t, await connection.answers(1), 400, 'ErrorBadRequest');
  });
});

test('a request that ends within its headers is refused with this reason, first or pipelined', async (t) => {
  for (const before of ['', head(t, 'GET /1/servicedocument/')]) {
    using connection = await RawConnection.to(t.context.service.url);
    await connection.send(`${before}GET /1/software/ HTTP/1.1\r\nHost: x\r\nAuthor`);
    connection.halfClose();
    const answer = await connection.answers(before === '' ? 1 : 2);
    assertError(t, answer, 400, 'ErrorBadRequest');
    t.regex(answer.body, /ended before its headers did/);
    await connection.untilEnded();
  }
});

test.serial('a body shorter than its Content-Length is refused, and nothing is stored', async (t) => {
  const entry = { 'Content-Type': 'application/atom+xml' };
  const form = { 'Content-Type': `multipart/form-data; boundary="${BOUNDARY}"` };
  const cases = [
    [{}, helloZip],
    [entry, Buffer.from(helloEntry)],
    [form, helloForm],
  ] as const;
  await leavesNothing(t, t.context.service, async () => {
    for (const [type, body] of cases) {
      using connection = await RawConnection.to(t.context.service.url);
      await connection.send(uploadHead(t, { ...type, 'Content-Length': String(body.length + 1) }));
      await connection.send(body);
      connection.halfClose();
      const answer = await connection.answers(1);
      assertError(t, answer, 412, 'ErrorChecksumMismatch');
      t.regex(answer.head, /^cache-control: no-store$/im);
    }
  });
});

test.serial('an upload aborted at any point leaves nothing behind', async (t) => {
  const form = { 'Content-Type': `multipart/form-data; boundary="${BOUNDARY}"` };
  const large = Buffer.concat([helloZip, Buffer.alloc(300_000)]);
  const uploads = [
    [{}, large],
    [form, formOf([entryPart(), archivePart(large)])],
    [form, formOf([archivePart(large), entryPart()])],
  ] as const;
  await leavesNothing(t, t.context.service, async () => {
    for (const [type, body] of uploads) {
      for (const share of [0, 0.001, 0.3, 0.6, 0.99]) {
        using connection = await RawConnection.to(t.context.service.url);
        await connection.send(uploadHead(t, { ...type, 'Content-Length': String(body.length) }));
        await connection.send(body.subarray(0, Math.floor(body.length * share)));
        await pause(15);
        connection.reset();
      }
    }
    await pause(100);
  });
});

test.serial('malformed chunks are refused, and nothing is stored', async (t) => {
  await leavesNothing(t, t.context.service, async () => {
    using connection = await RawConnection.to(t.context.service.url);
    await connection.send(uploadHead(t, { 'Transfer-Encoding': 'chunked' }));
    await connection.send(`${helloZip.length.toString(16)}\r\n`);
    await connection.send(helloZip);
    await connection.send('\r\nXYZ\r\n');
    assertError(t, await connection.answers(1), 400, 'ErrorBadRequest');
  });
});

test.serial('a chunked upload is complete after its last chunk', async (t) => {
  using connection = await RawConnection.to(t.context.service.url);
  await connection.send(uploadHead(t, { 'Transfer-Encoding': 'Chunked' }));
  for (const byte of helloZip) await connection.send(`1\r\n${String.fromCharCode(byte)}\r\n`);
  t.is(connection.text, '', 'no response has been sent yet');
  await connection.send('0\r\n\r\n');
  t.is((await connection.answers(1)).status, 201);
});

test('a client that sends Expect: 100-continue gets 100 if everything before the body is valid', async (t) => {
  using connection = await RawConnection.to(t.context.service.url);
  await connection.send(uploadHead(t, { Expect: '100-continue', 'Content-Length': String(helloZip.length) }));
  t.is((await connection.answers(1)).status, 100);
  await connection.send(helloZip);
  t.is((await connection.answers(2)).status, 201);
});

test('a client that sends Expect: 100-continue with an entry or a form gets 100', async (t) => {
  const bodies = [
    ['application/atom+xml', Buffer.from(helloEntry)],
    [`multipart/form-data; boundary="${BOUNDARY}"`, helloForm],
  ] as const;
  for (const [type, body] of bodies) {
    using connection = await RawConnection.to(t.context.service.url);
    await connection.send(
      uploadHead(t, { Expect: '100-Continue', 'Content-Type': type, 'Content-Length': String(body.length) }),
    );
    t.is((await connection.answers(1)).status, 100);
    await connection.send(body);
    t.is((await connection.answers(2)).status, 201, type);
  }
});

test('a chunked body that turns out empty after 100 Continue completes its deposit, also when repeated', async (t) => {
  const { service, alice } = t.context;
  const { headers } = await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
  const { pathname } = new URL(headers.get('location') ?? '');
  const post = (more: Headers) =>
    head(t, `POST ${pathname}`, { Expect: '100-continue', 'Transfer-Encoding': 'chunked', ...more });
  const answered = async (request: string, body: string) => {
    using connection = await RawConnection.to(service.url);
    await connection.send(request);
    const first = await connection.answers(1);
    if (first.status !== 100) return first;
    await connection.send(body);
    return await connection.answers(2);
  };
  const refused = await answered(post({ 'Content-Type': 'text/plain' }), '0\r\n\r\n');
  assertError(t, refused, 415, 'ErrorContent');
  t.is((await answered(post(partial), '0\r\n\r\n')).status, 400, 'it is not marked as complete');
  const entry = `${Buffer.byteLength(helloEntry).toString(16)}\r\n${helloEntry}\r\n0\r\n\r\n`;
  t.is((await answered(post(partial), entry)).status, 201, 'the bytes that arrive are read');
  const entryType = { 'Content-Type': 'application/atom+xml' };
  t.is((await answered(post(entryType), '0\r\n\r\n')).status, 400, 'its entry was lost');
  for (const completion of [{ ...entryType, ...final }, {}])
    t.is((await answered(post(completion), '0\r\n\r\n')).status, 200);
});

test('a refusal replaces 100 Continue, and the connection is closed', async (t) => {
  const gigabyte = { Expect: '100-continue', 'Content-Length': String(1024 ** 3) };
  const refusals = [
    [uploadHead(t, { ...gigabyte, Authorization: 'Basic eDp5' }), 401, 'Unauthorized'],
    [uploadHead(t, gigabyte).replace('/1/software/', '/1/nowhere/'), 404, 'NotFound'],
    [uploadHead(t, { ...gigabyte, 'On-Behalf-Of': 'carol' }), 412, 'MediationNotAllowed'],
    [uploadHead(t, { ...gigabyte, 'In-Progress': 'maybe' }), 400, 'ErrorBadRequest'],
    [uploadHead(t, { ...gigabyte, 'Content-Type': 'text/plain' }), 415, 'ErrorContent'],
    [uploadHead(t, gigabyte), 413, 'MaxUploadSizeExceeded'],
    [uploadHead(t, { ...gigabyte, 'Content-Type': 'application/atom+xml' }), 413, 'MaxUploadSizeExceeded'],
    [
      uploadHead(t, { ...gigabyte, 'Content-Type': 'multipart/form-data; boundary=b' }),
      413,
      'MaxUploadSizeExceeded',
    ],
  ] as const;
  for (const [request, status, name] of refusals) {
    using connection = await RawConnection.to(t.context.service.url);
    await connection.send(request);
    assertError(t, await connection.answers(1), status, name);
    await connection.untilEnded();
    t.false(connection.text.includes('HTTP/1.1 100'), String(status));
  }
});

const FIVE_MB = 5 * 1024 ** 2;
const text = Buffer.alloc(65_536, 'no archive ');

/** Sends 5 MB, the first bytes alone, so that the refusal arrives long before the rest. */
async function sendFiveMegabytes(connection: RawConnection, request: string, chunked = false): Promise<void> {
  await connection.send(request);
  for (let sent = 0; sent < FIVE_MB; sent += text.length) {
    if (chunked) await connection.send(`${text.length.toString(16)}\r\n`);
    await connection.send(text);
    if (chunked) await connection.send('\r\n');
    if (sent === 0) await pause(50);
  }
  if (chunked) await connection.send('0\r\n\r\n');
}

test('a client that continues to send after a refusal reads it and can reuse the connection', async (t) => {
  const length = { 'Content-Length': String(FIVE_MB) };
  const form = { 'Content-Type': 'multipart/form-data; boundary=b' };
  const refusals: [Headers, number, string][] = [
    [{ ...length, Authorization: '' }, 401, 'Unauthorized'],
    [length, 413, 'MaxUploadSizeExceeded'],
    [{ 'Transfer-Encoding': 'chunked' }, 415, 'ErrorContent'],
    [{ 'Transfer-Encoding': 'chunked', ...form }, 400, 'ErrorBadRequest'],
    [
      { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/atom+xml' },
      413,
      'MaxUploadSizeExceeded',
    ],
  ];
  for (const [headers, status, name] of refusals) {
    using connection = await RawConnection.to(t.context.service.url);
    await sendFiveMegabytes(connection, uploadHead(t, headers), 'Transfer-Encoding' in headers);
    await connection.send(head(t, 'GET /1/servicedocument/'));
    assertError(t, await connection.answers(1), status, name);
    t.is((await connection.answers(2)).status, 200, `the next request after ${status}`);
  }
});

test('a client that sends Connection: close reads the refusal while it is still sending', async (t) => {
  const close = { 'Content-Length': String(FIVE_MB), Connection: 'close' };
  const requests = [
    [uploadHead(t, { ...close, Authorization: '' }), 401, 'Unauthorized'],
    [uploadHead(t, close).replace('HTTP/1.1', 'HTTP/1.0'), 413, 'MaxUploadSizeExceeded'],
    [uploadHead(t, close), 413, 'MaxUploadSizeExceeded'],
  ] as const;
  for (const [request, status, name] of requests) {
    using connection = await RawConnection.to(t.context.service.url);
    await sendFiveMegabytes(connection, request);
    assertError(t, await connection.answers(1), status, name);
    await connection.untilEnded();
    t.is(connection.error, undefined, 'the connection was never reset');
  }
});

test('HTTP/1.0 is served, and the connection is closed', async (t) => {
  using connection = await RawConnection.to(t.context.service.url);
  await connection.send(
    `GET /1/servicedocument/ HTTP/1.0\r\nAuthorization: ${t.context.alice.authorization}\r\n\r\n`,
  );
  t.is((await connection.answers(1)).status, 200);
  await connection.untilEnded();
});

test('chunks in HTTP/1.0 end the connection, although the client wants to keep it', async (t) => {
  using connection = await RawConnection.to(t.context.service.url);
  const chunked = { 'Transfer-Encoding': 'chunked', Connection: 'keep-alive' };
  const size = helloZip.length.toString(16);
  await connection.send(uploadHead(t, chunked).replace('HTTP/1.1', 'HTTP/1.0'));
  await connection.send(Buffer.concat([Buffer.from(`${size}\r\n`), helloZip, Buffer.from('\r\n0\r\n\r\n')]));
  const { status, head: answered } = await connection.answers(1);
  t.is(status, 201);
  t.regex(answered, /^connection: close$/im);
  await connection.untilEnded();
});

test('HTTP/1.0 gets no interim response to any Expect header', async (t) => {
  using connection = await RawConnection.to(t.context.service.url);
  const expecting = { 'Content-Length': String(helloZip.length), Expect: '100-continue' };
  await connection.send(uploadHead(t, expecting).replace('HTTP/1.1', 'HTTP/1.0'));
  await connection.send(helloZip);
  t.is((await connection.answers(1)).status, 201);
  await connection.untilEnded();
});

test.serial('pipelined requests on one connection are executed in order', async (t) => {
  const { alice } = t.context;
  using connection = await RawConnection.to(alice.url);
  const create = uploadHead(t, { 'Content-Length': String(helloZip.length) });
  await connection.send(Buffer.concat([Buffer.from(create), helloZip]));
  const { head: made } = await connection.answers(1);
  const path = new URL(/^location: (.*)$/im.exec(made)?.[1] ?? '').pathname;
  const add = head(t, `POST ${path.replace('metadata/', 'media/')}`, {
    'Content-Type': 'application/zip',
    'Content-Disposition': 'attachment; filename=b.zip',
    'Content-Length': String(helloZip.length),
  });
  const complete = head(t, `POST ${path}`, { 'Content-Length': '0', 'In-Progress': 'false' });
  await connection.send(Buffer.concat([Buffer.from(add), helloZip, Buffer.from(complete)]));
  t.is((await connection.answers(2)).status, 201, 'the archive, even with the completion pipelined');
  t.is((await connection.answers(3)).status, 200);
  const statement = await (await alice.get(path.replace('metadata/', 'statement/'))).text();
  t.is([...statement.matchAll(/<sword:packaging>/g)].length, 2);
});

test.serial(
  'only one pipelined request is executed at a time, and the number of waiting ones is limited',
  async (t) => {
    const { alice } = t.context;
    using connection = await RawConnection.to(alice.url);
    const gets = (count: number) => head(t, 'GET /1/servicedocument/').repeat(count);
    await connection.send(gets(100));
    t.is((await connection.answers(100)).status, 200);
    await connection.send(gets(500));
    await connection.untilEnded();
    t.true(connection.text.split('HTTP/1.1 200 OK').length < 300);
  },
);

test('a percent-encoded unreserved character equals the character', async (t) => {
  const { alice } = t.context;
  const plain = await alice.get('/1/servicedocument/');
  const encoded = await alice.get('/%31/%73ervice%64ocument/');
  t.is(encoded.status, 200);
  t.is(await encoded.text(), await plain.text());
  t.is((await alice.get('/1/software%2F')).status, 404, 'a reserved character is not equal');
  t.is((await alice.get('/1/%2573ervicedocument/')).status, 404, 'nothing is decoded twice');
  t.is((await alice.get('/%6Fpenapi.json')).status, 200);
});

test('two Authorization headers are refused before either is verified', async (t) => {
  using connection = await RawConnection.to(t.context.service.url);
  const twice = `${t.context.alice.authorization}\r\nAuthorization: Basic bm86bm8=`;
  await connection.send(head(t, 'GET /1/servicedocument/', { Authorization: twice }));
  assertError(t, await connection.answers(1), 400, 'ErrorBadRequest');
  await connection.send(head(t, 'GET /1/servicedocument/', { Authorization: 'Basic bm86bm8=' }));
  t.is((await connection.answers(2)).status, 401);
});

test('OPTIONS * lists the methods of the service without authentication', async (t) => {
  using connection = await RawConnection.to(t.context.service.url);
  await connection.send('OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n');
  const answer = await connection.answers(1);
  t.is(answer.status, 204);
  t.regex(answer.head, /^allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS$/im);
});

test('a content coding is refused with a list of accepted ones', async (t) => {
  const refused = await t.context.alice.post('/1/software/', helloZip, {
    ...archiveHeaders(),
    'Content-Encoding': 'gzip',
  });
  t.is(refused.status, 415);
  t.is(refused.headers.get('accept-encoding'), 'identity');
});

test('the content coding identity is accepted in any case', async (t) => {
  for (const [body, headers] of [
    [helloZip, archiveHeaders()],
    [helloEntry, entryHeaders()],
    [helloForm, formType],
  ] as const) {
    const accepted = await t.context.alice.post('/1/software/', body, {
      ...headers,
      'Content-Encoding': 'Identity',
    });
    t.is(accepted.status, 201, await accepted.text());
  }
});
