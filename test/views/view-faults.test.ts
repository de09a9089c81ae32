import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import anyTest, { type TestFn } from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { openView } from '../../src/service/backends/open-view.ts';
import type { ViewSchema } from '../../src/views/projection.ts';
import { removeFilesPerView } from '../../src/views/store/files-per-view.ts';
import { FlushScheduler } from '../../src/views/store/flush-scheduler.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import { ViewFile } from '../../src/views/store/view-file.ts';
import { ViewFolder } from '../../src/views/store/view-folder.ts';
import { ViewWriter } from '../../src/views/store/view-writer.ts';
import type { View } from '../../src/views/view.ts';
import { eventAt } from '../../testing/event-log/event-seen.ts';
import { leaveJournal } from '../../testing/event-log/tampering.ts';
import { until } from '../../testing/processes/until.ts';
import { fullViews } from '../../testing/service/full-views.ts';
import { openOneView } from '../../testing/service/one-view.ts';
import { damageRootOf } from '../../testing/views/damaged-view.ts';

const test = anyTest as TestFn<{ file: string }>;

const shape = { name: 'things', version: 1, countedBy: ['kind'] };

test.beforeEach(async (t) => {
  t.context = { file: path.join(await mkdtemp(path.join(tmpdir(), 'view-')), 'views.1.sqlite') };
});

test.afterEach.always((t) => rm(path.dirname(t.context.file), { recursive: true, force: true }));

function things(...keys: readonly string[]): ReadonlyMap<string, unknown> {
  return new Map(keys.map((key) => [key, { kind: 'red' }]));
}

/** Reads the file as another process does. */
function stored(file: string): { readonly position: string | undefined; readonly keys: readonly string[] } {
  using read = new ViewFile(file);
  return {
    position: read.lastSeen?.position,
    keys: Array.from(read.table(shape.name).rows(), ({ key }) => key),
  };
}

test('changes that another thread could not write are written with the next ones, or not at all', async (t) => {
  const { file } = t.context;
  for (const hasRoomAgain of [false, true]) {
    const table = openOneView(file, shape);
    table.take(things('1'), eventAt('1'));
    table.file.save();
    {
      await using writer = new ViewWriter(table.file, 'served');
      using _full = fullViews(file);
      table.take(things('2', '3'), eventAt('3'));
      const fault = await t.throwsAsync(writer.write(), { code: 'VIEW_UNAVAILABLE' });
      t.is(fault?.message, `The views in ${file} cannot be written: database or disk is full.`);
      table.take(things('4'), eventAt('4'));
      t.deepEqual(
        [table.file.lastSeen?.position, table.get('2'), table.file.queryablePosition(shape.name)],
        ['4', { kind: 'red' }, '1'],
      );
      if (!hasRoomAgain) table[Symbol.dispose]();
    }
    const found = stored(file);
    t.deepEqual(found, { position: '1', keys: ['1'] });
    table[Symbol.dispose]();
  }
  t.deepEqual(stored(file), { position: '4', keys: ['1', '2', '3', '4'] });
});

test('a query writes values that a thread has not written yet, and the thread does not overwrite them', async (t) => {
  using table = openOneView(t.context.file, shape);
  await using writer = new ViewWriter(table.file, 'served');
  table.take(things('1', '2'), eventAt('1'));
  const writing = writer.write();
  table.take(new Map([['2', { kind: 'blue' }]]), eventAt('2'));
  t.deepEqual(
    table.find({ equal: { kind: 'blue' }, limit: 5 }),
    [{ kind: 'blue' }],
    'a query does not wait for the thread',
  );
  t.is(stored(t.context.file).position, '2');
  table.take(things('3'), eventAt('3'));
  await writing;
  t.is(table.file.memory.unwritten, 1);
  await writer.write();
  t.deepEqual(stored(t.context.file), { position: '3', keys: ['1', '2', '3'] });
  t.is(table.find({ equal: { kind: 'blue' }, limit: 5 }).length, 1);
});

test('many changes are written by a thread, again once a full disk has space', async (t) => {
  const { file } = t.context;
  using store = new SqliteViewStore(path.dirname(file), 'memory');
  store.add(shape);
  const failures: unknown[] = [];
  const saver = new FlushScheduler(store, new AbortController().signal, (error) => failures.push(error));
  const take = (from: number, count: number) => {
    const keys = Array.from({ length: count }, (_, index) => String(from + index));
    store.file.memory.take(new Map([[shape.name, things(...keys)]]), eventAt(String(from + count)));
    return saver.changed();
  };
  await take(1000, 100);
  t.is(stored(file).position, undefined, 'the calling thread writes nothing');
  await until(async () => stored(file).position === '1100');
  {
    using _full = fullViews(file);
    await take(1100, 100);
    await until(async () => saver.lastError !== undefined);
    t.false(saver.isFull);
    await take(1200, 1000);
    await until(async () => saver.isFull);
    const seen = new Set<boolean>();
    for (const begun = performance.now(); performance.now() - begun < 1500; ) {
      seen.add(saver.isFull);
      await new Promise(setImmediate);
    }
    t.deepEqual([...seen], [true], 'full also while a writer tries again');
    t.is(stored(file).position, '1100');
  }
  await saver.waitForSpace();
  const count = async () => (await store.add(shape).settled()).count({});
  t.is(await count(), 1200, 'a settled view has all that was accepted before');
  t.is(stored(file).position, '2200');
  store.file.memory.take(new Map([[shape.name, things('1')]]), eventAt('2201'));
  await saver.end();
  t.is(stored(file).position, '2201');
  t.deepEqual(failures, []);
});

test('views next to a journal that SQLite would write into them are made again', async (t) => {
  const { file } = t.context;
  const forged = `${file}.forged`;
  for (const [place, key] of [
    [file, '1'],
    [forged, 'forged'],
  ] as const) {
    using table = openOneView(place, shape);
    table.take(things(key), eventAt('1'));
    table.file.save();
  }
  leaveJournal(file, forged);
  using table = openOneView(file, shape);
  t.is(table.file.lastSeen, undefined, 'all events are read again');
  t.is(table.get('forged'), undefined);
  t.false(existsSync(`${file}-journal`));
});

test('a corrupt page that a thread finds ends the service, and the next start rebuilds the views', async (t) => {
  const folder = path.dirname(t.context.file);
  {
    using store = new SqliteViewStore(folder, 'memory');
    store.add(shape);
    store.file.addLookups();
    store.file.memory.take(new Map([['things', things('1')]]), eventAt('1'));
  }
  t.true(damageRootOf(t.context.file, 'things counts') > 0);
  const store = new SqliteViewStore(folder, 'memory');
  store.add(shape);
  const failed = Promise.withResolvers<unknown>();
  const saver = new FlushScheduler(store, new AbortController().signal, failed.resolve);
  store.file.memory.take(new Map([['things', things('2', '3', '4', '5', '6')]]), eventAt('6'));
  await saver.changed();
  t.like(await failed.promise, { code: 'VIEW_DAMAGED' });
  await t.throwsAsync(saver.end(), { code: 'VIEW_DAMAGED' });
  store[Symbol.dispose]();
  using reopened = new SqliteViewStore(folder, 'memory');
  t.deepEqual([...reopened.add(shape).values()], []);
});

test('a file that cannot be opened is unchanged, one of another program is replaced', (t) => {
  const { file } = t.context;
  {
    using table = openOneView(file, shape);
    table.take(things('1'), eventAt('1'));
  }
  const { ino } = statSync(file);
  mkdirSync(`${file}-wal`);
  const fault = t.throws(() => openOneView(file, shape), { code: 'VIEW_UNAVAILABLE' });
  t.is(fault?.message, `The views in ${file} cannot be opened: unable to open database file.`);
  t.true(existsSync(file) && statSync(file).ino === ino);
  rmdirSync(`${file}-wal`);
  t.deepEqual(stored(file), { position: '1', keys: ['1'] });
  {
    using foreign = new DatabaseSync(file);
    foreign.exec('DROP TABLE about; CREATE TABLE about (position)');
  }
  using reopened = openOneView(file, shape);
  t.is([...reopened.values()].length, 0);
});

const READS: Readonly<Record<string, (view: View<unknown>) => unknown>> = {
  'a query': (view) => view.find({ equal: { kind: 'red' }, limit: 10_000 }),
  'a list of all values': (view) => [...view.values()],
};

for (const [what, read] of Object.entries(READS)) {
  test(`a corrupt page that ${what} meets is reported, and the next start rebuilds the views`, async (t) => {
    const folder = path.dirname(t.context.file);
    {
      using store = new SqliteViewStore(folder, 'memory');
      store.add(shape);
      const keys = Array.from({ length: 5000 }, (_, index) => `thing-${String(index).padStart(5, '0')}`);
      store.file.memory.take(new Map([['things', things(...keys)]]), eventAt('5000'));
    }
    const bytes = readFileSync(t.context.file);
    writeFileSync(t.context.file, bytes.fill('x', bytes.length / 2, bytes.length / 2 + 8192));
    {
      using store = new SqliteViewStore(folder, 'memory');
      const view = store.add(shape);
      t.is(store.file.damage, undefined, 'opening does not read every page');
      const sentence = `the view things in ${t.context.file} is corrupt: "deposit-service rebuild things" repairs it, and so does a restart.`;
      const found = t.throws(() => read(view), { code: 'VIEW_UNAVAILABLE' });
      t.is(found?.message, `The view cannot be read: ${sentence}`);
      t.is(store.file.damage, sentence);
    }
    using store = new SqliteViewStore(folder, 'memory');
    const begun = store.add(shape);
    t.deepEqual([...begun.values()], []);
    t.deepEqual([store.file.lastSeen, store.file.damage], [undefined, undefined]);
  });
}

test('a corrupt page found only by a write makes the next start rebuild the views, too', (t) => {
  const folder = path.dirname(t.context.file);
  {
    using store = new SqliteViewStore(folder, 'memory');
    store.add(shape);
    store.file.addLookups();
    store.file.memory.take(new Map([['things', things('1')]]), eventAt('1'));
  }
  const page = damageRootOf(t.context.file, 'things counts');
  t.true(page > 0);
  const store = new SqliteViewStore(folder, 'memory');
  const view = store.add(shape);
  t.deepEqual([[...view.values()].length, store.file.damage], [1, undefined]);
  store.file.memory.take(new Map([['things', things('2')]]), eventAt('2'));
  t.throws(() => store.file.save(), {
    message: /^The view file .*views\.1\.sqlite is corrupt, the next start rebuilds it: .*malformed\.$/,
  });
  store[Symbol.dispose]();
  using reopened = new SqliteViewStore(folder, 'memory');
  const begun = reopened.add(shape);
  t.deepEqual([[...begun.values()], reopened.file.lastSeen], [[], undefined]);
});

test('a command that reads a corrupt view reports it with its remedy', (t) => {
  const dataDir = path.join(path.dirname(t.context.file), 'data');
  const file = path.join(dataDir, 'views', 'views.1.sqlite');
  const config = readConfig({ DEPOSIT_DATA_DIR: dataDir });
  {
    using view = openOneView(file, shape);
    view.file.addLookups();
    view.take(things('1'), eventAt('1'));
  }
  t.throws(() => openView(config, { name: 'others' }), { code: 'NO_VIEW' });
  damageRootOf(file, 'things counts');
  {
    using view = openView(config, shape);
    t.is(view.find({ limit: 9 }).length, 1);
    t.throws(() => view.counts(), {
      code: 'VIEW_UNAVAILABLE',
      message: `The view things in ${file} is corrupt: "deposit-service rebuild things" repairs it.`,
    });
  }
  t.false(existsSync(`${file}.damaged`), 'a command records nothing');
  writeFileSync(file, Buffer.alloc(8192, 255));
  t.throws(() => openView(config, shape), {
    code: 'VIEW_UNAVAILABLE',
    message: `The views in ${file} are corrupt: "deposit-service rebuild --all" repairs them.`,
  });
});

test('a view that missed events, or has another version, makes all views be rebuilt', (t) => {
  const folder = path.dirname(t.context.file);
  const others = { name: 'others', version: 1 };
  const fill = (...schemas: readonly ViewSchema[]) => {
    using store = new SqliteViewStore(folder, 'memory');
    for (const schema of schemas) store.add(schema);
    store.file.dropOthers();
    const found = store.file.lastSeen?.position;
    store.file.memory.take(new Map(schemas.map(({ name }) => [name, things('1')])), eventAt('1'));
    return found;
  };
  t.is(fill(shape, others), undefined);
  t.is(fill(shape, others), '1');
  t.is(fill(shape), '1', 'removing a view causes no rebuild');
  t.is(fill(shape, others), undefined, 'it was not updated meanwhile');
  t.is(fill({ ...shape, version: 2 }, others), undefined);
  t.is(fill({ ...shape, version: 2 }, others), '1');
  using store = new SqliteViewStore(folder, 'of another log');
  t.is(store.file.lastSeen, undefined);
});

test('the view files of an older release remain until those of this one are a day old', (t) => {
  const folder = new ViewFolder(path.dirname(t.context.file));
  const old = ['deposit-status.2.sqlite', 'deposit-status.2.sqlite-wal', 'client-logins.1.sqlite.damaged'];
  for (const file of old) writeFileSync(path.join(folder.path, file), '');
  writeFileSync(path.join(folder.path, 'current.json'), '{"deposit-status":2}');
  const [now, later] = [new Date(Date.now() - 1000), new Date(Date.now() + 1000)];
  t.is(removeFilesPerView(folder, later), 0, 'no others exist');
  openOneView(t.context.file, shape)[Symbol.dispose]();
  t.is(removeFilesPerView(folder, later), 0, 'the others are empty');
  {
    using view = openOneView(t.context.file, shape);
    view.take(things('1'), eventAt('1'));
  }
  t.is(removeFilesPerView(folder, now), 0, 'the others are new');
  writeFileSync(`${t.context.file}.damaged`, '');
  t.is(removeFilesPerView(folder, later), 0, 'the others are corrupt');
  rmSync(`${t.context.file}.damaged`);
  t.deepEqual(folder.filesPerView.toSorted(), old.toSorted());
  folder.use(1);
  t.is(readFileSync(path.join(folder.path, 'current.json'), 'utf8'), '{"deposit-status":2,"views":1}\n');
  t.is(removeFilesPerView(folder, later), old.length);
  t.deepEqual(folder.filesPerView, []);
  t.is(readFileSync(path.join(folder.path, 'current.json'), 'utf8'), '{"views":1}\n');
  t.deepEqual(stored(t.context.file), { position: '1', keys: ['1'] });
});

test('corruption found while a view is cleared is reported in one sentence', (t) => {
  const { file } = t.context;
  {
    using table = openOneView(file, shape);
    table.take(things('1'), eventAt('1'));
  }
  using table = openOneView(file, shape);
  damageRootOf(file, 'things');
  t.throws(() => table.file.clear(), {
    code: 'VIEW_DAMAGED',
    message: `The view file ${file} is corrupt, the next start rebuilds it: database disk image is malformed.`,
  });
});
