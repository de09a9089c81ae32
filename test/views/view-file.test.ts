import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { type DepositStatusView, depositLists, depositStatus } from '../../projections/deposit-status.ts';
import { type DepositQuery, depositPage } from '../../src/deposits/deposit-page.ts';
import { type DepositEvent } from '../../src/domain/deposit/events.ts';
import { STATUSES } from '../../src/domain/deposit/status-detail.ts';
import type { RecordedEvent } from '../../src/event-log/event-log.ts';
import { foldStream } from '../../src/views/fold.ts';
import type { ViewSchema } from '../../src/views/projection.ts';
import { ViewFile } from '../../src/views/store/view-file.ts';
import type { View, ViewQuery } from '../../src/views/view.ts';
import { differencesBetween } from '../../src/views/view-difference.ts';
import {
  depositCompleted,
  depositCreated,
  depositLoaded,
  depositVerified,
  entryWith,
  fallbackOrigin,
  loadingStarted,
} from '../../testing/domain/example-deposits.ts';
import { eventAt } from '../../testing/event-log/event-seen.ts';
import { seeded } from '../../testing/processes/seeded-random.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { openOneView } from '../../testing/service/one-view.ts';

const shape = { name: 'things', version: 1, countedBy: ['owner', 'kind'] };

async function viewFile(t: ExecutionContext, schema: ViewSchema = shape) {
  const view = openOneView(path.join(await temporaryFolder(t), 'views.1.sqlite'), schema);
  view.file.addLookups();
  t.teardown(() => view[Symbol.dispose]());
  return view;
}

function things(
  ...things: readonly (readonly [key: string, owner: string, kind: string] | readonly [key: string])[]
) {
  return new Map(
    things.map(([key, owner, kind]) => [key, owner === undefined ? undefined : { owner, kind }]),
  );
}

test('views are counted by several fields together while values are added, changed and removed', async (t) => {
  const file = await viewFile(t);
  file.take(
    things(['1', 'ada', 'red'], ['2', 'ada', 'red'], ['3', 'ada', 'blue'], ['4', 'bob', 'red']),
    eventAt('1'),
  );
  t.deepEqual(Object.fromEntries(file.counts({ owner: 'ada' })), { red: 2, blue: 1 });
  t.deepEqual(Object.fromEntries(file.counts()), { red: 3, blue: 1 });
  file.take(things(['1', 'ada', 'blue'], ['2', 'bob', 'red'], ['3'], ['5', 'eve', 'red']), eventAt('2'));
  t.deepEqual(Object.fromEntries(file.counts({ owner: 'ada' })), { blue: 1 });
  t.deepEqual(Object.fromEntries(file.counts({ owner: 'bob' })), { red: 2 });
  t.deepEqual(Object.fromEntries(file.counts({ owner: 'eve', kind: 'red' })), { red: 1 });
  t.deepEqual(Object.fromEntries(file.counts({ owner: 'nobody' })), {});
  t.throws(() => file.counts({ colour: 'red' }), { instanceOf: TypeError, message: /not counted by colour/ });
  file.file.clear();
  t.is(file.counts().size, 0);
});

test('texts are found within their field while values are added, changed and removed', async (t) => {
  const file = await viewFile(t, { name: 'things', version: 1, texts: ['words', 'terms'] });
  const take = (position: string, ...values: readonly [key: string, words?: string, terms?: string][]) =>
    file.take(
      new Map(
        values.map(([key, words, terms = '']) => [
          key,
          words === undefined ? undefined : { key, words, terms },
        ]),
      ),
      eventAt(position),
    );
  const found = (contains: Readonly<Record<string, readonly string[]>>) =>
    (file.find({ contains, limit: 10 }) as { key: string }[]).map(({ key }) => key);
  take('1', ['1', 'Red Paint'], ['2', 'red "lamp" OR *', ' id=paint '], ['3', 'été 100%']);
  t.deepEqual(found({ words: ['red'] }), ['1', '2']);
  t.deepEqual(found({ words: ['red', 'aint'] }), ['1']);
  t.deepEqual(found({ words: ['"lamp" OR'] }), ['2'], 'operators of the query language are plain text');
  t.deepEqual(found({ terms: [' id=paint '] }), ['2']);
  t.deepEqual(found({ words: ['ÉTÉ'] }), ['3']);
  t.deepEqual(found({ words: ['E\u0301TE\u0301'] }), ['3'], 'the same characters, as macOS writes them');
  take('2', ['1', 'blue'], ['2'], ['4', 'red cafe\u0301 \u212bngstro\u0308m']);
  t.deepEqual(found({ words: ['red'] }), ['4']);
  t.deepEqual(found({ words: ['café'] }), ['4']);
  t.deepEqual(found({ words: ['fe\u0301'] }), ['4']);
  t.deepEqual(found({ words: ['\u212bngstro\u0308m'] }), ['4'], 'neither composed nor decomposed');
  t.deepEqual(found({ words: ['blue'] }), ['1']);
});

test('texts of one or two characters are found, in any case and either normal form', async (t) => {
  const file = await viewFile(t, { name: 'things', version: 1, texts: ['words', 'terms'], labels: 'labels' });
  const texts = ['软件 存档', 'Übung [1] 50% *', 'cafe\u0301 ÇA', '软 件', 'a_c a\\d'];
  file.take(
    new Map(
      texts.map((words, at) => [`${at + 1}`, { key: `${at + 1}`, words, terms: ' @a ', labels: [`${at}`] }]),
    ),
    eventAt('1'),
  );
  const found = (words: readonly string[], query: Partial<ViewQuery> = {}) => {
    const contains = { words, ...query.contains };
    const order = { orderBy: 'key', descending: true, limit: 10 };
    return (file.find({ ...order, ...query, contains }) as { key: string }[]).map(({ key }) => key);
  };
  t.deepEqual(found(['软件']), ['1']);
  t.deepEqual(found(['件']), ['4', '1']);
  t.deepEqual(found(['软件', '存档']), ['1']);
  t.deepEqual(found(['üB']), ['2']);
  t.deepEqual(found(['ün']), []);
  t.deepEqual(found(['fé']), ['3']);
  t.deepEqual(found(['c\u0327a']), ['3']);
  for (const text of ['[', '*', '%', '[1', '1]', ']']) t.deepEqual(found([text]), ['2'], text);
  for (const text of ['_', '\\', '_c', '\\d']) t.deepEqual(found([text]), ['5'], text);
  for (const text of ['?', '^', '"', "'", '__', '%%', '_d', '\\c']) t.deepEqual(found([text]), [], text);
  t.deepEqual(found(['软', 'ung']), [], 'with a text of the index');
  t.deepEqual(found(['üb', 'ung']), ['2']);
  t.deepEqual(found(['件'], { labels: ['0'] }), ['1']);
  t.deepEqual(found(['件'], { contains: { terms: [' @a '] } }), ['4', '1']);
  t.deepEqual(found(['件'], { before: { field: 'key', value: 4 } }), ['1']);
  t.deepEqual(found(['件'], { lowestKey: 2 }), ['4']);
  t.is(
    file.candidateAt({ contains: { words: ['软'] }, orderBy: 'key', descending: true }, 1),
    4,
    'all are candidates',
  );
});

test('labels are found as a whole, together with texts, and candidates are counted in key order', async (t) => {
  const file = await viewFile(t, { name: 'things', version: 1, texts: ['words'], labels: 'labels' });
  const take = (position: string, ...values: readonly [key: string, words?: string, ...labels: string[]][]) =>
    file.take(
      new Map(
        values.map(([key, words, ...labels]) => [
          key,
          words === undefined ? undefined : { key, words, labels },
        ]),
      ),
      eventAt(position),
    );
  const found = (query: Partial<ViewQuery>) =>
    (file.find({ orderBy: 'key', descending: true, limit: 10, ...query }) as { key: string }[]).map(
      ({ key }) => key,
    );
  take('1', ['1', 'red', 'a', 'b'], ['2', 'red', 'a'], ['3', 'blue', "it's"], ['10', 'red lamp', 'a', 'a']);
  t.deepEqual(found({ labels: ['a'] }), ['10', '2', '1']);
  t.deepEqual(found({ labels: ['a', 'b'] }), ['1']);
  t.deepEqual(found({ labels: ["it's"] }), ['3']);
  t.deepEqual(found({ labels: ['it'] }), []);
  t.deepEqual(found({ labels: ['a'], contains: { words: ['lamp'] } }), ['10']);
  t.deepEqual(found({ labels: ['a'], before: { field: 'key', value: 10 }, lowestKey: 2 }), ['2']);
  t.is(file.count({ labels: ['a'], equal: { words: 'red' } }), 2);
  const candidate = (place: number, query: Partial<ViewQuery>) =>
    file.candidateAt({ descending: true, equal: { words: 'no view has it' }, ...query }, place);
  t.deepEqual(
    [0, 2, 3].map((place) => candidate(place, { labels: ['a'] })),
    [10, 1, undefined],
  );
  t.is(candidate(0, { contains: { words: ['red'] }, before: { field: 'key', value: 10 } }), 2);
  t.is(candidate(1, { contains: { words: ['red'] }, labels: ['b'] }), undefined);
  take('2', ['1', 'red', 'b', 'c'], ['2'], ['4', 'red', 'a']);
  t.deepEqual(found({ labels: ['a'] }), ['10', '4']);
  t.deepEqual(found({ labels: ['c'] }), ['1']);
  file.file.save();
  file.file.clear();
  file.file.addLookups();
  t.deepEqual(found({ labels: ['a'] }), []);
});

test('ids are found as a whole, together with texts and labels, while values are changed and removed', async (t) => {
  const lookups = { texts: ['words'], labels: 'labels', ids: 'ids' };
  const file = await viewFile(t, { name: 'things', version: 1, ...lookups });
  const take = (
    position: string,
    values: Readonly<Record<string, readonly [words: string, ids: string] | null>>,
  ) =>
    file.take(
      new Map(
        Object.entries(values).map(([key, value]) => [
          key,
          value === null ? undefined : { key, words: value[0], labels: [`is ${value[0]}`], ids: value[1] },
        ]),
      ),
      eventAt(position),
    );
  const found = (query: Partial<ViewQuery>) =>
    (file.find({ orderBy: 'key', descending: true, limit: 10, ...query }) as { key: string }[]).map(
      ({ key }) => key,
    );
  take('1', { 1: ['red', 'a1b2 ffff '], 2: ['blue', 'a1b2 '], 10: ['red', 'a1b2 0000 '], 11: ['red', ''] });
  t.deepEqual(found({ ids: ['a1b2'] }), ['10', '2', '1']);
  t.deepEqual(found({ ids: ['a1b2', 'ffff'] }), ['1']);
  t.deepEqual(found({ ids: ['a1b'] }), []);
  t.deepEqual(found({ ids: ['a1b2'], contains: { words: ['red'] } }), ['10', '1']);
  t.deepEqual(found({ ids: ['a1b2'], labels: ['is blue'] }), ['2']);
  t.deepEqual(found({ ids: ['a1b2'], equal: { words: 'red' }, before: { field: 'key', value: 10 } }), ['1']);
  t.is(file.candidateAt({ ids: ['a1b2'], equal: { words: 'no view has it' }, descending: true }, 1), 2);
  take('2', { 1: ['red', 'a1b2 eeee '], 2: null, 3: ['red', 'ffff '] });
  t.deepEqual(found({ ids: ['a1b2'] }), ['10', '1']);
  t.deepEqual(found({ ids: ['ffff'] }), ['3']);
  t.deepEqual(found({ ids: ['eeee'] }), ['1']);
  file.file.save();
  file.file.clear();
  file.file.addLookups();
  t.deepEqual(found({ ids: ['a1b2'] }), []);
  take('3', { 1: ['red', 'a1b2 '] });
  t.deepEqual(found({ ids: ['a1b2'], contains: { words: ['red'] } }), ['1']);
});

test('the values of one transaction are indexed together', async (t) => {
  const { file } = await viewFile(t, { name: 'things', version: 1, texts: ['words'], ids: 'ids' });
  const values = Array.from(
    { length: 50 },
    (_, key) => [`${key}`, { words: `word ${key}`, ids: `a${key}` }] as const,
  );
  file.memory.take(new Map([['things', new Map(values)]]), eventAt('1'));
  file.save();
  using database = new DatabaseSync(file.path, { readOnly: true });
  for (const index of ['things texts', 'things ids'])
    t.deepEqual(
      { ...database.prepare(`SELECT count(DISTINCT segid) AS written FROM "${index}_idx"`).get() },
      { written: 1 },
      index,
    );
});

test('a change of one value reads no table as a whole', async (t) => {
  const texts = { texts: ['words'], ids: 'ids' };
  const lookups = { indexes: [['owner']], countedBy: ['owner', 'kind'], ...texts, labels: 'labels' };
  const { file } = await viewFile(t, { ...shape, ...lookups });
  file.save();
  using database = new DatabaseSync(file.path, { readOnly: true });
  const program = database.prepare(`EXPLAIN UPDATE things SET view = '{}' WHERE key = '1'`).all();
  const tables = new Set<unknown>();
  let [triggers, read] = [0, [] as unknown[]];
  for (const { opcode, p1 } of program) {
    if (opcode === 'Init') tables.clear(); // each trigger numbers its cursors
    if (opcode === 'Init') triggers += 1;
    if (opcode === 'OpenRead' || opcode === 'OpenWrite') tables.add(p1);
    if ((opcode === 'Rewind' || opcode === 'Last') && tables.has(p1)) read = [...read, triggers];
  }
  t.true(triggers > 3, 'the program contains those of the triggers');
  t.deepEqual(read, []);
});

test('changes are visible at once, and to other processes with their position once written', async (t) => {
  const file = await viewFile(t);
  file.take(things(['1', 'ada', 'red'], ['2', 'bob', 'red']), eventAt('1'));
  file.file.save();
  file.take(things(['1', 'ada', 'blue'], ['2']), eventAt('2'));
  t.deepEqual([file.get('1'), file.get('2')], [{ owner: 'ada', kind: 'blue' }, undefined]);
  using other = new ViewFile(file.file.path);
  const stored = () => [other.storedLastSeen()?.position, other.table(shape.name).size];
  t.deepEqual(stored(), ['1', 2]);
  t.is(file.find({ equal: { kind: 'blue' }, limit: 9 }).length, 1, 'a query writes the view first');
  t.deepEqual([file.file.memory.unwritten, ...stored()], [0, '2', 1]);
});

test('a query writes nothing if its view has no unwritten values', async (t) => {
  const { file } = await viewFile(t);
  const other = { name: 'others', version: 1 };
  file.clear();
  file.add(other);
  const take = (view: string, position: string) =>
    file.memory.take(new Map([[view, new Map([['1', { owner: 'ada', kind: 'red' }]])]]), eventAt(position));
  take(other.name, '1');
  const stored = () => file.storedLastSeen()?.position;
  t.deepEqual(
    file.read(shape.name, (table) => table.find({ limit: 9 })),
    [],
  );
  t.deepEqual([file.queryablePosition(shape.name), stored()], ['1', undefined]);
  t.deepEqual([file.queryablePosition(other.name), stored()], ['1', '1']);
  take(other.name, '2');
  take(shape.name, '3');
  t.is(file.read(shape.name, (table) => table.find({ limit: 9 })).length, 1);
  t.is(stored(), '3', 'all views are written together');
});

test('counts that are wrong per owner and right in total are detected', async (t) => {
  const [one, other] = [await viewFile(t), await viewFile(t)];
  for (const file of [one, other]) file.take(things(['1', 'ada', 'red'], ['2', 'bob', 'red']), eventAt('1'));
  t.deepEqual([...differencesBetween(one.file, other.file, shape.name)], []);
  other.take(things(['3', 'bob', 'red']), eventAt('2'));
  one.take(things(['3', 'ada', 'red']), eventAt('2'));
  t.deepEqual(
    [...differencesBetween(one.file, other.file, shape.name)].map(({ key, kind }) => `${key} ${kind}`),
    ['3 different', 'counts different'],
  );
});

test('an entry without a key and a negative count are detected in lists and sums', async (t) => {
  const [one, other] = [await viewFile(t), await viewFile(t)];
  for (const file of [one, other]) file.take(things(['1', 'ada', 'red']), eventAt('1'));
  t.deepEqual([...differencesBetween(one.file, other.file, shape.name)], []);
  const database = new DatabaseSync(one.file.path);
  database.exec(`
    INSERT INTO things SELECT '', view FROM things;
    UPDATE "things counts" SET count = 1 WHERE owner = 'ada';
    INSERT INTO "things counts" VALUES ('ada', 'blue', -1);
  `);
  database.close();
  t.is(one.find({ equal: { owner: 'ada' }, limit: 9 }).length, 2);
  t.deepEqual(
    [...differencesBetween(one.file, other.file, shape.name)].map(({ key, kind }) => `${key} ${kind}`),
    [' not of the log', 'counts different'],
  );
});

test('a query with an unknown index is refused', async (t) => {
  const file = await viewFile(t, { ...shape, indexes: [['owner', 'kind']] });
  file.take(things(['1', 'ada', 'red']), eventAt('1'));
  t.is(file.find({ index: ['owner', 'kind'], equal: { owner: 'ada' }, limit: 9 }).length, 1);
  t.throws(() => file.find({ index: ['kind'], equal: { kind: 'red' }, limit: 9 }), {
    message: /no such index/,
  });
});

test('every page of every list, by number and by adjacent page, matches the complete list', async (t) => {
  const random = seeded(7);
  const any = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const [clients, collections] = [
    ['ada', 'bob'],
    ['software', 'papers'],
  ];
  const origins = [null, 'https://a.example/', 'https://b.example/'];
  const views = Array.from({ length: 120 }, (_, index) => ({
    depositId: index + 1 + (index > 60 ? 1000 : 0), // ids have gaps
    client: any(clients),
    collection: any(collections),
    status: any(STATUSES),
    origin: any(origins),
  }));
  const file = await viewFile(t, depositStatus);
  file.take(new Map(views.map((view) => [String(view.depositId), view])), eventAt('1'));
  const view = file as View<unknown> as View<DepositStatusView>;
  for (const [status, origin, pageSize] of [
    ...[null, ...STATUSES].map((one) => [one, null, 3] as const),
    ...origins.slice(1).flatMap((one) => [null, 'done' as const].map((state) => [state, one, 4] as const)),
    [null, null, 1000] as const,
  ]) {
    const query: DepositQuery = {
      client: 'ada',
      collection: 'software',
      status,
      origin,
      pageSize,
      page: 1,
      cursor: null,
    };
    const whole = views
      .filter((one) => one.client === 'ada' && one.collection === 'software')
      .filter((one) => (status ?? one.status) === one.status && (origin ?? one.origin) === one.origin)
      .map(({ depositId }) => depositId)
      .toReversed();
    const lastPage = Math.max(1, Math.ceil(whole.length / pageSize));
    for (let page = 1; page <= lastPage; page += 1) {
      const [start, end] = [(page - 1) * pageSize, page * pageSize];
      const expected = {
        ids: whole.slice(start, end),
        total: whole.length,
        lastPage,
        hasMore: page < lastPage,
        hasNewer: page > 1,
      };
      t.deepEqual(read(depositPage(view, { ...query, page })), expected);
      const [before, after] = [whole[start - 1], whole[end]];
      if (before !== undefined) {
        const cursor = { side: 'below', depositId: before } as const;
        t.deepEqual(read(depositPage(view, { ...query, page, cursor })), expected);
      }
      if (after !== undefined) {
        const cursor = { side: 'above', depositId: after } as const;
        t.deepEqual(read(depositPage(view, { ...query, page, cursor })), expected);
      }
    }
  }
});

function read({ deposits, ...others }: ReturnType<typeof depositPage>) {
  return { ids: deposits.map(({ depositId }) => depositId), ...others };
}

test('the lists of deposits have their indexes', (t) => {
  t.deepEqual(
    Object.values(depositLists).filter((index) => !depositStatus.indexes?.includes(index)),
    [],
  );
});

test("the fields of a collection's list are derived from the events", async (t) => {
  const replaced: DepositEvent = {
    type: 'MetadataReplaced',
    data: { depositId: 1, entry: entryWith({ externalIdentifier: null }) },
  };
  const added = (externalIdentifier: string | null): DepositEvent => ({
    type: 'MetadataAdded',
    data: { depositId: 1, entry: entryWith({ externalIdentifier }) },
  });
  const detailsAfter = async (...events: DepositEvent[]) => {
    const { externalIdentifier, completedAt, origin, slug } = (await folded(events)) as DepositStatusView;
    return { externalIdentifier, completedAt, origin, slug };
  };
  const nothing = { externalIdentifier: null, completedAt: null, origin: null, slug: null };
  t.deepEqual(await detailsAfter(depositCreated, added(null)), nothing);
  t.deepEqual(await detailsAfter(depositCreated, added('hal-1'), added('hal-2')), {
    ...nothing,
    externalIdentifier: 'hal-1',
  });
  t.deepEqual(await detailsAfter(depositCreated, added('hal-1'), replaced), nothing);
  const complete = { completedAt: '2026-03-01T10:00:00.000Z', origin: fallbackOrigin };
  const way = [depositCreated, depositCompleted(), depositVerified, loadingStarted, depositLoaded];
  for (const length of [2, 3, 4, 5])
    t.deepEqual(await detailsAfter(...way.slice(0, length)), { ...nothing, ...complete });
  const updated: DepositEvent = { ...added('hal-3'), type: 'MetadataUpdated' } as DepositEvent;
  t.deepEqual(await detailsAfter(...way, updated), { ...nothing, ...complete }, 'of a deposit that is done');
});

function folded(events: readonly DepositEvent[]) {
  const stored = events.map(({ type, data }, revision) => ({
    type,
    data,
    revision,
    stream: 'deposit-1',
    id: '',
    position: String(revision),
    metadata: { schemaVersion: 1, occurredAt: '2026-03-01T10:00:00.000Z' },
  }));
  async function* stream() {
    yield* stored as unknown as RecordedEvent[];
  }
  return foldStream(depositStatus, stream());
}
