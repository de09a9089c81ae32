import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import Koa from 'koa';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import type { RequestState } from '../../src/http/service-context.ts';
import { answerEvents } from '../../src/modules/status-events/answer-events.ts';
import { OpenStream } from '../../src/modules/status-events/event-streams.ts';
import { sealedPositions } from '../../src/modules/status-events/sealed-positions.ts';
import {
  DepositStatusChanges,
  type StatusChangeSource,
} from '../../src/modules/status-events/status-change-sources.ts';
import { Iris } from '../../src/sword/iris.ts';
import { assertErrorDocument } from '../../testing/documents/sword-error.ts';
import {
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  helloEntry,
  helloForm,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { EventSource, type SentEvent } from '../../testing/http/event-source.ts';
import { RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { testOfService } from '../../testing/service/test-of-service.ts';

const test = testOfService({
  alice: { collections: ['software', 'alices', 'alice', 'early'] },
  bob: { collections: ['software', 'bob'] },
});

/** Numbers of events that were read from the log, by their stream. */
const eventsRead = new Map<string, number>();
const readStream = Reflect.get(SqliteEventLog.prototype, 'readStream');
SqliteEventLog.prototype.readStream = async function* (stream, options) {
  for await (const event of readStream.call(this, stream, options)) {
    eventsRead.set(stream, (eventsRead.get(stream) ?? 0) + 1);
    yield event;
  }
};

type Facts = Record<string, unknown>;

const WAY = ['partial', 'deposited', 'verified', 'loading', 'done'];

async function deposit(
  client: TestClient,
  collection = 'software',
  body: Buffer = helloForm,
  progress: Record<string, string> = final,
): Promise<number> {
  const answer = await client.post(`/1/${collection}/`, body, { ...formType, ...progress });
  return Number(/<deposit_id>(\d+)</.exec(await answer.text())?.[1]);
}

async function firstOf(client: TestClient, path: string): Promise<SentEvent> {
  await using events = await EventSource.open(client, path);
  return await events.next();
}

async function assertRefused(t: ExecutionContext, answer: Response, status: number, name: string) {
  t.is(answer.status, status);
  assertErrorDocument(t, await answer.text(), name);
}

test('a deposit stream sends the current status, then each change, until the deposit is done', async (t) => {
  const { alice } = t.context;
  const id = await deposit(alice, 'software', helloForm, partial);
  await using events = await EventSource.open(alice, `/1/software/${id}/events/`);
  t.is(events.answer.status, 200);
  t.regex(events.answer.headers.get('content-type') ?? '', /^text\/event-stream/);
  t.is(events.answer.headers.get('cache-control'), 'no-store');
  const first = await events.next();
  t.like(first, { event: 'status', status: 'partial', deposit: id });
  t.is((await alice.post(`/1/software/${id}/metadata/`, null, final)).status, 200);
  t.deepEqual(await events.statuses(4), WAY.slice(1));
  t.deepEqual(
    (await events.rest()).map(({ retry }) => retry),
    ['60000'],
    'then the stream ends',
  );
});

test('a stream event has the facts of the State-IRI', async (t) => {
  const { alice } = t.context;
  const id = await deposit(alice, 'software', helloForm, { ...final, Slug: 'hello' });
  await alice.waitFor(`/1/software/${id}/status/`, 'done');
  await using events = await EventSource.open(alice, `/1/software/${id}/events/`);
  const { data } = await events.next();
  const status = await alice.get(`/1/software/${id}/status/`, { Accept: 'application/json' });
  const { id: _urn, author: _client, updated: _time, ...facts } = (await status.json()) as Facts;
  t.like(data?.data, { ...facts, client: 'alice', collection: 'software', title: 'Hello' });
  t.is(facts['deposit_external_id'], 'hello');
  t.is(facts['deposit_origin_url'], `${t.context.service.url}/1/software/${id}/`);
  t.regex(String(facts['deposit_ref_id']), /^swh:1:dir:/);
  const links = data?.data['links'] ?? {};
  t.is(Object.keys(links).length, 7);
  for (const link of Object.values(links as Record<string, string>).filter(
    (iri) => !iri.endsWith('/events/'),
  ))
    t.true((await alice.get(link)).ok, link);
});

test('Last-Event-ID resumes after any event, without loss or repetition', async (t) => {
  const { alice } = t.context;
  const id = await deposit(alice, 'software', helloForm, partial);
  const path = `/1/software/${id}/events/`;
  await using events = await EventSource.open(alice, path);
  const received = [await events.next()];
  await alice.post(`/1/software/${id}/metadata/`, null, final);
  received.push(...(await events.rest()).filter(({ data }) => data));
  t.is(received.length, 5);
  for (const [index, { id: token = '' }] of received.slice(0, -1).entries()) {
    await using resumed = await EventSource.open(alice, path, { 'Last-Event-ID': token });
    const rest = (await resumed.rest()).filter(({ data }) => data);
    t.deepEqual(rest, received.slice(index + 1), token);
  }
  const last = received.at(-1)?.id ?? '';
  t.is((await alice.get(path, { 'Last-Event-ID': last })).status, 204, 'no more events will follow');
  const swhid = /<deposit_swh_id>([^<]+)</.exec(
    await (await alice.get(`/1/software/${id}/status/`)).text(),
  )?.[1];
  const headers = { ...entryHeaders(), 'X-Check-SWHID': swhid ?? '' };
  t.is((await alice.put(`/1/software/${id}/metadata/`, helloEntry, headers)).status, 204);
  t.is((await alice.get(path, { 'Last-Event-ID': last })).status, 204, 'other metadata cause no event');
});

test('the stream of a rejected deposit closes with a one-minute retry, and reports its next check when resumed', async (t) => {
  const { alice, service } = t.context;
  const bare = formOf([archivePart(), entryPart(entryXml('<title>No author</title>'))]);
  const id = await deposit(alice, 'software', bare);
  await alice.waitFor(`/1/software/${id}/status/`, 'rejected');
  const path = `/1/software/${id}/events/`;
  await using events = await EventSource.open(alice, path);
  const rejected = await events.next();
  t.is(rejected.status, 'rejected');
  t.deepEqual(
    (await events.rest()).map(({ retry }) => retry),
    ['60000'],
  );
  const resume = { 'Last-Event-ID': rejected.id ?? '' };
  await using quiet = await EventSource.open(alice, path, resume);
  t.deepEqual(
    (await quiet.rest()).map(({ retry }) => retry),
    ['3000', '60000'],
  );
  await service.administration.deposit(id, { type: 'RetryChecks', depositId: id });
  await using again = await EventSource.open(alice, path, resume);
  t.deepEqual(await again.statuses(2), ['deposited', 'rejected']);
});

test('a deletion is reported on the stream, and then the deposit is not found', async (t) => {
  const { alice } = t.context;
  const created = await alice.post('/1/software/', helloEntry, { ...entryHeaders(), ...partial });
  const id = Number(/<deposit_id>(\d+)</.exec(await created.text())?.[1]);
  await using events = await EventSource.open(alice, `/1/software/${id}/events/`);
  await events.next();
  t.is((await alice.delete(`/1/software/${id}/metadata/`)).status, 204);
  const last = await events.next();
  t.like(last, { event: 'deleted', status: undefined, deposit: id });
  t.is(last.data?.type, 'deposit.deleted');
  await events.rest();
  await assertRefused(t, await alice.get(`/1/software/${id}/events/`), 404, 'NotFound');
});

test('a client that resumes after a deletion gets the event, and then a response that ends its retries', async (t) => {
  const { alice, bob } = t.context;
  const id = await deposit(alice, 'software', helloForm, partial);
  const path = `/1/software/${id}/events/`;
  const { id: token = '' } = await firstOf(alice, path);
  await alice.delete(`/1/software/${id}/metadata/`);
  const resume = { 'Last-Event-ID': token };
  await using resumed = await EventSource.open(alice, path, resume);
  const last = await resumed.next();
  t.like(last, { event: 'deleted', deposit: id });
  t.deepEqual(
    (await resumed.rest()).map(({ retry }) => retry),
    ['60000'],
  );
  t.is((await alice.get(path, { 'Last-Event-ID': last.id ?? '' })).status, 204);
  await assertRefused(t, await alice.get(path, { 'Last-Event-ID': '99' }), 400, 'ErrorBadRequest');
  await assertRefused(t, await alice.get(path), 404, 'NotFound');
  await assertRefused(t, await bob.get(path, resume), 404, 'NotFound');
  await assertRefused(t, await alice.get(`/1/alice/${id}/events/`, resume), 404, 'NotFound');
  await assertRefused(t, await alice.get('/1/software/999999/events/', resume), 404, 'NotFound');
});

test.serial(
  'a resumed stream reads no more of a deposit of another client than of one that does not exist',
  async (t) => {
    const { alice, bob } = t.context;
    const id = await deposit(alice, 'software');
    await alice.waitFor(`/1/software/${id}/status/`, 'done');
    eventsRead.clear();
    const resumed = await bob.get(`/1/software/${id}/events/`, { 'Last-Event-ID': '0' });
    await assertRefused(t, resumed, 404, 'NotFound');
    const read = eventsRead.get(`deposit-${id}`) ?? 0;
    t.true(read <= 1, `${read} events`);
  },
);

test('a collection stream reports exactly the deposits of the client', async (t) => {
  const { alice, bob } = t.context;
  await using events = await EventSource.open(alice, '/1/alice/events/');
  await using others = await EventSource.open(bob, '/1/software/events/');
  const [one, two] = [await deposit(alice, 'alice'), await deposit(alice, 'alice')];
  await deposit(alice, 'software');
  const bobs = await deposit(bob, 'software');
  const received = [];
  while (received.length < 10) received.push(await events.next());
  for (const id of [one, two]) {
    t.deepEqual(
      received.filter(({ deposit }) => deposit === id).map(({ status }) => status),
      WAY,
    );
  }
  const owners = new Set<unknown>();
  for (let last = ''; last !== `${bobs} done`; ) {
    const { data, deposit, status } = await others.next();
    owners.add(data?.data['client']);
    last = `${deposit} ${status}`;
  }
  t.deepEqual(owners, new Set(['bob']));
});

test('a collection stream resumes where it ended, after any events', async (t) => {
  const { alice, bob } = t.context;
  await using events = await EventSource.open(alice, '/1/alices/events/');
  const id = await deposit(alice, 'alices');
  const first = await events.next();
  await events[Symbol.asyncDispose]();
  await alice.waitFor(`/1/alices/${id}/status/`, 'done');
  await deposit(bob, 'software');
  const gone = await alice.post('/1/alices/', helloEntry, { ...entryHeaders(), ...partial });
  const goneId = Number(/<deposit_id>(\d+)</.exec(await gone.text())?.[1]);
  await alice.delete(`/1/alices/${goneId}/metadata/`);
  await using resumed = await EventSource.open(alice, '/1/alices/events/', {
    'Last-Event-ID': first.id ?? '',
  });
  const received = [];
  while (received.length < 6) received.push(await resumed.next());
  t.deepEqual(
    received.map(({ deposit, status, event }) => [deposit, status ?? event]),
    [...WAY.slice(1).map((status) => [id, status]), [goneId, 'partial'], [goneId, 'deleted']],
  );
});

test('a collection stream that breaks off before its first event resumes without loss', async (t) => {
  const { alice } = t.context;
  const cut = new AbortController();
  const answer = await alice.send('GET', '/1/early/events/', { signal: cut.signal });
  const { value } = await (answer.body as ReadableStream<Uint8Array>).getReader().read();
  cut.abort();
  const [, token = ''] = /^id: (.+)$/m.exec(Buffer.from(value ?? []).toString()) ?? [];
  const id = await deposit(alice, 'early');
  await alice.waitFor(`/1/early/${id}/status/`, 'done');
  await using resumed = await EventSource.open(alice, '/1/early/events/', { 'Last-Event-ID': token });
  t.deepEqual(await resumed.statuses(WAY.length), WAY);
});

test('the event id of a collection hides the log position, and is valid only for its client and collection', async (t) => {
  const { alice, bob, service } = t.context;
  await using events = await EventSource.open(alice, '/1/software/events/');
  const id = await deposit(alice);
  const [first, second] = [await events.next(), await events.next()];
  const positions: string[] = [];
  for await (const { position } of service.service.log.readStream(`deposit-${id}`)) positions.push(position);
  t.true(positions.length > 3);
  const tokens = [first.id ?? '', second.id ?? ''];
  for (const token of tokens) {
    t.regex(token, /^[A-Za-z0-9_-]{40,}$/);
    const bytes = Buffer.from(token, 'base64url').toString('latin1');
    for (const position of positions) t.false(token.includes(position) || bytes.includes(position), token);
  }
  await using again = await EventSource.open(alice, '/1/software/events/', {
    'Last-Event-ID': tokens[0] ?? '',
  });
  t.deepEqual((await again.next()).status, second.status);
  const altered = tokens.map((token) => `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`);
  const refused = [
    ...positions.map((position) => [alice, 'software', position] as const), // as older releases sent them
    ...altered.map((token) => [alice, 'software', token] as const),
    ...tokens.flatMap((token) => [[alice, 'alices', token] as const, [bob, 'software', token] as const]),
  ];
  for (const [client, collection, token] of refused) {
    const answer = await client.get(`/1/${collection}/events/`, { 'Last-Event-ID': token });
    await assertRefused(t, answer, 400, 'ErrorBadRequest');
  }
});

test('streams require access to the deposit, and are read-only', async (t) => {
  const { alice, bob } = t.context;
  const id = await deposit(alice);
  await assertRefused(t, await bob.get(`/1/software/${id}/events/`), 404, 'NotFound');
  await assertRefused(t, await alice.get(`/1/alice/${id}/events/`), 404, 'NotFound');
  await assertRefused(t, await alice.get('/1/software/0/events/'), 404, 'NotFound');
  await assertRefused(t, await alice.get('/1/bob/events/'), 404, 'NotFound');
  await assertRefused(t, await fetch(`${alice.url}/1/software/${id}/events/`), 401, 'Unauthorized');
  const posted = await alice.post(`/1/software/${id}/events/`, 'x');
  t.is(posted.headers.get('allow'), 'GET, HEAD, OPTIONS');
  await assertRefused(t, posted, 405, 'MethodNotAllowed');
  const head = await alice.send('HEAD', '/1/software/events/');
  t.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream;charset=utf-8']);
});

test('HEAD is answered as GET is, also with an invalid Last-Event-ID', async (t) => {
  const { alice } = t.context;
  const id = await deposit(alice, 'software', helloForm, partial);
  for (const path of [`/1/software/${id}/events/`, '/1/software/events/']) {
    t.is((await alice.send('HEAD', path)).status, 200, path);
    const refused = await alice.send('HEAD', path, { headers: { 'Last-Event-ID': 'x' } });
    t.is(refused.status, 400, path);
  }
});

test('an invalid Last-Event-ID is refused, not ignored', async (t) => {
  const { alice } = t.context;
  const id = await deposit(alice);
  const bad = ['x', '-1', '1000', '1.5', '9'.repeat(30)];
  for (const token of bad) {
    const answer = await alice.get(`/1/software/${id}/events/`, { 'Last-Event-ID': token });
    await assertRefused(t, answer, 400, 'ErrorBadRequest');
  }
  for (const token of [...bad, 'f'.repeat(16), `${'f'.repeat(16)}-${'f'.repeat(16)}`]) {
    const answer = await alice.get('/1/software/events/', { 'Last-Event-ID': token });
    await assertRefused(t, answer, 400, 'ErrorBadRequest');
  }
});

test('a collection stream resumes for seven days, and at no position of another engine', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  const { log, store } = service.service;
  const { seal } = sealedPositions((await store.id()) ?? '');
  const position = String(await log.head());
  const occurredAt = new Date(Date.now() - 8 * 86_400_000).toISOString();
  await log.append('other-1', 'none', [
    { id: randomUUID(), type: 'Old', data: {}, metadata: { occurredAt } },
  ]);
  for (const [from, reason] of [
    [position, /is more than 7 days old/],
    [`${position}-${position}`, /is not the id of an event here/],
  ] as const) {
    const token = seal(from, { client: 'alice', collection: 'software' });
    const answer = await alice.get('/1/software/events/', { 'Last-Event-ID': token });
    t.regex(await answer.text(), reason);
  }
});

test('the number of open streams per client is limited', async (t) => {
  const carol = await t.context.service.register('carol', { collections: ['software'] });
  const open = [];
  for (let count = 0; count < 20; count += 1) open.push(await EventSource.open(carol, '/1/software/events/'));
  const refused = await carol.get('/1/software/events/');
  t.true(Number(refused.headers.get('retry-after')) > 0);
  await assertRefused(t, refused, 429, 'TooManyRequests');
  await open[7]?.[Symbol.asyncDispose]();
  await until(async () => {
    const again = await EventSource.open(carol, '/1/software/events/');
    open.push(again);
    return again.answer.status === 200;
  });
  for (const stream of open) await stream[Symbol.asyncDispose]();
});

test('a stream ends at once when its client half-closes the connection, and releases its permit', async (t) => {
  const { service, alice } = t.context;
  const id = await deposit(alice, 'software', helloForm, partial);
  using connection = await RawConnection.to(service.url);
  const asked = requestHead(`GET /1/software/${id}/events/`, alice);
  await connection.send(asked);
  while (!connection.text.includes('event: status')) await pause(5);
  connection.halfClose();
  await connection.untilEnded();
  t.true(connection.text.endsWith('0\r\n\r\n'), 'complete, and not abandoned after a long silence');
  using other = await RawConnection.to(service.url);
  await other.send(asked);
  other.halfClose();
  await other.untilEnded();
  t.regex(other.text, /event: status[^]*0\r\n\r\n$/, 'with its present status');
});

test('the streams of a client end when it is disabled, before they send anything else', async (t) => {
  const { service } = t.context;
  const dora = await service.register('dora', { collections: ['software'] });
  const id = await deposit(dora, 'software', helloForm, partial);
  await using events = await EventSource.open(dora, `/1/software/${id}/events/`);
  await events.next();
  await service.administration.client({ type: 'DisableClient', client: 'dora' });
  await service.administration.deposit(id, { type: 'DeleteDeposit', depositId: id, reason: 'Test.' });
  t.deepEqual(await events.rest(), []);
});

test('the streams of a client end at once when it loses access, also when nothing happens', async (t) => {
  const { service } = t.context;
  const emil = await service.register('emil', { collections: ['software'] });
  const id = await deposit(emil, 'software', helloForm, partial);
  const losses = [
    { type: 'CollectionRevoked', command: { type: 'RevokeCollection', collection: 'software' } },
    { type: 'ClientDisabled', command: { type: 'DisableClient' } },
  ] as const;
  for (const { type, command } of losses) {
    await using one = await EventSource.open(emil, `/1/software/${id}/events/`);
    await using all = await EventSource.open(emil, '/1/software/events/');
    await one.next();
    await service.administration.client({ ...command, client: 'emil' });
    const ended = Promise.all([one.rest(), all.rest()]);
    t.is(await Promise.race([ended.then(() => 'ended'), pause(5000, 'open')]), 'ended', type);
    await service.administration.client({ type: 'GrantCollection', client: 'emil', collection: 'software' });
  }
});

test('a stream with pending events ends where the client loses access', async (t) => {
  const { alice, service } = t.context;
  const id = await deposit(alice);
  await alice.waitFor(`/1/software/${id}/status/`, 'done');
  const language = { iris: new Iris(service.url), refIdAliases: true };
  const backlog = new DepositStatusChanges(service.service.log, id, -1);
  let read = 0;
  const source: StatusChangeSource = {
    token: undefined,
    isOver: false,
    async *more() {
      for await (const news of backlog.more()) {
        read += 1;
        yield news;
      }
    },
  };
  const app = new Koa<RequestState>();
  const options = { ...language, isAllowed: () => read <= 2 };
  app.use((ctx) => answerEvents(ctx, source, new OpenStream({ depositId: id }), options));
  const server = app.listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  await using events = await EventSource.open(alice.at(`http://127.0.0.1:${port}`), '/');
  const received = (await events.rest()).filter(({ data }) => data);
  t.deepEqual(
    received.map(({ status }) => status),
    WAY.slice(0, 2),
  );
});

test('a service that shuts down closes its streams, and clients resume with the next one', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await using all = await EventSource.open(alice, '/1/software/events/');
  const id = await deposit(alice, 'software', helloForm, partial);
  const { id: token = '' } = await all.next();
  await using one = await EventSource.open(alice, `/1/software/${id}/events/`);
  await one.next();
  const ended = Promise.all([all.rest(), one.rest()]);
  await service.stop();
  t.deepEqual(await ended, [[], []], 'ended, not reset');
  await service.startAgain();
  const again = alice.at(service.url);
  await again.post(`/1/software/${id}/metadata/`, null, final);
  await using resumed = await EventSource.open(again, '/1/software/events/', { 'Last-Event-ID': token });
  t.deepEqual(await resumed.statuses(4), WAY.slice(1));
});
