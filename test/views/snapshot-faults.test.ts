import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import test from 'ava';
import { everyView } from '../../projections/every-view.ts';
import { WrongExpectedRevision } from '../../src/event-log/event-log.ts';
import { toChunks } from '../../src/object-store/chunks.ts';
import { FilesystemObjectStore } from '../../src/object-store/filesystem/filesystem-object-store.ts';
import { type ObjectStore, ObjectStoreUnavailable } from '../../src/object-store/object-store.ts';
import { copyStore } from '../../src/operations/copy/store-copy.ts';
import { Orphans } from '../../src/operations/gc/orphans.ts';
import { CLOCK_OF_NODE } from '../../src/tools/clock.ts';
import { FILES_OF_NODE, files } from '../../src/tools/files.ts';
import { type Files, runInWorld, type Workers } from '../../src/tools/outside-world.ts';
import { Projector } from '../../src/views/projector.ts';
import { packedCopy } from '../../src/views/snapshots/packed-copy.ts';
import {
  nameOf,
  objectsOf,
  retainedSnapshots,
  snapshotObjects,
} from '../../src/views/snapshots/snapshot-records.ts';
import { useSnapshot } from '../../src/views/snapshots/snapshot-use.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { keptLines } from '../../testing/service/kept-lines.ts';
import {
  type Changes,
  copiesIn,
  differences,
  nodeOf,
  ORIGIN,
  reasonIn,
  record,
  type Site,
  siteOf,
  stored,
} from './snapshot-nodes.ts';

test('a snapshot that was stored while the clock was ahead is replaced once the clock is right', async (t) => {
  const site = await siteOf(t);
  let now = Date.now() + 365 * 86_400_000;
  const world = { clock: { ...CLOCK_OF_NODE, now: () => now, date: () => new Date(now) } };
  const { look } = await nodeOf(t, site, { world });
  await look();
  now = Date.now();
  await look();
  t.is((await snapshotObjects(site.log)).size, 2);
});

test('a changed projection causes a snapshot at once; snapshots of two releases coexist', async (t) => {
  const site = await siteOf(t);
  const changed = everyView.map((each) => (each.name === 'collections' ? { ...each, version: 99 } : each));
  const older = await nodeOf(t, site);
  await older.look();
  const newer = await nodeOf(t, site, { projections: changed });
  t.is(newer.projector.begunFrom, 'log');
  t.regex(reasonIn(newer), /has version \d+ of collections, where this release has version 99/);
  await newer.look();
  await older.look();
  t.is((await snapshotObjects(site.log)).size, 2, 'each release has its own and creates no other');
  t.is((await nodeOf(t, site)).projector.begunFrom, 'snapshot');
  t.is((await nodeOf(t, site, { projections: changed })).projector.begunFrom, 'snapshot');
});

test('after a snapshot that this release cannot read, it stores one that it can', async (t) => {
  const site = await siteOf(t);
  const event = {
    id: crypto.randomUUID(),
    type: 'ViewSnapshotStored',
    data: {},
    metadata: { schemaVersion: 3 },
  };
  await site.log.append('view-snapshots', 'none', [event]);
  const { look } = await nodeOf(t, site);
  await look();
  t.is((await snapshotObjects(site.log)).size, 1);
});

test('of two snapshots stored concurrently, the log names one and the other is removed', async (t) => {
  const site = await siteOf(t);
  const nodes = [await nodeOf(t, site), await nodeOf(t, site)];
  await Promise.all(nodes.map(({ look }) => look()));
  t.is((await snapshotObjects(site.log)).size, 1);
  t.deepEqual(await stored(site), [...(await snapshotObjects(site.log))]);
});

test('a snapshot whose event is accepted once the quorum is back can be used', async (t) => {
  const site = await siteOf(t);
  const { look } = await nodeOf(t, site);
  const { log } = site;
  const append = log.append.bind(log);
  let accept = async (): Promise<unknown> => t.fail('nothing was appended');
  log.append = (stream, ...rest) => {
    accept = () => append(stream, ...rest); // replicated later; until then a repetition is rejected, and no read shows it
    return Promise.reject(new WrongExpectedRevision(stream, rest[0], 'unknown'));
  };
  await look();
  log.append = append;
  await accept();
  const second = await nodeOf(t, site);
  t.is(second.projector.begunFrom, 'snapshot', JSON.stringify(second.lines));
});

test('views below the minimum size cause no snapshot', async (t) => {
  const site = await siteOf(t);
  const node = await nodeOf(t, site, { fromSize: 1024 ** 3 });
  await node.look();
  t.is((await snapshotObjects(site.log)).size, 0);
});

test('an attempt that cannot read the size of the views fails safely, and the next one stores a snapshot', async (t) => {
  const site = await siteOf(t);
  const node = await nodeOf(t, site);
  const [file, elsewhere] = ['views.1.sqlite', 'elsewhere'].map((name) => path.join(node.folder, name));
  await files.rename(file as string, elsewhere as string);
  await t.notThrowsAsync(node.look());
  await files.rename(elsewhere as string, file as string);
  await node.look();
  t.is((await snapshotObjects(site.log)).size, 1);
});

test('no snapshot is stored while the disk may not have the space to make it', async (t) => {
  const site = await siteOf(t);
  let bavail = 1;
  const statfs = async () => ({ bavail, bsize: 4096 });
  const world = { files: { ...FILES_OF_NODE, statfs } as unknown as Files };
  const node = await nodeOf(t, site, { world });
  await node.look();
  t.is((await snapshotObjects(site.log)).size, 0);
  bavail = 1_000_000;
  await node.look();
  t.is((await snapshotObjects(site.log)).size, 1);
});

type Wrong = Changes & {
  readonly what: string;
  readonly reason: RegExp;
  readonly inStore?: (site: Site, sha256: string) => Promise<void>;
};

const WRONG: readonly Wrong[] = [
  {
    what: 'of another log',
    reason: /It is of another log, eventstoredb instead of sqlite/,
    change: (snapshot) => ({ ...snapshot, origin: 'eventstoredb other' }),
  },
  {
    what: 'of a log that was restored, with the same events at other positions',
    reason: /It is of another log, which has the event/,
    change: ({ lastSeen, ...rest }) => ({ ...rest, lastSeen: { ...lastSeen, id: crypto.randomUUID() } }),
  },
  {
    what: 'newer than the log',
    reason: /It is newer than the log/,
    change: ({ lastSeen, ...rest }) => ({ ...rest, lastSeen: { ...lastSeen, position: '9'.repeat(16) } }),
  },
  {
    what: 'of an older projection',
    reason: /It has version 0 of deposit-status/,
    change: (snapshot) => ({ ...snapshot, versions: { ...snapshot.versions, 'deposit-status': 0 } }),
  },
  {
    what: 'of a node without one of the views',
    reason: /It has no people/,
    change: ({ versions: { people: _people, ...versions }, ...rest }) => ({ ...rest, versions }),
  },
  {
    what: 'with another last event than it is recorded with',
    reason: /has applied another event last/,
    inViews: 'UPDATE about SET last_seen = NULL',
  },
  {
    what: 'with entries that no stream explains',
    reason: /shows 2 of deposit-status not as its stream does/,
    inViews: `UPDATE "deposit-status" SET view = json_set(view, '$.title', 'Poison') WHERE key = '2'`,
  },
  {
    what: 'whose views are fewer than recorded',
    reason: /no such table|cannot be switched/,
    inViews: 'DROP TABLE "people"; DELETE FROM view_versions WHERE name = \'people\'',
  },
  {
    what: 'that is corrupt',
    reason: /holds other bytes/,
    inStore: (site, sha256) =>
      change(site, 'UPDATE small_object SET bytes = zeroblob(length(bytes)) WHERE sha256 = ?', sha256),
  },
  {
    what: 'that the store has lost',
    reason: /has no object/,
    inStore: ({ store }, sha256) => store.remove(sha256),
  },
];

for (const wrong of WRONG) {
  test(`a snapshot ${wrong.what} is refused, and the log is read`, async (t) => {
    const site = await siteOf(t);
    const honest = await nodeOf(t, site);
    const snapshot = await record(t, site, honest.folder, wrong);
    await wrong.inStore?.(site, nameOf(snapshot));
    const node = await nodeOf(t, site);
    t.is(node.projector.begunFrom, 'log');
    t.regex(reasonIn(node), wrong.reason);
    t.deepEqual(differences(honest, node), []);
    t.deepEqual(copiesIn(node.folder), []);
  });
}

test('a snapshot of an older release is used, which names the log as that node spells its hosts', async (t) => {
  const site = await siteOf(t);
  const honest = await nodeOf(t, site);
  const named = `${ORIGIN} db-1:2113,db-2:2113`;
  await record(t, site, honest.folder, {
    change: (snapshot) => ({ ...snapshot, origin: named }),
    inViews: `UPDATE about SET origin = '${named}'`,
  });
  const node = await nodeOf(t, site);
  t.is(node.projector.begunFrom, 'snapshot');
  t.deepEqual(differences(honest, node), []);
});

test('a snapshot that is larger than an object may be is stored in parts, and none is left of one that failed', async (t) => {
  const site = await siteOf(t, undefined, []);
  const node = await nodeOf(t, site, { partBytes: 2000 });
  await node.look();
  const [snapshot] = await retainedSnapshots(site.log);
  const parts = snapshot?.parts ?? [];
  t.true(parts.length > 2);
  t.true(parts.every(({ length }) => length <= 2000));
  t.deepEqual((await stored(site)).sort(), objectsOf(await retainedSnapshots(site.log)).toSorted());
  const next = await nodeOf(t, site);
  t.is(next.projector.begunFrom, 'snapshot');
  t.deepEqual(differences(node, next), []);

  const before = await stored(site);
  const put: ObjectStore['put'] = async (source) => {
    if ((await stored(site)).length > before.length + 1) throw new Error('The store is full.');
    return await site.store.put(source);
  };
  const full = Object.assign(Object.create(site.store) as ObjectStore, {
    put,
    remove: site.store.remove.bind(site.store),
  });
  const changed = everyView.map((each) => (each.name === 'collections' ? { ...each, version: 99 } : each));
  const failing = await nodeOf(t, { ...site, store: full }, { partBytes: 2000, projections: changed });
  await failing.look();
  t.regex(JSON.stringify(failing.lines), /The store is full.*no snapshot of the views stored/);
  t.deepEqual(await stored(site), before);
});

test('a replaced snapshot that the store must retain keeps no older one, and is no reason to say that none was stored', async (t) => {
  const site = await siteOf(t);
  const [day, storedAt] = [86_400_000, new Map<string, number>()];
  let now = Date.now();
  const put: ObjectStore['put'] = async (...source) => {
    const object = await site.store.put(...source);
    storedAt.set(object.sha256, now);
    return object;
  };
  const remove: ObjectStore['remove'] = async (sha256) => {
    if (now - (storedAt.get(sha256) ?? 0) < 2.5 * day)
      throw new ObjectStoreUnavailable('It must retain this.');
    await site.store.remove(sha256);
  };
  const locked = Object.assign(Object.create(site.store) as ObjectStore, { put, remove });
  const world = { clock: { ...CLOCK_OF_NODE, now: () => now, date: () => new Date(now) } };
  const node = await nodeOf(t, { ...site, store: locked }, { world });
  for (let snapshots = 1; snapshots <= 6; snapshots += 1) {
    now += day;
    await node.look();
    t.is((await snapshotObjects(site.log)).size, snapshots);
    t.is(node.newest(), new Date(now).toISOString());
  }
  t.deepEqual((await stored(site)).sort(), [...(await snapshotObjects(site.log))].slice(0, 3).sort());
  const warnings = node.lines
    .filter(({ level }) => level === 'warn')
    .map(({ msg, objects }) => [msg, objects]);
  t.deepEqual(warnings, [
    ['snapshots of the views not removed', 1],
    ['snapshots of the views not removed', 1],
    ['snapshots of the views not removed', 1],
    ['snapshots of the views not removed', 1],
  ]);
});

test('a snapshot of another log of the same engine is no reason to store none', async (t) => {
  const site = await siteOf(t);
  const node = await nodeOf(t, site);
  const foreign = await record(t, site, node.folder, {
    change: ({ lastSeen, ...rest }) => ({ ...rest, lastSeen: { ...lastSeen, id: crypto.randomUUID() } }),
  });
  await node.look();
  const [newest] = await retainedSnapshots(site.log);
  t.notDeepEqual(newest?.parts, foreign.parts);
});

test('corrupt views cause no snapshot', async (t) => {
  const site = await siteOf(t);
  const node = await nodeOf(t, site);
  node.views.file.save();
  const file = path.join(node.folder, 'views.1.sqlite');
  using database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const page = database.prepare("SELECT pageno FROM dbstat WHERE name = 'deposit-status'").get()?.['pageno'];
  const descriptor = files.openSync(file, 'r+');
  files.writeSync(descriptor, Buffer.alloc(4096), 0, 4096, (Number(page) - 1) * 4096);
  files.closeSync(descriptor);
  await node.look();
  t.regex(JSON.stringify(node.lines), /are damaged.*no snapshot of the views stored/);
  t.is((await snapshotObjects(site.log)).size, 0);
});

test('a node that stops while it reads a snapshot stops at once, without an error', async (t) => {
  const site = await siteOf(t);
  const honest = await nodeOf(t, site);
  await record(t, site, honest.folder, {});
  const asked = Promise.withResolvers<void>();
  const get: ObjectStore['get'] = async () => {
    asked.resolve();
    return { length: 1, body: new Readable({ read: () => undefined }) };
  };
  const { logger, lines } = keptLines();
  using views = new SqliteViewStore(await temporaryFolder(t), ORIGIN);
  const source = { log: site.log, store: { get }, origin: ORIGIN, logger };
  const projector = new Projector(site.log, views, (wanted, signal) =>
    useSnapshot(source, views, wanted, signal),
  );
  for (const projection of everyView) projector.add(projection);
  const failures: unknown[] = [];
  projector.start((error) => failures.push(error)).catch((error: unknown) => failures.push(error));
  await asked.promise;
  await projector.stop();
  t.deepEqual([failures, lines], [[], []]);
});

test('gc retains the two newest snapshots, and copies of the store have none', async (t) => {
  const site = await siteOf(t, undefined, []);
  const honest = await nodeOf(t, site);
  const { sha256: archive } = await site.store.put(toChunks(Buffer.from('an archive')));
  const snapshots: string[] = [];
  for (let made = 0; made < 3; made += 1) snapshots.push(nameOf(await record(t, site, honest.folder, {})));
  using orphans = await Orphans.find({
    ...site,
    storedBefore: new Date(Date.now() + 60_000),
    progress: () => undefined,
    signal: new AbortController().signal,
  });
  t.deepEqual(Array.from(orphans, ({ sha256 }) => sha256).sort(), [archive, snapshots[0] as string].sort());
  await using target = await FilesystemObjectStore.open({ folder: await temporaryFolder(t) });
  const leftOut = await snapshotObjects(site.log);
  const copied = await copyStore(site.store, target, { named: Readable.from([]), leftOut });
  t.like(copied, { objects: 1, copied: 1, cameMeanwhile: 0 });
  t.deepEqual(await stored({ store: target }), [archive]);
});

test('a copy whose thread ends has failed', async (t) => {
  const start: Workers['start'] = () => new Worker('process.exit(7)', { eval: true });
  const order = { views: '', folder: '', packed: '', key: Buffer.alloc(0) };
  const copying = runInWorld({ workers: { start } }, () => packedCopy(order, AbortSignal.timeout(10_000)));
  await t.throwsAsync(copying, { message: 'The thread view-copy ended with code 7.' });
});

async function change({ archives }: Site, sql: string, ...values: string[]): Promise<void> {
  using database = new DatabaseSync(path.join(archives, 'small.sqlite'), { timeout: 5000 });
  database.prepare(sql).run(...values);
}
