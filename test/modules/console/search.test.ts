import { hash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DepositSearchView, depositSearch } from '../../../projections/deposit-search.ts';
import { searchRoutes } from '../../../src/modules/console/api/search.ts';
import { idsOf, pageOf } from '../../../src/modules/console/listing/deposit-pages.ts';
import { selectionOf } from '../../../src/modules/console/listing/deposit-query.ts';
import { VisibleDeposits } from '../../../src/modules/console/listing/visible-deposits.ts';
import {
  type Cursor,
  type DepositPage,
  type Filter,
  isByChange,
} from '../../../src/modules/console/protocol/deposit-list.ts';
import type { SearchResult } from '../../../src/modules/console/protocol/search-result.ts';
import { CLOCK_OF_NODE } from '../../../src/tools/clock.ts';
import { runInWorld } from '../../../src/tools/outside-world.ts';
import type { View } from '../../../src/views/view.ts';
import { tarOf, zipOf } from '../../../testing/archives/archive-builders.ts';
import { depositOf } from '../../../testing/browser/console-deposits.ts';
import { ConsoleSession } from '../../../testing/browser/sign-in.ts';
import { eventAt } from '../../../testing/event-log/event-seen.ts';
import {
  archiveHeaders,
  archivePart,
  entryPart,
  final,
  formOf,
  formType,
  helloZip,
  partial,
} from '../../../testing/http/deposit-bodies.ts';
import { depositIdOf, pathOf } from '../../../testing/http/made-deposits.ts';
import { seeded } from '../../../testing/processes/seeded-random.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { openOneView } from '../../../testing/service/one-view.ts';
import { testOfService } from '../../../testing/service/test-of-service.ts';

const test = testOfService({
  alice: { collections: ['software', 'papers'] },
  carol: { collections: ['papers'] },
});

test('the search box detects the kind of a text, within what the viewer may see', async (t) => {
  const { service, alice } = t.context;
  const id = await depositOf(alice, { title: 'Sundial' });
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const depositor = await ConsoleSession.begin(service, 'depositor', 'carol');
  const events = await Array.fromAsync(service.service.log.readStream(`deposit-${id}`));
  const [created, loaded] = ['DepositCreated', 'DepositLoaded'].map((wanted) =>
    events.find(({ type }) => type === wanted),
  );
  if (!created || !loaded) throw new Error('The deposit is not loaded.');
  const page = await auditor.get('/console/api/deposits?q=sundial');
  const [row] = ((await page.json()) as DepositPage).rows;
  const content = hash('sha1', 'blob 15\0print("hello")\n');
  const entry = Buffer.concat([Buffer.from('100644 hello.py\0'), Buffer.from(content, 'hex')]);
  const folder = hash('sha1', Buffer.concat([Buffer.from(`tree ${entry.length}\0`), entry]));
  const search = async (text: string, session = auditor) => {
    const answer = await session.get(`/console/api/search?q=${encodeURIComponent(text)}`);
    const { deposits, ...others } = (await answer.json()) as SearchResult;
    return { ...others, found: deposits.some(({ depositId }) => depositId === id) };
  };
  for (const [text, expected] of [
    [String(id), { understoodAs: 'deposit id' }],
    [(created.data['uuid'] as string).toUpperCase(), { understoodAs: 'UUID of a deposit' }],
    [loaded.id, { understoodAs: 'event id', event: loaded.revision }],
    [created.metadata['$correlationId'] as string, { understoodAs: 'correlation id', event: null }],
    [hash('sha256', helloZip), { understoodAs: 'digest of an archive' }],
    [`${row?.swhid};origin=${row?.origin}`, { understoodAs: 'SWHID' }],
    [row?.swhid?.slice(-40) ?? '', { understoodAs: 'id of an object' }],
    [`swh:1:cnt:${content}`, { understoodAs: 'SWHID', path: 'hello/hello.py', lines: null }],
    [`swh:1:cnt:${content};lines=1`, { understoodAs: 'SWHID', path: 'hello/hello.py', lines: '1' }],
    [`swh:1:cnt:${content};path=/hello/hello.py;lines=2-3`, { understoodAs: 'SWHID', lines: '2-3' }],
    [`swh:1:cnt:${content};origin=${row?.origin}`, { understoodAs: 'SWHID', path: 'hello/hello.py' }],
    [`swh:1:dir:${folder};path=/hello/`, { understoodAs: 'SWHID', path: 'hello' }],
    [row?.origin ?? '', { understoodAs: 'origin' }],
    ['sundial', { understoodAs: 'text' }],
    ['client:alice actor:alice SUN', { understoodAs: 'filters' }],
  ] as const) {
    t.like(await search(text), { ...expected, found: true }, text);
    const other = await search(text, depositor);
    t.deepEqual([other.found, other.event, other.path], [false, null, null], text);
  }
  t.like(await search('alice'), { understoodAs: 'client', found: true });
  t.is((await search('alice', depositor)).understoodAs, 'text', 'other clients are not known to a depositor');
  for (const text of [
    'f'.repeat(64),
    'f'.repeat(40),
    `swh:1:cnt:${'f'.repeat(40)}`,
    `${loaded.id.slice(0, -1)}${loaded.id.endsWith('0') ? '1' : '0'}`,
  ])
    t.false((await search(text)).found, text);
  t.is((await auditor.get('/console/api/search?q=swh:1:nothing')).status, 400);
});

test('a path that is not UTF-8 is found by its bytes', async (t) => {
  const { service, alice } = t.context;
  const tar = tarOf([{ name: Buffer.from('demo/caf\xe9 1', 'latin1'), data: 'espresso' }]);
  const form = formOf([archivePart(tar, 'cafe.tar', 'application/x-tar'), entryPart()]);
  const created = await alice.post('/1/software/', form, { ...formType, ...final });
  await alice.waitFor(`${pathOf(created)}status/`, 'done', 'rejected', 'failed');
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const answer = await auditor.get(`/console/api/search?q=swh:1:cnt:${hash('sha1', 'blob 8\0espresso')}`);
  t.is(((await answer.json()) as SearchResult).path, 'demo/caf%E9%201');
});

test('an archive is found by its digest after its replacement, and a deposit by its slug', async (t) => {
  const { service, alice } = t.context;
  const zipped = (text: string) => zipOf([{ name: 'a', data: text }]);
  const headers = { ...archiveHeaders('first.zip'), ...partial };
  const post = { headers: { ...headers, Slug: 'the-slug' }, body: zipped('one') };
  const created = await alice.send('POST', '/1/software/', post);
  const id = depositIdOf(created);
  const put = { headers, body: zipped('another') };
  t.is((await alice.send('PUT', `${pathOf(created)}media/`, put)).status, 204);
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const idsOfSearch = async (text: string) => {
    const answer = await auditor.get(`/console/api/search?q=${text}`);
    return ((await answer.json()) as SearchResult).deposits.map(({ depositId }) => depositId);
  };
  for (const text of ['one', 'another'])
    t.deepEqual(await idsOfSearch(hash('sha256', zipped(text))), [id], text);
  t.deepEqual(await idsOfSearch('slug:the-slug'), [id]);
  t.deepEqual(await idsOfSearch('slug:the'), []);
});

test('the pages of any search match the complete list, for any batch size', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'searches-'));
  using file = openOneView(path.join(folder, 'views.1.sqlite'), depositSearch);
  file.file.addLookups();
  const random = seeded(7);
  const oneOf = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value;
  const rows = Array.from({ length: 2500 }, (_, index) => rowOf(index + 1, oneOf));
  file.take(new Map(rows.map((row) => [String(row.depositId), row])), eventAt('1'));
  const view = file as unknown as View<DepositSearchView>;
  const scopes = [
    null,
    { client: 'ada', collections: ['one', 'three'] },
    { client: 'ada', collections: ['one', 'two', 'three', 'empty'] },
    { client: 'ada', collections: [] },
  ];
  for (let search = 0; search < 60; search += 1) {
    const filter: Filter = {
      ...(random() < 0.7 && { q: oneOf(['RED', 'red lamp', 'blue', 'such word', 'Lu', 'eD lamp', 'ed LA']) }),
      ...(random() < 0.5 && { status: oneOf(['done', 'failed']) }),
      ...(random() < 0.3 && { collection: oneOf(['one', 'two']) }),
      ...(random() < 0.3 && { client: oneOf(['ada', 'bob']) }),
      ...(random() < 0.4 && { actor: oneOf(['rosa', 'ada']) }),
      ...(random() < 0.3 && { since: '2026-01-01T00:20:00Z' }),
      ...(random() < 0.3 && { until: '2026-01-01T00:30:00Z' }),
    };
    const scope = oneOf(scopes);
    const deposits = new VisibleDeposits(view, { scope });
    const selection = selectionOf(filter);
    const wanted = rows.filter(
      (row) =>
        deposits.includes(row) &&
        fits(row, filter) &&
        (scope === null || filter.actor === undefined || filter.actor === scope.client),
    );
    const found: number[] = [];
    let next: Cursor | null = null;
    do {
      const page = pageOf(deposits, selection, next ?? undefined, 50);
      found.push(...page.rows.map(({ depositId }) => depositId));
      next = page.next;
      if (next !== null) t.is(typeof next === 'string', isByChange(filter));
    } while (next !== null);
    const expected = wanted.map(({ depositId }) => depositId);
    t.deepEqual(
      found.toSorted((a, b) => a - b),
      expected,
      JSON.stringify({ filter, scope }),
    );
    t.deepEqual(await idsOf(deposits, selection, 5000), expected);
    t.is((await idsOf(deposits, selection, 10)).length, Math.min(11, expected.length));
  }
  await rm(folder, { recursive: true });
});

test('a list by times ends after a time, and the next page continues there', async (t) => {
  const folder = await temporaryFolder(t);
  using file = openOneView(path.join(folder, 'views.1.sqlite'), depositSearch);
  file.file.addLookups();
  const random = seeded(7);
  const rows = Array.from({ length: 2500 }, (_, index) =>
    rowOf(index + 1, (values) => values[Math.floor(random() * values.length)] as never),
  );
  file.take(new Map(rows.map((row) => [String(row.depositId), row])), eventAt('1'));
  const filter = { collection: 'one', since: '2026-01-01T00:05:00Z', until: '2026-01-01T00:35:00Z' };
  const wanted = rows.filter((row) => fits(row, filter)).map(({ depositId }) => depositId);
  let elapsed = 0;
  const slow = { ...CLOCK_OF_NODE, monotonic: () => (elapsed += 1000) };
  await runInWorld({ clock: slow }, async () => {
    for (const scope of [null, { client: 'ada', collections: ['one', 'two'] }]) {
      const deposits = new VisibleDeposits(file as unknown as View<DepositSearchView>, { scope });
      const found: number[] = [];
      let [next, pages]: [Cursor | null, number] = [null, 0];
      do {
        const page = pageOf(deposits, selectionOf(filter), next ?? undefined, 500);
        found.push(...page.rows.map(({ depositId }) => depositId));
        if (page.next !== null) t.is(page.searchedTo, page.next);
        [next, pages] = [page.next, pages + 1];
      } while (next !== null);
      const visible = wanted.filter((id) => deposits.includes(rows[id - 1]!));
      t.deepEqual(found, visible.toReversed());
      t.is(pages, scope ? 2 : 4, 'pages of 500 candidates each');
      const few = pageOf(deposits, selectionOf({ ...filter, origin: 'https://a.example/' }), undefined, 50);
      t.deepEqual(few, { rows: [], next: null, searchedTo: null }, 'few are looked at as a whole');
    }
    const deposits = new VisibleDeposits(file as unknown as View<DepositSearchView>, { scope: null });
    const parts = { depositsOf: () => ({ settled: async () => deposits }) };
    const [route] = searchRoutes(parts as unknown as Parameters<typeof searchRoutes>[0]);
    const ctx = { req: { socket: new EventEmitter() }, res: new EventEmitter() };
    for (const [q, limit] of [
      ['zz', 'The search took long: older deposits may match, too.'],
      ['zzz', null],
    ] as const) {
      const request = { ctx, query: new URLSearchParams({ q }), viewer: { scope: null } };
      t.like(await route?.answer(request as never), {
        deposits: [],
        limit,
      });
    }
  });
});

test('a word is found in any case, whether few or many deposits have the status', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'cases-'));
  using file = openOneView(path.join(folder, 'views.1.sqlite'), depositSearch);
  file.file.addLookups();
  const texts = [
    'ΘΕΣΣΑΛΊΑΣ ΣΊΣΥΦΟΣ',
    'σίσυφος θεσσαλίας',
    'STRAẞE',
    'straße',
    'ДОМ',
    'İzmir',
    'A.B*C',
    'axbxc',
    'cafe\u0301 \u212bngstro\u0308m',
    '\u0958\u0916',
  ];
  const rows = texts.map((words, index) => ({
    ...rowOf(index + 1, ([first]) => first as never),
    status: 'done' as const,
    words,
  }));
  file.take(new Map(rows.map((row) => [String(row.depositId), row])), eventAt('1'));
  const deposits = new VisibleDeposits(file as unknown as View<DepositSearchView>, { scope: null });
  const found = (filter: Filter) =>
    pageOf(deposits, selectionOf(filter), undefined, 50).rows.map(({ depositId }) => depositId);
  const words = [
    'ΣΊΣ',
    'σίσ',
    'ίας',
    'ίασ',
    'ΊΑΣ',
    'straße',
    'STRAẞE',
    'strasse',
    'дом',
    'izmir',
    'İZM',
    'a.b*c',
    'ДО',
    'TR',
    '.b',
    '*',
    'caf\u00e9',
    'fe',
    'f\u00e9',
    'cafe\u0301',
    '\u0958\u0916',
    '\u0915\u093c\u0916',
  ];
  for (const q of words) t.deepEqual(found({ q, status: 'done' }), found({ q }), q);
  t.deepEqual(found({ q: 'ΣΊΣ', status: 'done' }), [2, 1]);
  t.deepEqual(found({ q: 'caf\u00e9' }), [9]);
  t.deepEqual(found({ q: '\u0958\u0916' }), [10], 'its normal forms are longer');
  await rm(folder, { recursive: true });
});

function fits(row: DepositSearchView, filter: Filter): boolean {
  return (
    (filter.q ?? '').split(' ').every((word) => row.words.toLowerCase().includes(word.toLowerCase())) &&
    (filter.status ?? row.status) === row.status &&
    (filter.collection ?? row.collection) === row.collection &&
    (filter.client ?? row.client) === row.client &&
    (filter.actor === undefined || row.labels.includes(`actor:${filter.actor}`)) &&
    (filter.since === undefined || row.updatedAt >= new Date(filter.since).toISOString()) &&
    (filter.until === undefined || row.updatedAt <= new Date(filter.until).toISOString())
  );
}

function rowOf(depositId: number, oneOf: <Value>(values: readonly Value[]) => Value): DepositSearchView {
  const [client, collection] = [oneOf(['ada', 'bob']), oneOf(['one', 'two', 'three'])];
  const updatedAt = new Date(Date.UTC(2026, 0, 1) + depositId * 1000).toISOString();
  const words = oneOf(['red', 'Red Lamp', 'blue', 'green lamp']);
  return {
    depositId,
    uuid: `${depositId}`,
    client,
    collection,
    createdAt: updatedAt,
    updatedAt,
    revision: 0,
    status: depositId % 9 === 0 ? 'failed' : 'done',
    statusDetail: '',
    archives: [],
    archivesEver: 0,
    slug: null,
    title: words,
    authors: [],
    externalIdentifier: null,
    reasonCodes: [],
    directory: null,
    revisionId: null,
    snapshot: null,
    origin: null,
    changed: `${updatedAt} ${String(depositId).padStart(15, '0')}`,
    words,
    terms: ` @${client} /${collection} `,
    labels: [`actor:${client}`, ...(depositId % 3 === 0 ? ['actor:rosa'] : [])],
    ids: '',
  };
}
