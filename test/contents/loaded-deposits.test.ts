import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import anyTest, { type TestFn } from 'ava';
import { conditionsOf } from '../../src/contents/deposit-filter.ts';
import { LoadedDeposits } from '../../src/contents/loaded-deposits.ts';
import { ObjectReader } from '../../src/contents/object-reader.ts';
import { Resolver } from '../../src/contents/resolver.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { snapshotBody, snapshotId } from '../../src/swhid/snapshot.ts';
import { parseQualifiedSwhid } from '../../src/swhid/swhid.ts';
import { Projector } from '../../src/views/projector.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import type { ViewQuery } from '../../src/views/view.ts';
import { executeDeposit } from '../../testing/domain/commands.ts';
import { createDeposit, loadedData, reading } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';

const test = anyTest as TestFn<{ folder: string }>;

test.beforeEach(async (t) => {
  t.context = { folder: await mkdtemp(path.join(tmpdir(), 'deposit-loaded-')) };
});

test.afterEach.always((t) => rm(t.context.folder, { recursive: true, force: true }));

const { directory, revision, snapshot } = loadedData;
const alice = { client: 'alice', collections: ['papers', 'software'] };

async function load(log: EventLog, depositId: number, client = 'alice', collection = 'software') {
  const attempt = 1;
  await executeDeposit(log, depositId, { ...createDeposit({ depositId, client }), collection });
  const verified = { depositId, attempt, readings: [reading], warnings: [] };
  await executeDeposit(log, depositId, { type: 'RecordVerified', ...verified });
  await executeDeposit(log, depositId, { type: 'StartLoading', depositId, attempt });
  await executeDeposit(log, depositId, { type: 'RecordLoaded', loaded: { ...loadedData, depositId } });
}

test('deposits are found by each of their identifiers, newest first and in pages', async (t) => {
  await using log = new MemoryEventLog();
  for (const id of [1, 2, 3, 5]) await load(log, id, 'alice', id === 2 ? 'papers' : 'software');
  await load(log, 4, 'bob');
  using views = new SqliteViewStore(t.context.folder, 'log');
  const projector = new Projector(log, views);
  const deposits = new LoadedDeposits(log, projector);
  await projector.start((error) => t.fail(String(error)));
  const ids = (...asked: Parameters<LoadedDeposits['find']>) =>
    deposits.find(...asked).map(({ depositId }) => depositId);
  for (const conditions of [
    { directory },
    { revision },
    { snapshot },
    { directory, origin: loadedData.origin },
    { directory, revision, snapshot, origin: loadedData.origin },
  ]) {
    t.deepEqual(ids(alice, conditions, 10), [5, 3, 2, 1]);
    t.deepEqual(ids(alice, conditions, 2), [5, 3]);
    t.deepEqual(ids(alice, conditions, 2, 3), [2, 1]);
    t.deepEqual(ids({ ...alice, collections: ['papers'] }, conditions, 10), [2]);
    t.deepEqual(ids({ ...alice, client: 'bob' }, conditions, 10), [4]);
    t.deepEqual(ids(alice, { ...conditions, origin: 'https://elsewhere.example/' }, 10), []);
  }
  t.deepEqual(ids({ ...alice, collections: [] }, { directory }, 10), []);
  const newest = deposits.newestOfTrees(alice, 10).map(({ depositId }) => depositId);
  t.deepEqual(newest, [5], 'the newest of a tree, in any collection');
  t.false(await deposits.catchUp(), 'the views have everything');
  await projector.stop();
});

test('a search in many collections reads about as many deposits as in one, and finds the same', (t) => {
  const collections = Array.from({ length: 50 }, (_, number) => `collection-${number}`);
  let read = 0;
  /** The deposit with the id `n` is in the collection `n % 50`, and has the same tree as all others of the same `n % 7`. */
  const find = ({ equal = {}, upTo, limit }: ViewQuery) => {
    const of = collections.indexOf(String(equal['collection']));
    const last = Number(upTo?.value ?? 50_000);
    const newest = last - ((last - of + 50) % 50);
    const ids = Array.from({ length: limit }, (_, index) => newest - index * 50).filter((id) => id > 0);
    read += ids.length;
    return ids.map((depositId) => ({
      depositId,
      directory: String(depositId % 7),
      origin: 'https://a.example/',
    }));
  };
  const deposits = new LoadedDeposits(
    undefined as never,
    { add: () => ({ find }), queriesOf: () => ({}) } as never,
  );
  const requester = { client: 'alice', collections };
  const ids = (found: readonly { depositId: number }[]) => found.map(({ depositId }) => depositId);
  const newest = Array.from({ length: 100 }, (_, index) => 50_000 - index);
  t.deepEqual(ids(deposits.newestOfTrees(requester, 100)), newest.slice(0, 7));
  t.deepEqual(ids(deposits.newestOfTrees(requester, 100, 'https://b.example/')), []);
  t.deepEqual(ids(deposits.find(requester, { directory: '1' }, 100)), newest);
  t.deepEqual(ids(deposits.find(requester, { directory: '1' }, 2, 49_000)), [48_999, 48_998]);
  t.true(read < 8000, `${read} rows`);
});

test('of many deposits with an object at most a hundred are returned', async (t) => {
  await using log = new MemoryEventLog();
  for (let id = 1; id <= 102; id += 1) await load(log, id);
  using views = new SqliteViewStore(t.context.folder, 'log');
  const projector = new Projector(log, views);
  const deposits = new LoadedDeposits(log, projector);
  await projector.start((error) => t.fail(String(error)));
  const store = undefined as never; // a root directory is known without its manifest
  const resolver = new Resolver({ deposits, log, store, search: store });
  const object = await resolver.resolve(alice, [{ type: 'dir', id: directory, qualifiers: {} }]);
  if (!object) return t.fail();
  const { deposits: found, next } = resolver.depositsWith(alice, object);
  t.deepEqual([found.length, found[0]?.depositId, next], [100, 102, 3]);
  const rest = resolver.depositsWith(alice, object, 3);
  t.deepEqual(
    rest.deposits.map(({ depositId }) => depositId),
    [2, 1],
  );
  t.is(rest.next, null);
  await projector.stop();
});

test('a deposit loaded by another node is awaited, and is unknown until its event arrives', async (t) => {
  await using log = new MemoryEventLog();
  await load(log, 1);
  using views = new SqliteViewStore(t.context.folder, 'log');
  const projector = new Projector(log, views);
  const late = new LoadedDeposits(log, projector, 100);
  views.file.addLookups(); // like the views of a service that has caught up for the first time
  t.deepEqual(late.find(alice, { directory }, 1), []);
  await t.throwsAsync(late.catchUp(), { code: 'EVENT_LOG_UNAVAILABLE' });
  const deposits = new LoadedDeposits(log, projector);
  const resolver = new Resolver({ deposits, log, store: undefined as never, search: undefined as never });
  const [caughtUp, object] = await Promise.all([
    deposits.catchUp(),
    resolver.resolve(alice, [{ type: 'dir', id: directory, qualifiers: {} }]),
    projector.start((error) => t.fail(String(error))),
  ]);
  t.true(caughtUp);
  t.is(object?.deposit.depositId, 1);
  t.is(deposits.find(alice, { directory }, 1).length, 1);
  await projector.stop();
});

test('no deposit matches contradictory conditions', (t) => {
  const [one, other] = ['1'.repeat(40), '2'.repeat(40)];
  const asked = (text: string) => conditionsOf(parseQualifiedSwhid(text));
  t.deepEqual(asked(`swh:1:rev:${one};anchor=swh:1:rev:${one}`), { revision: one });
  t.is(asked(`swh:1:rev:${one};anchor=swh:1:rev:${other}`), undefined);
  t.is(asked(`swh:1:cnt:${one};visit=swh:1:snp:${one};anchor=swh:1:snp:${other}`), undefined);
  t.is(asked(`swh:1:cnt:${one};anchor=swh:1:rel:${one}`), undefined, 'no deposit has a release');
});

test('a snapshot is computed from its deposit, and an id with other bytes is not returned', async (t) => {
  const unused = undefined as never; // objects made from events need neither store nor archives
  const bytes = new ObjectReader({ store: unused, workers: unused, limits: unused });
  const branches = [{ name: 'HEAD', targetType: 'revision', target: revision }] as const;
  const bodyOf = (id: string): Buffer => {
    const swhid = { type: 'snp', id, qualifiers: {} } as const;
    const deposit = { client: 'alice', collection: 'software', ...loadedData };
    return bytes.small({ swhid, place: { type: 'snp' }, deposit, loaded: loadedData, loadedAt: '' });
  };
  t.deepEqual(bodyOf(snapshotId(branches)), snapshotBody(branches));
  t.throws(() => bodyOf(snapshot), { message: `The snapshot ${snapshot} cannot be made again.` });
});

test('one client has half of the permits for reads and waiting, and a finished read releases its permit', async (t) => {
  const unused = undefined as never;
  const reader = new ObjectReader({ store: unused, workers: unused, limits: unused });
  const held = [await reader.permit('alice'), await reader.permit('alice')];
  const gone = new AbortController();
  const waiting = Array.from({ length: 32 }, () => reader.permit('alice', gone.signal));
  await t.throwsAsync(reader.permit('alice'), { code: 'READERS_BUSY', message: /^Too many contents/ });
  const [bob, carol] = [await reader.permit('bob'), await reader.permit('carol')];
  gone.abort(new Error('left'));
  for (const permit of waiting) await t.throwsAsync(permit, { message: 'left' });
  for (const permit of [...held, bob, carol]) permit[Symbol.dispose]();
  await reader.permit('alice');
});

test('a refused, aborted or unsuccessful search leaves nothing open', async (t) => {
  const closed: string[] = [];
  const object = {
    source: { kind: 'bytes', bytes: Buffer.alloc(0) } as const,
    length: 0,
    [Symbol.asyncDispose]: async () => void closed.push('manifest'),
  };
  const find = (_order: unknown, _time: number, signal?: AbortSignal) =>
    Promise.reject(signal?.aborted ? signal.reason : new Error('broken'));
  const store = { materialize: async () => object } as never;
  const limits = { wallTime: 1, wallBytesPerMs: 1 };
  const reader = new ObjectReader({ store, workers: { find, read: undefined as never }, limits });
  const query = { kind: 'leaf', id: directory } as const;
  await t.throwsAsync(reader.find('a', query, AbortSignal.abort(new Error('left'))), { message: 'left' });
  await t.throwsAsync(reader.find('a', query), { message: 'broken' });
  t.deepEqual(closed, ['manifest', 'manifest']);
});
