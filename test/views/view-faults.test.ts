import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import anyTest, { type TestFn } from 'ava';
import { ReadonlyView } from '../../src/views/store/readonly-view.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import { ViewFile } from '../../src/views/store/view-file.ts';
import { ViewWriter } from '../../src/views/store/view-writer.ts';
import { eventAt } from '../../testing/event-log/event-seen.ts';
import { fullView } from '../../testing/service/full-view.ts';

const test = anyTest as TestFn<{ file: string }>;

const shape = { name: 'things', version: 1, origin: 'memory', countedBy: ['kind'] };

test.beforeEach(async (t) => {
  t.context = { file: path.join(await mkdtemp(path.join(tmpdir(), 'view-')), 'things.1.sqlite') };
});

test.afterEach.always((t) => rm(path.dirname(t.context.file), { recursive: true, force: true }));

function things(...keys: readonly string[]): ReadonlyMap<string, unknown> {
  return new Map(keys.map((key) => [key, { kind: 'red' }]));
}

/** Reads the file as another process does. */
function stored(file: string): { readonly position: string | undefined; readonly keys: readonly string[] } {
  using read = ViewFile.openReadOnly(file, shape);
  return { position: read.storedPosition(), keys: [...read.rows()].map(([key]) => key) };
}

test('what another thread could not write is written with what came after it, or nothing is', async (t) => {
  const { file } = t.context;
  for (const hasRoomAgain of [false, true]) {
    const table = ViewFile.open(file, shape);
    table.take(things('1'), eventAt('1'));
    table.save();
    {
      await using writer = new ViewWriter();
      using _full = fullView(file);
      table.take(things('2', '3'), eventAt('3'));
      const fault = await t.throwsAsync(writer.write(table), { code: 'VIEW_UNAVAILABLE' });
      t.is(fault?.message, `The view things in ${file} cannot be written: database or disk is full.`);
      table.take(things('4'), eventAt('4'));
      t.deepEqual([table.position, table.get('2'), table.queryablePosition], ['4', { kind: 'red' }, '1']);
      if (!hasRoomAgain) table[Symbol.dispose]();
    }
    const found = stored(file);
    t.deepEqual(found, { position: '1', keys: ['1'] });
    table[Symbol.dispose]();
  }
  t.deepEqual(stored(file), { position: '4', keys: ['1', '2', '3', '4'] });
});

test('what is being written elsewhere is written by nobody else meanwhile', async (t) => {
  await using writer = new ViewWriter();
  using table = ViewFile.open(t.context.file, shape);
  table.take(things('1'), eventAt('1'));
  const writing = writer.write(table);
  table.take(things('2'), eventAt('2'));
  t.throws(() => table.save(), { message: /being written already/ });
  await writing;
  t.deepEqual(stored(t.context.file), { position: '1', keys: ['1'] });
  table.save();
  t.deepEqual(stored(t.context.file), { position: '2', keys: ['1', '2'] });
});

test('a file that cannot be opened now stays as it is, one that is not ours begins anew', (t) => {
  const { file } = t.context;
  {
    using table = ViewFile.open(file, shape);
    table.take(things('1'), eventAt('1'));
  }
  const { ino } = statSync(file);
  mkdirSync(`${file}-wal`);
  const fault = t.throws(() => ViewFile.open(file, shape), { code: 'VIEW_UNAVAILABLE' });
  t.is(fault?.message, `The view things in ${file} cannot be opened: unable to open database file.`);
  t.true(existsSync(file) && statSync(file).ino === ino);
  rmdirSync(`${file}-wal`);
  t.deepEqual(stored(file), { position: '1', keys: ['1'] });
  {
    using foreign = new DatabaseSync(file);
    foreign.exec('DROP TABLE about; CREATE TABLE about (position)');
  }
  using reopened = ViewFile.open(file, shape);
  t.is(reopened.size, 0);
});

test('a page that is found to be damaged is told, and the next start begins the view anew', (t) => {
  const folder = path.dirname(t.context.file);
  {
    using store = SqliteViewStore.open(folder, shape.origin);
    const table = store.open(shape);
    const keys = Array.from({ length: 5000 }, (_, index) => `thing-${String(index).padStart(5, '0')}`);
    table.take(things(...keys), eventAt('5000'));
    store.save([table]);
  }
  const bytes = readFileSync(t.context.file);
  writeFileSync(t.context.file, bytes.fill('x', bytes.length / 2, bytes.length / 2 + 8192));
  {
    using store = SqliteViewStore.open(folder, shape.origin);
    const table = store.open(shape);
    t.is(store.damage, undefined, 'opening does not look at every page');
    const sentence = `the view things in ${t.context.file} is damaged: npm run rebuild -- things mends it, or a new start.`;
    const found = t.throws(() => table.find({ equal: { kind: 'red' }, limit: 10_000 }), {
      code: 'VIEW_UNAVAILABLE',
    });
    t.is(found?.message, `What is asked for cannot be read: ${sentence}`);
    t.is(store.damage, sentence);
  }
  using store = SqliteViewStore.open(folder, shape.origin);
  const begun = store.open(shape);
  t.deepEqual([...begun.values()], []);
  t.deepEqual([begun.position, store.damage], [undefined, undefined]);
});

test('a page that only writing meets makes the next start begin the view anew, too', (t) => {
  const folder = path.dirname(t.context.file);
  {
    using store = SqliteViewStore.open(folder, shape.origin);
    const table = store.open(shape);
    store.addLookups(table);
    table.take(things('1'), eventAt('1'));
    store.save([table]);
  }
  const page = damageRootOf(t.context.file, 'counts');
  t.true(page > 0);
  const store = SqliteViewStore.open(folder, shape.origin);
  const table = store.open(shape);
  t.deepEqual([[...table.values()].length, store.damage], [1, undefined]);
  table.take(things('2'), eventAt('2'));
  t.throws(() => store.save([table]), {
    message: /^The view file .*things\.1\.sqlite is damaged, the next start makes it anew: .*malformed\.$/,
  });
  store[Symbol.dispose]();
  using reopened = SqliteViewStore.open(folder, shape.origin);
  const begun = reopened.open(shape);
  t.deepEqual([[...begun.values()], begun.position], [[], undefined]);
});

test('who only looks at a view is told that it is damaged, and what mends it', (t) => {
  const { file } = t.context;
  {
    using table = ViewFile.open(file, shape);
    table.addLookups();
    table.take(things('1'), eventAt('1'));
  }
  const damaged = {
    code: 'VIEW_UNAVAILABLE',
    message: `The view things in ${file} is damaged: "npm run rebuild -- things" mends it.`,
  };
  damageRootOf(file, 'counts');
  {
    using view = ReadonlyView.open(file, shape);
    t.is(view.find({ limit: 9 }).length, 1);
    t.throws(() => view.counts(), damaged);
  }
  writeFileSync(file, Buffer.alloc(8192, 255));
  t.throws(() => ReadonlyView.open(file, shape), damaged);
});

test('damage that emptying a view meets is told in one sentence', (t) => {
  const { file } = t.context;
  {
    using table = ViewFile.open(file, shape);
    table.take(things('1'), eventAt('1'));
  }
  using table = ViewFile.open(file, shape);
  damageRootOf(file, 'views');
  t.throws(() => table.clear(), {
    code: 'VIEW_DAMAGED',
    message: `The view file ${file} is damaged, the next start makes it anew: database disk image is malformed.`,
  });
});

/** Returns the number of the page. */
function damageRootOf(file: string, table: string): number {
  using database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const { rootpage } = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table) as {
    rootpage: number;
  };
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(255, (rootpage - 1) * 4096, rootpage * 4096));
  return rootpage;
}
