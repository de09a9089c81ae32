import anyTest, { type TestFn } from 'ava';
import { entriesOf, type ReadList, readList } from '../../testing/documents/listed-deposits.ts';
import { ATOM, child, DEPOSIT, type Parsed, parsedBody, texts } from '../../testing/documents/parsed-body.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';

type Context = {
  service: RunningService;
  alice: TestClient;
  bob: TestClient;
  /** Ids of alice in `software`, newest first: one done, one rejected, and many that are partial. */
  all: readonly string[];
  done: string;
  rejected: string;
};
const test = anyTest as TestFn<Context>;

const FEED = 'application/atom+xml;type=feed';
const PROVIDER = 'https://alice.example/code';
const paint = entryXml(
  '<title>Paint &amp; Co</title><author><name>Ada</name></author><external_identifier>paint-1</external_identifier>',
);

test.before(async (t) => {
  const service = await RunningService.start();
  const collections = ['papers', 'software'];
  const alice = await service.register('alice', { collections, providerUrl: PROVIDER });
  const bob = await service.register('bob', { collections });
  const form = formOf([archivePart(), entryPart(paint)]);
  const done = await created(alice, form, { ...formType, ...final, Slug: 'a slug/2' });
  const rejected = await created(alice, paint, { ...entryHeaders(), ...final });
  const all = [done, rejected];
  for (let turn = 0; turn < 21; turn += 1) {
    all.push(await created(alice, paint, { ...entryHeaders(), ...partial }));
    if (turn % 3 === 0) await created(bob, paint, { ...entryHeaders(), ...partial });
    if (turn % 5 === 0) await created(alice, paint, { ...entryHeaders(), ...partial }, '/1/papers/');
  }
  for (const status of ['done', 'rejected']) {
    await until(async () => (await listed(alice, `/1/software/?status=${status}`)).count === '1');
  }
  t.context = { service, alice, bob, all: all.toReversed(), done, rejected };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

async function created(
  client: TestClient,
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string>,
  collection = '/1/software/',
): Promise<string> {
  const answer = await client.post(collection, body, headers);
  return /<deposit_id>(\d+)</.exec(await answer.text())?.[1] ?? '';
}

function idsOf({ deposits }: ReadList): (string | undefined)[] {
  return deposits.map(({ id }) => id);
}

async function listed(client: TestClient, target: string): Promise<ReadList> {
  return readList(await client.get(target));
}

/** Resolves to all pages from one on, following the links. */
async function following(client: TestClient, start: string, rel: string): Promise<ReadList[]> {
  const pages = [];
  for (let target: string | undefined = start; target !== undefined; target = pages.at(-1)?.links[rel]) {
    pages.push(await listed(client, target));
  }
  return pages;
}

function linkOf(parent: Parsed, rel: string): string | undefined {
  const links = parent.children.filter(({ name }) => name === `${ATOM}link`);
  return links.find(({ attributes }) => attributes['rel'] === rel)?.attributes['href'];
}

test('a collection lists only the deposits of the requesting client, newest first', async (t) => {
  const { alice, bob, all } = t.context;
  const list = await listed(alice, '/1/software/');
  t.is(list.count, '23');
  t.deepEqual(idsOf(list), all);
  const others = await listed(bob, '/1/software/');
  t.is(others.count, '7');
  t.deepEqual(
    idsOf(others).filter((id) => all.includes(id ?? '')),
    [],
  );
  t.is((await listed(alice, '/1/papers/')).count, '5');
});

test('feed entries contain the facts of each deposit that existing clients read, and no empty ones', async (t) => {
  const { alice, done, rejected, all } = t.context;
  const { deposits } = await listed(alice, '/1/software/');
  const [newest = {}] = deposits;
  const [isDone = {}, isRejected = {}] = [done, rejected].map((id) =>
    deposits.find((one) => one['id'] === id),
  );
  t.deepEqual(Object.keys(newest), ['id', 'reception_date', 'external_id', 'status', 'status_detail']);
  t.like(newest, { id: all[0], status: 'partial', external_id: 'paint-1' });
  t.deepEqual(Object.keys(isRejected).length, 7, 'no identifiers, but an origin and a date of completion');
  const entryOf = async (id: string) => {
    const status = parsedBody(await (await alice.get(`/1/software/${id}/status/`)).text());
    return (name: string) => texts(status, `${DEPOSIT}${name}`)[0];
  };
  const [ofDone, ofRejected] = [await entryOf(done), await entryOf(rejected)];
  t.like(isRejected, { status: 'rejected', status_detail: ofRejected('deposit_status_detail') });
  t.like(isDone, {
    status: 'done',
    status_detail: ofDone('deposit_status_detail'),
    swhid: ofDone('deposit_swh_id'),
    swhid_context: ofDone('deposit_swh_id_context'),
    origin_url: `${PROVIDER}/a%20slug%2F2`,
  });
  for (const key of ['reception_date', 'complete_date']) {
    t.regex(isDone[key] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
});

test('the list is an Atom feed with a complete entry for each deposit', async (t) => {
  const { alice, service, done, all } = t.context;
  const answer = await alice.get('/1/software/');
  t.is(answer.status, 200);
  t.is(answer.headers.get('content-type'), 'application/xml');
  const feed = parsedBody(await answer.text());
  t.is(feed.name, `${ATOM}feed`);
  t.is(linkOf(feed, 'self'), `${service.url}/1/software/?page=1&page_size=100`);
  for (const one of [feed, ...entriesOf(feed)]) {
    t.true(URL.canParse(child(one, `${ATOM}id`).text));
    t.not(child(one, `${ATOM}title`).text, '');
    t.regex(child(one, `${ATOM}updated`).text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    t.is(child(child(one, `${ATOM}author`), `${ATOM}name`).text, 'alice');
  }
  const entry = entriesOf(feed)[all.indexOf(done)] as Parsed;
  const receipt = parsedBody(await (await alice.get(`/1/software/${done}/metadata/`)).text());
  for (const name of ['id', 'title', 'updated', 'published', 'deposit_id', 'deposit_status']) {
    t.deepEqual(texts(entry, `${ATOM}${name}`), texts(receipt, `${ATOM}${name}`), name);
  }
  t.deepEqual(texts(entry, `${DEPOSIT}deposit_status`), ['done']);
  for (const rel of ['edit', 'edit-media', 'alternate']) t.is(linkOf(entry, rel), linkOf(receipt, rel), rel);
});

test('page links lead through all pages and back, with each deposit once', async (t) => {
  const { alice, all } = t.context;
  const pages = await following(alice, '/1/software/?page_size=4', 'next');
  t.deepEqual(
    pages.map(({ deposits }) => deposits.length),
    [4, 4, 4, 4, 4, 3],
  );
  t.deepEqual(pages.flatMap(idsOf), all);
  t.deepEqual(new Set(pages.map(({ count }) => count)), new Set(['23']));
  const { links } = pages[0] as ReadList;
  t.deepEqual(Object.keys(links), ['first', 'next', 'last']);
  const back = await following(alice, links['last'] ?? '', 'previous');
  t.deepEqual(back.toReversed().flatMap(idsOf), all);
  t.deepEqual(Object.keys(pages.at(-1)?.links ?? {}), ['first', 'previous', 'last']);
});

test('pages are numbered from either end, and the Link header repeats the links of the feed', async (t) => {
  const { alice, service, all } = t.context;
  for (const page of [1, 2, 3, 4, 5]) {
    const answer = await alice.get(`/1/software?page=${page}&page_size=5`);
    const feed = parsedBody(await answer.clone().text());
    const list = await readList(answer);
    t.deepEqual(idsOf(list), all.slice((page - 1) * 5, page * 5));
    for (const [rel, href] of Object.entries(list.links)) t.is(linkOf(feed, rel), href);
    t.is(list.links['first'], `${service.url}/1/software/?page=1&page_size=5`);
    t.is(list.links['last'], `${service.url}/1/software/?page=5&page_size=5`);
  }
  const beyond = await alice.get('/1/software/?page=6&page_size=5');
  t.regex(await assertSwordError(t, beyond, 404, 'NotFound'), /no page 6 .* last page is 5/);
});

test('the Link header is limited with an origin of any length, and the feed has all links', async (t) => {
  const { alice } = t.context;
  for (const [length, rels] of [
    [1_000, ['first', 'last']],
    [2_500, ['first']],
    [7_900, []],
  ] as const) {
    const answer = await alice.get(`/1/software/?origin=${'x'.repeat(length)}`);
    const header = answer.headers.get('link') ?? '';
    t.true(header.length <= 4_096);
    t.deepEqual(
      [...header.matchAll(/rel="(\w+)"/g)].map(([, rel]) => rel),
      [...rels],
    );
    const feed = parsedBody(await answer.text());
    for (const rel of ['first', 'last']) t.truthy(linkOf(feed, rel));
  }
});

test('paging neither repeats nor skips a deposit while others are created or deleted', async (t) => {
  const { service } = t.context;
  const carol = await service.register('carol', { collections: ['software'] });
  const send = () => created(carol, paint, { ...entryHeaders(), ...partial });
  const made = [];
  for (let turn = 0; turn < 9; turn += 1) made.unshift(await send());
  const first = await listed(carol, '/1/software/?page_size=3');
  const [newer, newest] = [await send(), await send()];
  await carol.delete(`/1/software/${made[0]}/metadata/`);
  const second = await listed(carol, first.links['next'] ?? '');
  await carol.delete(`/1/software/${made[7]}/metadata/`);
  const third = await listed(carol, second.links['next'] ?? '');
  t.deepEqual([first, second, third].flatMap(idsOf), [...made.slice(0, 7), made[8]]);
  t.deepEqual(
    [first, second, third].map(({ count }) => count),
    ['9', '10', '9'],
  );
  t.is(third.links['next'], undefined);
  t.deepEqual(idsOf(await listed(carol, third.links['previous'] ?? '')), made.slice(3, 6));
  t.deepEqual(idsOf(await listed(carol, third.links['first'] ?? '')), [newest, newer, made[1]]);
});

test('the way back from the last page misses no deposit that is created meanwhile', async (t) => {
  const { service } = t.context;
  const dora = await service.register('dora', { collections: ['software'] });
  const send = () => created(dora, paint, { ...entryHeaders(), ...partial });
  const made = [];
  for (let turn = 0; turn < 5; turn += 1) made.unshift(await send());
  const { links } = await listed(dora, '/1/software/?page_size=3');
  const last = await listed(dora, links['last'] ?? '');
  for (let turn = 0; turn < 4; turn += 1) made.unshift(await send());
  const newer = await following(dora, last.links['previous'] ?? '', 'previous');
  t.deepEqual([last, ...newer].toReversed().flatMap(idsOf), made);
});

test('the list is filtered by status and by origin; an unknown origin differs from an empty one', async (t) => {
  const { alice, all, done, rejected } = t.context;
  const others = all.filter((id) => id !== done && id !== rejected);
  const expected = [
    ['?status=done', [done]],
    ['?status=rejected', [rejected]],
    ['?status=loading', []],
    [`?origin=${encodeURIComponent(`${PROVIDER}/a%20slug%2F2`)}`, [done]],
    [`?origin=${encodeURIComponent(`${PROVIDER}/a%20slug%2F2`)}&status=done`, [done]],
    [`?origin=${encodeURIComponent(`${PROVIDER}/a%20slug%2F2`)}&status=failed`, []],
    ['?origin=https://nowhere.example/', []],
  ] as const;
  for (const [query, ids] of expected) {
    const list = await listed(alice, `/1/software/${query}`);
    t.deepEqual([list.count, idsOf(list)], [String(ids.length), ids], query);
  }
  const pages = await following(alice, '/1/software/?status=partial&page_size=8', 'next');
  t.deepEqual(pages.flatMap(idsOf), others);
  t.deepEqual(
    pages.map(({ count }) => count),
    ['21', '21', '21'],
  );
});

test('an invalid query is refused, and the error names the valid values', async (t) => {
  const { alice } = t.context;
  const cases = [
    ['status=finished', /"finished" is not a status .* partial, deposited, .* failed/],
    ['status=', /is not a status/],
    ['page=0', /page="0" is not a whole number/],
    ['page=1e3', /is not a whole number/],
    ['page=-1', /is not a whole number/],
    ['page_size=0', /page_size="0"/],
    ['page_size=many', /page_size="many"/],
    ['page=1&page=2', /sent 2 times/],
    ['below=x', /not a deposit id/],
    ['below=7&above=3', /not both/],
  ] as const;
  for (const [query, reason] of cases) {
    const answer = await alice.get(`/1/software/?${query}`);
    t.regex(await assertSwordError(t, answer, 400, 'ErrorBadRequest', query), reason);
  }
  const wide = await listed(alice, '/1/software/?page_size=5000&colour=red');
  t.true(wide.links['first']?.endsWith('?page=1&page_size=1000'), 'more than 1000 are never sent at once');
});

test('the JSON list has the same facts', async (t) => {
  const { alice, all, done, service } = t.context;
  const answer = await alice.get('/1/software/?page_size=2&page=12', { Accept: 'application/json' });
  t.is(answer.headers.get('content-type'), 'application/json');
  const list = (await answer.json()) as Record<string, unknown>;
  const xml = await listed(alice, '/1/software/?page_size=2&page=12');
  const [{ id, ...facts } = {}] = xml.deposits;
  t.is(id, done);
  t.like(list, { count: 23, author: { name: 'alice' } });
  t.like((list['entries'] as unknown[])[0], {
    deposit_id: Number(all.at(-1)),
    deposit_status: 'done',
    ...facts,
  });
  const links = (list['links'] as { rel: string; href: string }[]).map(({ rel, href }) => [rel, href]);
  t.like(Object.fromEntries(links), xml.links);
  t.true(JSON.stringify(list).includes(`"href":"${service.url}/1/software/${done}/status/"`));
});

test('the list is sent in the requested media type with no-store, and with HEAD without a body', async (t) => {
  const { alice } = t.context;
  const types = [
    ['application/atom+xml', 'application/atom+xml'],
    [FEED, FEED],
    ['image/png, application/pdf', 'application/xml'],
  ] as const;
  for (const [accept, type] of types) {
    const answer = await alice.get('/1/software/', { Accept: accept });
    t.is(answer.headers.get('content-type'), type, accept);
    await answer.arrayBuffer();
  }
  const [get, head] = [await alice.get('/1/software/'), await alice.send('HEAD', '/1/software/')];
  t.is(await head.text(), '');
  for (const name of ['content-type', 'content-length', 'cache-control', 'link', 'vary']) {
    t.is(head.headers.get(name), get.headers.get(name), name);
  }
  t.is(get.headers.get('cache-control'), 'no-store');
  await get.arrayBuffer();
});

test('a collection is listed only for clients that have access', async (t) => {
  const { alice, service } = t.context;
  await assertSwordError(t, await alice.get('/1/nowhere/'), 404, 'NotFound');
  const dave = await service.register('dave', { collections: ['papers'] });
  await assertSwordError(t, await dave.get('/1/software/'), 404, 'NotFound');
  const empty = await listed(dave, '/1/papers/');
  t.deepEqual([empty.count, empty.deposits], ['0', []]);
  t.deepEqual(Object.keys(empty.links), ['first', 'last']);
  const unknown = new TestClient(service.url, 'alice', 'wrong');
  await assertSwordError(t, await unknown.get('/1/software/'), 401, 'Unauthorized');
});
