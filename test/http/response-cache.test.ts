import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import anyTest, { type TestFn } from 'ava';
import { Credentials } from '../../src/http/middleware/credentials.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { archiveHeaders, helloZip } from '../../testing/http/deposit-bodies.ts';
import { type RawAnswer, RawConnection } from '../../testing/http/raw-connection.ts';
import {
  depositor,
  exchange,
  type Headers,
  head,
  lasting,
  passedBy,
} from '../../testing/http/repeated-requests.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { Exposition } from '../../testing/service/exposition.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { quickCredentialOf } from '../../testing/service/secret-password.ts';

/** A line of the service's log about a request. */
type Line = Readonly<Record<string, unknown>>;
const lines: Line[] = [];
silentLogger.info = (fields, message) => {
  if (message === 'request') lines.push(fields as Line);
};

type Context = { service: RunningService };
const test = anyTest.serial as TestFn<Context>;

test.before(async (t) => {
  t.context = { service: await RunningService.start() };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

const kinds: Record<string, readonly (string | undefined)[]> = {
  status: [undefined, 'application/json', 'application/atom+xml;type=entry', 'text/html, */*;q=0.1'],
  content: [undefined, 'application/json'],
  statement: [undefined, 'application/rdf+xml', 'application/json'],
};

test('a cached response equals the first one byte for byte, and is counted, logged and numbered', async (t) => {
  const { service } = t.context;
  const { client, path } = await depositor(t.context.service);
  for (const [kind, types] of Object.entries(kinds)) {
    for (const type of types) {
      const about = `${kind} as ${type}`;
      const request = head(`${path}/${kind}/`, {
        Authorization: client.authorization,
        ...(type !== undefined && { Accept: type }),
      });
      const route = { method: 'GET', route: `/1/:collection/:deposit/${kind}` };
      const before = await Exposition.of(service.folder);
      const [first, wasKnown] = await exchange(service.url, request);
      const [second, isKnown] = await exchange(service.url, request);
      t.deepEqual([wasKnown, isKnown], [false, true], about);
      t.is(lasting(first), lasting(second), about);
      const ids = [first, second].map((each) => /^X-Request-Id: (\S+)\r$/m.exec(each.head)?.[1] ?? '');
      t.is(new Set(ids).size, 2, about);
      await until(async () => ids.every((id) => lineOf(id) !== undefined));
      const [one, other] = ids.map((id) => ({ ...lineOf(id), requestId: '', ms: 0 }));
      t.deepEqual(one, other, about);
      t.like(one, { client: client.name, path: `${path}/${kind}/`, whole: true }, about);
      const after = await Exposition.of(service.folder);
      for (const name of ['http_requests_total', 'http_request_duration_seconds_count'])
        t.is(after.sum(`deposit_${name}`, route) - before.sum(`deposit_${name}`, route), 2, about);
      t.is(after.value('deposit_http_requests_in_flight'), 0, about);
    }
  }
});

function lineOf(requestId: string): Line | undefined {
  return lines.find((line) => line['requestId'] === requestId);
}

test('a cached response is used only for the same valid login with unchanged grants', async (t) => {
  const { service } = t.context;
  const { url, administration } = service;
  const { client, path } = await depositor(t.context.service);
  const { client: other } = await depositor(t.context.service);
  const statusOf = async (headers: Headers): Promise<readonly [number, ...boolean[]]> => {
    const [{ status }, ...known] = await exchange(url, head(`${path}/status/`, headers));
    return [status, ...known];
  };
  const own = { Authorization: client.authorization };
  t.deepEqual(await statusOf(own), [201, false]);
  t.deepEqual(await statusOf(own), [201, true]);
  const strangers: Record<string, readonly [Headers, number]> = {
    'another client': [{ Authorization: other.authorization }, 404],
    'another password': [{ Authorization: new TestClient(url, client.name, 'guess').authorization }, 401],
    'another case': [{ Authorization: client.authorization.toLowerCase() }, 401],
    nobody: [{}, 401],
  };
  for (const [who, [headers, status]] of Object.entries(strangers)) {
    t.deepEqual(await statusOf(headers), [status, false], who);
    t.deepEqual(await statusOf(own), [201, true], who);
  }

  const becomes = (status: number, headers: Headers): Promise<void> =>
    until(async () => (await statusOf(headers))[0] === status);
  await administration.client({ type: 'RevokeCollection', client: client.name, collection: 'software' });
  await becomes(404, own);
  await administration.grant(client.name, 'software');
  await becomes(201, own);
  const credential = await quickCredentialOf('another');
  await administration.client({ type: 'ChangeCredential', client: client.name, credential });
  const changed = { Authorization: new TestClient(url, client.name, 'another').authorization };
  await becomes(201, changed);
  t.deepEqual(await statusOf(own), [401, false], 'the old password');
  t.deepEqual(await statusOf(changed), [201, true]);
  await administration.client({ type: 'DisableClient', client: client.name });
  await becomes(401, changed);
  t.deepEqual(await statusOf(changed), [401, false]);
});

test('a cached response is used only while the deposit is unchanged', async (t) => {
  const { url } = t.context.service;
  const { client, path } = await depositor(t.context.service);
  for (const kind of Object.keys(kinds)) {
    const request = head(`${path}/${kind}/`, { Authorization: client.authorization });
    const [before] = await exchange(url, request);
    t.true((await exchange(url, request))[1], kind);
    await client.post(`${path}/media/`, helloZip, archiveHeaders());
    const [after, isKnown] = await exchange(url, request);
    t.false(isKnown, kind);
    t.not(lasting(after), lasting(before), kind);
    t.is(lasting((await exchange(url, request))[0]), lasting(after), kind);
  }
  t.is((await client.delete(`${path}/metadata/`)).status, 204);
  for (const kind of Object.keys(kinds)) {
    const [gone, isKnown] = await exchange(
      url,
      head(`${path}/${kind}/`, { Authorization: client.authorization }),
    );
    t.deepEqual([gone.status, isKnown], [404, false], kind);
  }
});

test('requests for more than the document are passed to Koa, even if it is cached', async (t) => {
  const { url } = t.context.service;
  const { client, path } = await depositor(t.context.service);
  const own = { Authorization: client.authorization };
  const target = `${path}/status/`;
  const [first] = await exchange(url, head(target, own));
  const [, tag = ''] = /^ETag: (.+)\r$/m.exec(first.head) ?? [];
  const others: Record<string, readonly [string, number]> = {
    'the same tag': [head(target, { ...own, 'If-None-Match': tag }), 304],
    'another tag': [head(target, { ...own, 'If-None-Match': '"x"' }), 201],
    'an unknown header': [head(target, { ...own, 'X-Anything': '1' }), 201],
    'a body': [`${head(target, { ...own, 'Content-Length': '2' })}ab`, 201],
    'another method': [head(target, own, { method: 'DELETE' }), 405],
    HEAD: [head(target, own, { method: 'HEAD' }).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'), 201],
    'a whole address': [head(`http://x${target}`, own), 201],
    'no Host': [head(target, own).replace('Host: x\r\n', ''), 400],
    'an invalid Host': [head(target, own).replace('Host: x\r\n', 'Host: a b\r\n'), 400],
    'two Hosts': [head(target, own).replace('Host: x\r\n', 'Host: x\r\nHost: x\r\n'), 400],
  };
  for (const [what, [request, status]] of Object.entries(others)) {
    const [answered, isKnown] = what === 'HEAD' ? await headOf(url, request) : await exchange(url, request);
    t.deepEqual([answered.status, isKnown], [status, false], what);
    if (status === 201) t.is(tagOf(answered), tag, what);
    if (what === 'HEAD') t.is(answered.body, '');
  }
  t.true((await exchange(url, head(target, own)))[1]);
});

function tagOf({ head }: RawAnswer): string | undefined {
  return /^ETag: (.+?)\r?$/m.exec(head)?.[1];
}

/** Sends a request whose Content-Length is that of a body that does not come. */
async function headOf(url: string, request: string): Promise<[RawAnswer, ...boolean[]]> {
  using connection = await RawConnection.to(url);
  passedBy.length = 0;
  await connection.send(request);
  await connection.untilEnded();
  const [head = '', body = ''] = connection.text.split('\r\n\r\n');
  return [{ status: Number(head.slice(9, 12)), head, body }, ...passedBy];
}

test('cached responses keep, close and pipeline connections like others', async (t) => {
  const { url } = t.context.service;
  const { client, path } = await depositor(t.context.service);
  const own = { Authorization: client.authorization };
  const [status, content] = ['status', 'content'].map((kind) => `${path}/${kind}/`) as [string, string];
  const [first] = await exchange(url, head(status, own));
  const [other] = await exchange(url, head(content, own));
  const document = head('/1/servicedocument/', own);
  const pipeline = [head(status, own), document, head(content, own), document, head(status, own)].join('');
  using connection = await RawConnection.to(url);
  passedBy.length = 0;
  await connection.send(pipeline);
  const answers = await Promise.all([1, 2, 3, 4, 5].map((count) => connection.answers(count)));
  t.deepEqual(passedBy, [true, false, true, false, true]);
  t.deepEqual(
    answers.map((each) => each.status),
    [201, 200, 200, 200, 201],
  );
  for (const [index, expected] of [
    [0, first],
    [2, other],
    [4, first],
  ] as const)
    t.is(lasting(answers[index] as RawAnswer), lasting(expected));
  await connection.send(head(status, own));
  t.is(lasting(await connection.answers(6)), lasting(first), 'on the same connection');

  const closing: readonly string[] = [
    head(status, { ...own, Connection: 'close' }),
    head(status, own, { version: '1.0' }),
  ];
  for (const request of closing) {
    using once = await RawConnection.to(url);
    passedBy.length = 0;
    await once.send(request);
    const closed = await once.answers(1);
    t.deepEqual(passedBy, [true]);
    t.is(closed.body, first.body);
    t.regex(closed.head, /^Connection: close\r?$/m);
    await once.untilEnded();
    t.true(once.ended);
  }
});

test('an unreadable view is answered with 500, and the service continues', async (t) => {
  const { url } = t.context.service;
  const { client, path } = await depositor(t.context.service);
  const request = head(`${path}/status/`, { Authorization: client.authorization });
  const [first] = await exchange(url, request);
  t.true((await exchange(url, request))[1]);
  const currentLogin = Object.getOwnPropertyDescriptor(Credentials.prototype, 'currentLogin') ?? {};
  Credentials.prototype.currentLogin = () => {
    throw new Error('disk I/O error');
  };
  const [broken, isKnown] = await exchange(url, request).finally(() => {
    Object.defineProperty(Credentials.prototype, 'currentLogin', currentLogin);
  });
  t.deepEqual([broken.status, isKnown], [500, false]);
  const [again, isKnownAgain] = await exchange(url, request);
  t.deepEqual([lasting(again), isKnownAgain], [lasting(first), true]);
});

test('with tracing a cached response has the same spans as the first one', async (t) => {
  const exporter = new InMemorySpanExporter();
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  await using service = await RunningService.start({ tracing: true });
  const { client, path } = await depositor(service);
  const [traceId, caller] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
  const traced = { Authorization: client.authorization, traceparent: `00-${traceId}-${caller}-01` };
  const known = [];
  for (let turn = 0; turn < 2; turn += 1)
    known.push((await exchange(service.url, head(`${path}/status/`, traced)))[1]);
  t.deepEqual(known, [false, true]);
  const spans = () => exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId);
  await until(async () => spans().length === 2);
  const [first, second] = spans().map(({ name, kind, status, parentSpanContext, attributes }) => {
    const { 'deposit.request': requestId, ...others } = attributes;
    t.truthy(requestId);
    return { name, kind, status, parent: parentSpanContext?.spanId, ...others };
  });
  t.deepEqual(first, second);
  t.like(first, { name: 'GET /1/:collection/:deposit/status', parent: caller });
});
