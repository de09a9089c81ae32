import { randomUUID } from 'node:crypto';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { handleCommand } from '../../src/deposits/command-handler.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import type { DepositCommand } from '../../src/domain/deposit/commands.ts';
import { appendAfter } from '../../src/event-log/append-after.ts';
import type { RecordedEvent } from '../../src/event-log/event-log.ts';
import { ATOM, child, type Parsed, parsedBody, texts } from '../../testing/documents/parsed-body.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import { readAtomStatement, readOreStatement } from '../../testing/documents/sword-statement.ts';
import {
  archiveHeaders,
  archivePart,
  entryPart,
  entryXml,
  final,
  formOf,
  helloTar,
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { makeDeposit } from '../../testing/http/made-deposits.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';

type Context = {
  service: RunningService;
  alice: TestClient;
  bob: TestClient;
  /** Paths, `/1/software/<id>/`: one that was rejected first, and one that waits for more. */
  done: string;
  open: string;
};
const test = anyTest as TestFn<Context>;

const FEED = 'application/atom+xml;type=feed';
const RDF = 'application/rdf+xml';
const STATE = 'https://www.softwareheritage.org/schema/2018/deposit/state/';
const SIMPLE_ZIP = 'http://purl.org/net/sword/package/SimpleZip';

const entry = entryXml(
  '<title>Hello</title><author><name>Ada</name></author><codemeta:url>https://ada.example/</codemeta:url>',
);

const form = formOf([archivePart(), entryPart(entry)]);

const DETAIL =
  'The deposit has been loaded.\nWarnings:\n- Suggested fields are missing (metadata-provenance)';

test.before(async (t) => {
  const service = await RunningService.start();
  const options = { collections: ['software', 'papers'], domain: 'alice.example' };
  const alice = await service.register('alice', options);
  const bob = await service.register('bob', { collections: ['software'] });
  const done = await makeDeposit(alice, final, form);
  await alice.waitFor(`${done}status/`, 'rejected');
  await service.administration.client({ type: 'SetDomain', client: 'alice', domain: 'ada.example' });
  await operate(service, { type: 'RetryChecks', depositId: idIn(done) });
  await alice.waitFor(`${done}status/`, 'done');
  const open = await makeDeposit(alice, partial, form);
  await alice.post(`${open}media/`, helloTar, archiveHeaders('docs.tar', 'application/x-tar'));
  t.context = { service, alice, bob, done, open };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

/** Runs a command as an operator whose name clients do not see. */
async function operate(
  { service: { log } }: RunningService,
  command: DepositCommand & { depositId: number },
) {
  const ids = { commandId: randomUUID(), correlationId: randomUUID() };
  const context = {
    ...ids,
    actor: { kind: 'operator', name: 'rosa' },
    now: new Date().toISOString(),
  } as const;
  await handleCommand(log, deposits, command.depositId, command, context);
}

function idIn(deposit: string): number {
  return Number(deposit.split('/').at(-2));
}

function eventsOf({ service }: RunningService, deposit: string): Promise<RecordedEvent[]> {
  return Array.fromAsync(service.log.readStream(`deposit-${idIn(deposit)}`));
}

function entriesOf(feed: Parsed): Parsed[] {
  return feed.children.filter(({ name }) => name === `${ATOM}entry`);
}

function linkOf(parent: Parsed, rel: string): Readonly<Record<string, string>> | undefined {
  const links = parent.children.filter(({ name }) => name === `${ATOM}link`);
  return links.find(({ attributes }) => attributes['rel'] === rel)?.attributes;
}

/** Asserts RFC 4287, sections 4.1.1 and 4.1.2: required elements of a feed and its entries. */
function assertAtomFeed(t: ExecutionContext, feed: Parsed): void {
  t.is(feed.name, `${ATOM}feed`);
  t.is(linkOf(feed, 'self')?.['type'], FEED);
  const ids = [feed, ...entriesOf(feed)].map((one) => {
    t.not(child(one, `${ATOM}title`).text, '');
    t.regex(child(one, `${ATOM}updated`).text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    const id = child(one, `${ATOM}id`).text;
    t.true(URL.canParse(id), id);
    return id;
  });
  t.is(new Set(ids).size, ids.length, 'ids are unique');
  t.not(child(child(feed, `${ATOM}author`), `${ATOM}name`).text, '');
  for (const entry of entriesOf(feed)) {
    const content = child(entry, `${ATOM}content`);
    t.true(content.text !== '' || texts(entry, `${ATOM}summary`).length === 1);
  }
}

test('the history is a feed of all events, oldest first, with their actors', async (t) => {
  const { alice, service, done } = t.context;
  const answer = await alice.get(`${done}history/`);
  t.is(answer.status, 200);
  t.is(answer.headers.get('content-type'), FEED);
  const feed = parsedBody(await answer.text());
  assertAtomFeed(t, feed);
  t.is(child(feed, `${ATOM}title`).text, 'History of Hello');
  t.deepEqual(
    entriesOf(feed).map((entry) => [
      child(entry, `${ATOM}category`).attributes['term'],
      child(child(entry, `${ATOM}author`), `${ATOM}name`).text,
      child(entry, `${ATOM}title`).text,
    ]),
    [
      ['DepositCreated', 'alice', 'Deposit created in the collection software.'],
      ['ArchiveAdded', 'alice', `Archive hello.zip added (${helloZip.length} bytes).`],
      ['MetadataAdded', 'alice', `Metadata added: "Hello" by Ada (${entry.length} bytes).`],
      ['DepositCompleted', 'alice', 'Deposit completed by the client.'],
      ['DepositRejected', 'checker', 'Deposit rejected by check 1 for 1 reason.'],
      ['ChecksRetried', 'operator', 'Re-check requested (check 2).'],
      ['DepositVerified', 'checker', 'Deposit passed check 2: 1 file of 15 bytes in 1 archive.'],
      ['LoadingStarted', 'loader', 'Loading started: load 1.'],
      ['DepositLoaded', 'loader', 'Deposit loaded: 1 file of 15 bytes.'],
    ],
  );
  const events = await eventsOf(service, done);
  t.deepEqual(
    entriesOf(feed).map((entry) => [child(entry, `${ATOM}id`).text, child(entry, `${ATOM}updated`).text]),
    events.map(({ id, metadata }) => [`urn:uuid:${id}`, metadata['occurredAt'] as string]),
  );
  t.is(child(feed, `${ATOM}updated`).text, events.at(-1)?.metadata['occurredAt'] as string);
});

test('a client sees its whole history and no internal data of the service', async (t) => {
  const { alice, service, done } = t.context;
  const events = await eventsOf(service, done);
  for (const Accept of [FEED, 'application/json']) {
    const body = await (await alice.get(`${done}history/`, { Accept })).text();
    t.true(body.includes(`swh:1:dir:${valueIn(events, 'directory')}`));
    t.true(body.includes(valueIn(events, 'sha256')));
    t.true(body.includes('At least one url field must be compatible'));
    const inner = ['listing', 'manifest', 'hash', '$correlationId'].map((name) => valueIn(events, name));
    for (const secret of [...inner, 'rosa', '/tmp/']) t.false(body.includes(secret), secret);
  }
});

/** Returns the first value that these events have under this name. */
function valueIn(events: readonly RecordedEvent[], name: string): string {
  const [, value] = JSON.stringify(events).split(`"${name}":"`);
  if (!value) throw new Error(`No event holds ${name}.`);
  return value.slice(0, value.indexOf('"'));
}

test('the history as JSON has the same facts', async (t) => {
  const { alice, service, done } = t.context;
  const answer = await alice.get(`${done}history/`, { Accept: 'application/json' });
  t.is(answer.headers.get('content-type'), 'application/json');
  const { entries, ...about } = (await answer.json()) as { entries: Record<string, unknown>[] };
  t.like(about, { title: 'History of Hello', author: { name: 'alice' } });
  t.is(entries.length, (await eventsOf(service, done)).length);
  t.like(entries[4], {
    title: 'Deposit rejected by check 1 for 1 reason.',
    category: 'DepositRejected',
    author: { name: 'checker' },
  });
  t.regex(JSON.stringify(entries[4]?.['details']), /"label":"reason","value":"At least one url field/);
});

test('an event that names no actor is shown in the history as one of the service', async (t) => {
  const { alice, service } = t.context;
  const path = await makeDeposit(alice, partial, form);
  const events = await eventsOf(service, path);
  const foreign = { type: 'ArchivesRemoved', data: { depositId: idIn(path) } };
  await appendAfter(service.service.log, `deposit-${idIn(path)}`, events.at(-1), foreign);
  const answer = await alice.get(`${path}history/?from=${events.length}`, { Accept: 'application/json' });
  const { entries } = (await answer.json()) as { entries: Record<string, unknown>[] };
  t.like(entries[0], { category: 'ArchivesRemoved', author: { name: 'service' } });
});

test('a long history is split into linked pages', async (t) => {
  const { alice, service } = t.context;
  const long = await makeDeposit(alice, partial, form);
  const archive = {
    filename: 'a.zip',
    mediaType: 'application/zip',
    sha256: 'a'.repeat(64),
    length: 1,
    md5: null,
  };
  const change = { kind: 'replace-content', archive, entry: null } as const;
  const rule = { isFinal: false, maxArchives: 1, now: new Date().toISOString(), providerUrl: null };
  for (let count = 0; count < 103; count += 1) {
    await operate(service, { type: 'ChangeDeposit', depositId: idIn(long), change, ...rule });
  }
  const events = await eventsOf(service, long);
  const last = `"${idIn(long)}-${events.length - 1}-xml"`;
  await until(async () => (await alice.get(`${long}history/`)).headers.get('etag') === last);

  const pages: Parsed[] = [];
  for (
    let next: string | undefined = `${long}history/`;
    next;
    next = linkOf(pages.at(-1) as Parsed, 'next')?.['href']
  ) {
    const page = parsedBody(await (await alice.get(next)).text());
    assertAtomFeed(t, page);
    t.true(linkOf(page, 'self')?.['href']?.endsWith(next));
    pages.push(page);
  }
  t.deepEqual(
    pages.map((page) => entriesOf(page).length),
    [100, 6],
  );
  const ids = pages.flatMap(entriesOf).map((entry) => child(entry, `${ATOM}id`).text);
  t.deepEqual(
    ids,
    events.map(({ id }) => `urn:uuid:${id}`),
  );
  t.is(linkOf(pages[0] as Parsed, 'previous'), undefined);
  t.is(linkOf(pages[1] as Parsed, 'previous')?.['href'], linkOf(pages[0] as Parsed, 'self')?.['href']);

  const beyond = parsedBody(await (await alice.get(`${long}history/?from=5000`)).text());
  t.deepEqual(entriesOf(beyond), []);
  t.is(linkOf(beyond, 'next'), undefined);
  for (const from of ['x', '-1', '1.5', '', '1&from=2', '9'.repeat(20)]) {
    const refused = await alice.get(`${long}history/?from=${from}`);
    await assertSwordError(t, refused, 400, 'ErrorBadRequest', from);
  }
});

test('the receipt links to the Statement in both formats and to the history', async (t) => {
  const { alice, done, service } = t.context;
  const receipt = parsedBody(await (await alice.get(`${done}metadata/`)).text());
  const links = receipt.children
    .filter(({ name }) => name === `${ATOM}link`)
    .map(({ attributes }) => attributes)
    .filter(({ rel }) => rel === 'http://purl.org/net/sword/terms/statement' || rel === 'version-history');
  t.deepEqual(
    links.map(({ href, type }) => [href, type]),
    [
      [`${service.url}${done}statement/`, FEED],
      [`${service.url}${done}statement/rdf/`, RDF],
      [`${service.url}${done}history/`, FEED],
    ],
  );
  for (const { href = '', type = '' } of links) {
    const answer = await alice.get(href, { Accept: type });
    t.is(answer.status, 200);
    t.is(answer.headers.get('content-type'), type);
    t.true(parsedBody(await answer.text()).children.length > 0);
  }
});

test('a client library finds state and original deposit in the Statement, as a feed and as a resource map', async (t) => {
  const { alice, done, service } = t.context;
  const feed = await alice.get(`${done}statement/`);
  t.is(feed.headers.get('content-type'), FEED, 'the default without Accept');
  const rdf = await alice.get(`${done}statement/`, { Accept: RDF });
  t.is(rdf.headers.get('content-type'), RDF);
  const atom = parsedBody(await feed.text());
  assertAtomFeed(t, atom);
  const added = (await eventsOf(service, done))[1]?.metadata['occurredAt'] as string;
  for (const statement of [readAtomStatement(atom), readOreStatement(parsedBody(await rdf.text()))]) {
    t.deepEqual(statement.states, [[`${STATE}done`, DETAIL]]);
    t.deepEqual(statement.originalDeposits, statement.resources);
    t.deepEqual(statement.resources, [
      {
        uri: `${service.url}${done}media/1/`,
        packaging: [SIMPLE_ZIP],
        depositedOn: added.replace(/\.\d+Z/, 'Z'),
        depositedBy: 'alice',
      },
    ]);
  }
  const state = child(atom, '{http://purl.org/net/sword/terms/}state');
  t.is(state.attributes['href'], `${STATE}done`);
  t.is(child(state, '{http://purl.org/net/sword/terms/}stateDescription').text, DETAIL);
  const content = child(entriesOf(atom)[0] as Parsed, `${ATOM}content`).attributes;
  const archive = await alice.get(content['src'] ?? '');
  t.is(archive.headers.get('content-type'), content['type'] ?? null);
  t.deepEqual(Buffer.from(await archive.arrayBuffer()), helloZip);
});

test('the Statement lists exactly the archives of the deposit at any time', async (t) => {
  const { alice, open } = t.context;
  const target = `${open}statement/`;
  const rdf = readOreStatement(parsedBody(await (await alice.get(target, { Accept: RDF })).text()));
  t.is(rdf.states[0]?.[0], `${STATE}partial`);
  t.is(rdf.originalDeposits.length, 2);
  t.is(new Set(rdf.originalDeposits.map(({ uri }) => uri)).size, 2, 'each link has only its own relation');
  const feed = parsedBody(await (await alice.get(target)).text());
  assertAtomFeed(t, feed);
  t.deepEqual(
    entriesOf(feed).map((entry) => child(entry, `${ATOM}title`).text),
    ['hello.zip', 'docs.tar'],
  );
  const files = rdf.resources.map(({ uri }) => uri);
  t.deepEqual(
    readAtomStatement(feed).resources.map(({ uri }) => uri),
    files,
  );
  t.true(files[0]?.endsWith(`${open}media/1/`));

  const own = await makeDeposit(alice, partial, form);
  await alice.put(`${own}media/`, helloTar, archiveHeaders('new.tar', 'application/x-tar'));
  const replaced = parsedBody(await (await alice.get(`${own}statement/`)).text());
  t.deepEqual(
    entriesOf(replaced).map((entry) => child(entry, `${ATOM}title`).text),
    ['new.tar'],
  );
  await alice.delete(`${own}media/`);
  const empty = await (await alice.get(`${own}statement/`, { Accept: RDF })).text();
  t.deepEqual(readOreStatement(parsedBody(empty)).resources, []);
});

test('the media type is negotiated, and no Accept header is refused', async (t) => {
  const { alice, done } = t.context;
  const cases = [
    ['history', 'application/xml', 'application/xml'],
    ['history', 'application/atom+xml', FEED],
    ['history', 'image/png', FEED],
    ['history', RDF, FEED],
    ['statement', 'application/xml', 'application/xml'],
    ['statement', `${FEED}, ${RDF};q=0.9`, FEED],
    ['statement', `${FEED};q=0.5, ${RDF}`, RDF],
    ['statement', 'application/json;q=0.9, application/xml', 'application/xml'],
  ] as const;
  for (const [end, accept, expected] of cases) {
    const answer = await alice.get(`${done}${end}/`, { Accept: accept });
    t.deepEqual([answer.status, answer.headers.get('content-type')], [200, expected], `${end} ${accept}`);
    t.is(answer.headers.get('vary'), 'Accept');
    t.true(parsedBody(await answer.text()).children.length > 0);
  }
});

test('a typed link of the receipt has its type without an Accept header and with another one', async (t) => {
  const { alice, done } = t.context;
  const receipt = parsedBody(await (await alice.get(`${done}metadata/`)).text());
  const links = receipt.children.filter(({ name }) => name === `${ATOM}link`);
  const typed = links.filter(({ attributes: { type, rel } }) => type && !rel?.endsWith('/originalDeposit'));
  const iris = typed.map(({ attributes: { href } }) => href);
  t.deepEqual([typed.length, new Set(iris).size], [4, 4], 'an IRI each');
  for (const { rel, href = '', type = '' } of typed.map(({ attributes }) => attributes)) {
    const target = new URL(href).pathname;
    const plain = await alice.get(target);
    t.deepEqual([plain.status, plain.headers.get('content-type')], [200, type], `${rel} ${type}`);
    if (target.endsWith('/statement/') || target.endsWith('/history/')) continue;
    for (const accept of ['*/*', 'application/json', 'application/zip', 'text/html, */*']) {
      const answer = await alice.get(target, { Accept: accept });
      t.deepEqual([answer.status, answer.headers.get('content-type')], [200, type], `${rel} ${accept}`);
    }
  }
  const feed = parsedBody(await (await alice.get(`${done}media/feed/`)).text());
  const self = child(feed, `${ATOM}link`).attributes;
  t.is(new URL(self['href'] ?? '').pathname, `${done}media/feed/`);
  const map = await (await alice.get(`${done}statement/rdf/`)).text();
  t.is(map, await (await alice.get(`${done}statement/`, { Accept: RDF })).text());
  for (const end of ['media/feed/', 'statement/rdf/'])
    for (const method of ['POST', 'PUT', 'DELETE'])
      await assertSwordError(t, await alice.send(method, `${done}${end}`), 405, 'MethodNotAllowed');
});

test('HEAD, OPTIONS, ETag and 405 work as for the other resources of a deposit', async (t) => {
  const { alice, done, open } = t.context;
  for (const end of ['history/', 'statement/']) {
    const target = `${done}${end}`;
    const [get, head] = [await alice.get(target), await alice.send('HEAD', target)];
    t.deepEqual([head.status, await head.text()], [200, '']);
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control']) {
      t.is(head.headers.get(name), get.headers.get(name), name);
    }
    const tag = get.headers.get('etag') ?? '';
    t.is((await alice.get(`${done}metadata/`)).headers.get('etag'), tag, 'of the same revision');
    const same = await alice.get(target, { 'If-None-Match': tag });
    t.deepEqual([same.status, await same.text()], [304, '']);
    for (const deposit of [done, open]) {
      const options = await alice.send('OPTIONS', `${deposit}${end}`);
      t.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS']);
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const refused = await alice.send(method, `${deposit}${end}`);
        await assertSwordError(t, refused, 405, 'MethodNotAllowed', method);
        t.is(refused.headers.get('allow'), 'GET, HEAD, OPTIONS');
      }
    }
    t.is((await alice.get(target.slice(0, -1))).status, 200, 'also without its slash');
  }
});

test('history and Statement are hidden from other clients, and gone for a deleted deposit', async (t) => {
  const { alice, bob, done } = t.context;
  const deleted = await makeDeposit(alice, partial, form);
  t.is((await alice.delete(`${deleted}metadata/`)).status, 204);
  for (const end of ['history/', 'statement/']) {
    const foreign = await assertSwordError(t, await bob.get(`${done}${end}`), 404, 'NotFound', end);
    const unknown = await assertSwordError(
      t,
      await bob.get(`/1/software/999999/${end}`),
      404,
      'NotFound',
      end,
    );
    t.is(
      foreign.replace(String(idIn(done)), 'ID'),
      unknown.replace('999999', 'ID'),
      'the responses are identical',
    );
    for (const target of [deleted, done.replace('software', 'papers'), '/1/software/0/', '/1/robots/1/']) {
      await assertSwordError(t, await alice.get(`${target}${end}`), 404, 'NotFound', `${target}${end}`);
    }
    const stranger = await fetch(new URL(`${done}${end}`, alice.url));
    await assertSwordError(t, stranger, 401, 'Unauthorized', end);
  }
});
