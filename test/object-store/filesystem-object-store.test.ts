import { execFile } from 'node:child_process';
import { existsSync, fsyncSync as fsyncOfNode } from 'node:fs';
import {
  appendFile,
  copyFile,
  cp,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue, StatementSync } from 'node:sqlite';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { changeFile } from '../../src/object-store/filesystem/file-change.ts';
import { FilesystemObjectStore } from '../../src/object-store/filesystem/filesystem-object-store.ts';
import { FilesystemStoreAudit } from '../../src/object-store/filesystem/filesystem-store-audit.ts';
import { LastRowRecord } from '../../src/object-store/filesystem/last-row.ts';
import { OBJECT_SCHEMA, openToWrite } from '../../src/object-store/filesystem/object-database.ts';
import { packRows, rowChanger } from '../../src/object-store/filesystem/row-change.ts';
import {
  ObjectCorrupt,
  ObjectStoreUnavailable,
  ObjectUnreadable,
} from '../../src/object-store/object-store.ts';
import { FILES_OF_NODE } from '../../src/tools/files.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { newestSlot } from '../../src/tools/sqlite/slots.ts';
import { failFileCalls } from '../../testing/event-log/failing-file-calls.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { breakingAfter, bytesOf, inChunks, listOf, md5Of, newBody, sha256Of } from './bodies.ts';
import { archiveStoreContract } from './contract.ts';
import { losesNoPuts } from './killed-puts.ts';

const SMALL = 1000;
const LARGE = 300_000;

archiveStoreContract(async (t) => (await openIn(t, await temporaryFolder(t))).store);

test.serial('five hundred failed puts leave no descriptor open', async (t) => {
  const { store, folder } = await openIn(t, await temporaryFolder(t));
  await failingPuts(store, 10);
  const before = await openDescriptors(folder);
  t.true(before > 0, 'its database is open');
  await failingPuts(store, 500);
  t.is(await openDescriptors(folder), before);
  t.is(await store.sweepIncoming(later(), { dryRun: true }), 0);
});

test('other work runs between two pages of a list of small objects', async (t) => {
  const { store, folder } = await openIn(t, await temporaryFolder(t));
  {
    using database = new DatabaseSync(path.join(folder, 'small.sqlite'));
    database.exec(`
      WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 2500)
      INSERT INTO small_object (sha256, stored_at, bytes) SELECT lower(hex(randomblob(32))), 0, x'00' FROM numbers`);
  }
  const atOnce = new Map<number, number>();
  let [turn, isOver] = [0, false];
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  for await (const _object of store.list()) atOnce.set(turn, (atOnce.get(turn) ?? 0) + 1);
  isOver = true;
  t.deepEqual([...atOnce.values()], [1000, 1000, 500]);
});

test('a store that cannot be written to when it is opened leaves no descriptor open', async (t) => {
  const folder = await temporaryFolder(t);
  await (await FilesystemObjectStore.open({ folder }))[Symbol.asyncDispose]();
  {
    using otherProcess = new DatabaseSync(path.join(folder, 'small.sqlite'));
    otherProcess.exec('BEGIN IMMEDIATE');
    await t.throwsAsync(FilesystemObjectStore.open({ folder }), { instanceOf: ObjectStoreUnavailable });
  }
  t.is(await openDescriptors(folder), 0);
});

test('large objects are files under their digest, small ones are rows', async (t) => {
  const { store, folder } = await openIn(t, await temporaryFolder(t));
  const { sha256 } = await store.put(inChunks(newBody(65_537)));
  await store.put(inChunks(newBody(65_536)));
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  t.deepEqual(
    files.filter((file) => !path.basename(file).startsWith('small.sqlite')),
    [fileOf(folder, sha256)],
  );
});

test('an object whose folder is on another disk is copied there, or leaves nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const [from, file] = [path.join(folder, 'incoming'), path.join(folder, 'object')];
  const place = (failures: object): boolean =>
    runInWorld({ files: { ...FILES_OF_NODE, ...failures } }, () =>
      changeFile({ kind: 'place-file', from, file }),
    );
  const failing = (code: string) => (): never => {
    throw Object.assign(new Error(code), { code });
  };
  await writeFile(from, 'bytes');
  const full = { renameSync: failing('EXDEV'), fsyncSync: failing('ENOSPC') };
  t.throws(() => place(full), { code: 'ENOSPC' });
  t.deepEqual(await readdir(folder), ['incoming']);
  t.true(place({ renameSync: failing('EXDEV') }));
  t.deepEqual(await readdir(folder), ['object']);
  t.is(await readFile(file, 'utf8'), 'bytes');
  await writeFile(from, 'others');
  t.throws(() => place({ renameSync: failing('EACCES') }), { code: 'EACCES' });
  t.is(await readFile(file, 'utf8'), 'bytes');
});

test('small objects put concurrently are each stored unchanged', async (t) => {
  const { store } = await openIn(t, await temporaryFolder(t));
  const bodies = Array.from({ length: 60 }, (_, index) => newBody(index * 50));
  const stored = await Promise.all(bodies.map((body) => store.put(inChunks(body))));
  for (const [index, body] of bodies.entries()) {
    t.deepEqual(stored[index], { sha256: sha256Of(body), length: body.length });
    t.deepEqual(await bytesOf(store, sha256Of(body)), body);
  }
});

test('a database with the page size of an earlier release keeps it', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'small.sqlite');
  const bodies = [newBody(SMALL), newBody(SMALL)] as const;
  using earlier = new DatabaseSync(file);
  earlier.exec(`PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; ${OBJECT_SCHEMA}`);
  const put = earlier.prepare('INSERT INTO small_object (sha256, stored_at, bytes) VALUES (?, ?, ?)');
  put.run(sha256Of(bodies[0]), Date.now(), bodies[0]);
  const { store } = await openIn(t, folder);
  await store.put(inChunks(bodies[1]));
  for (const body of bodies) t.deepEqual(await bytesOf(store, sha256Of(body)), body);
  t.is(earlier.prepare('PRAGMA page_size').get()?.['page_size'], 4096);
});

test('a table with the layout of an earlier release is accepted, an unknown layout is not', async (t) => {
  const folder = await temporaryFolder(t);
  using database = new DatabaseSync(path.join(folder, 'small.sqlite'));
  database.exec(`PRAGMA journal_mode = WAL; ${OBJECT_SCHEMA.replaceAll('\n', '\n  ')}`);
  const structure = async () => {
    await using audit = new FilesystemStoreAudit(folder);
    return await audit.structure();
  };
  t.deepEqual(await structure(), []);
  database.exec('ALTER TABLE small_object ADD COLUMN note TEXT');
  t.deepEqual(
    (await structure()).map(({ text }) => /^its schema (lacks|has) /.exec(text)?.[1]),
    ['lacks', 'has'],
  );
});

test('a row whose name is no digest is a fault, also if it begins with the digest of an object', async (t) => {
  const folder = await temporaryFolder(t);
  const { store } = await openIn(t, folder);
  const body = newBody(SMALL);
  await store.put(inChunks(body));
  await store[Symbol.asyncDispose]();
  const digest = sha256Of(body);
  const faults = async (): Promise<string[]> => {
    await using audit = new FilesystemStoreAudit(folder);
    return (await audit.structure()).map(({ text }) => text);
  };
  t.deepEqual(await faults(), []);
  using database = new DatabaseSync(path.join(folder, 'small.sqlite'));
  const put = database.prepare('INSERT INTO small_object (sha256, stored_at, bytes) VALUES (?, 0, ?)');
  const names = [
    `${digest}-more`,
    `${digest}\0`,
    `${digest.slice(1)}\0`,
    digest.toUpperCase(),
    'é'.repeat(64),
    '',
  ];
  const ids = names.map((name) => put.run(name, body).lastInsertRowid);
  t.deepEqual(
    await faults(),
    ids.map((id) => `the sha256 of a row is no digest, so it is never read, with the id: ${id}`),
  );
});

test('objects in a format of a newer release are refused and unchanged', async (t) => {
  const folder = await temporaryFolder(t);
  await (await FilesystemObjectStore.open({ folder }))[Symbol.asyncDispose]();
  const file = path.join(folder, 'small.sqlite');
  {
    using database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 1');
  }
  const before = await readFile(file);
  await t.throwsAsync(FilesystemObjectStore.open({ folder }), {
    code: 'STORE_FORMAT_UNKNOWN',
    message: `${file} has objects in format 1, this release reads format 0: start the release that wrote it.`,
  });
  t.true(before.equals(await readFile(file)));
});

test('an unreadable file of small objects is named, and one that is no database is a permanent error', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'small.sqlite');
  const before = 'a text of some length that is no database at all. '.repeat(100);
  await writeFile(file, before);
  await t.throwsAsync(FilesystemObjectStore.open({ folder }), {
    code: 'STORE_DAMAGED',
    message: `${file}, the store of small objects, is corrupt: file is not a database. Restore it from a backup.`,
  });
  t.is(await readFile(file, 'utf8'), before);
  await rm(file);
  await mkdir(file);
  await t.throwsAsync(FilesystemObjectStore.open({ folder }), {
    code: 'ARCHIVE_STORE_UNAVAILABLE',
    message: `${file}, the store of small objects, cannot be opened: unable to open database file.`,
  });
});

test.serial('a file of small objects whose rows cannot be read is named', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'small.sqlite');
  const prepare: unknown = Reflect.get(DatabaseSync.prototype, 'prepare');
  t.teardown(() => Object.assign(DatabaseSync.prototype, { prepare }));
  Object.assign(DatabaseSync.prototype, {
    prepare(this: DatabaseSync, sql: string) {
      if (!sql.includes('FROM small_object')) return Reflect.apply(prepare as () => unknown, this, [sql]);
      throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
    },
  });
  await t.throwsAsync(FilesystemObjectStore.open({ folder }), {
    code: 'ARCHIVE_STORE_UNAVAILABLE',
    message: `${file}, the store of small objects, cannot be opened: disk I/O error.`,
  });
});

test('objects stored while the clock was a year ahead are no fault', async (t) => {
  const folder = await temporaryFolder(t);
  {
    await using store = await FilesystemObjectStore.open({ folder });
    await store.put(inChunks(newBody(SMALL)));
  }
  const file = path.join(folder, 'small.sqlite');
  using database = new DatabaseSync(file);
  database.exec('UPDATE small_object SET stored_at = stored_at + 365 * 86400000');
  await using audit = new FilesystemStoreAudit(folder);
  t.deepEqual(await audit.structure(), []);
});

test('objects are available after the store is reopened', async (t) => {
  const folder = await temporaryFolder(t);
  const bodies = [SMALL, LARGE].map(newBody);
  {
    await using store = await FilesystemObjectStore.open({ folder });
    for (const body of bodies) await store.put(inChunks(body));
  }
  t.false(existsSync(path.join(folder, 'small.sqlite-wal')));
  const { store } = await openIn(t, folder);
  for (const body of bodies) t.true(body.equals(await bytesOf(store, sha256Of(body))));
});

test('small objects lost with the WAL are detected at the next opening, removed ones are not', async (t) => {
  const folder = await temporaryFolder(t);
  const copyOf = async (name: string, ...without: readonly string[]): Promise<string> => {
    const copy = path.join(await temporaryFolder(t), name);
    await cp(folder, copy, { recursive: true });
    for (const suffix of without) await rm(path.join(copy, `small.sqlite${suffix}`));
    return copy;
  };
  const lossesIn = async (place: string): Promise<string[]> => {
    const losses: string[] = [];
    await using _store = await FilesystemObjectStore.open({
      folder: place,
      onLost: (why) => losses.push(why),
    });
    return losses;
  };
  const bodies = [10, 20, 30].map(newBody);
  {
    await using store = await FilesystemObjectStore.open({ folder });
    await store.put(inChunks(bodies[0] as Buffer));
  }
  {
    await using store = await FilesystemObjectStore.open({ folder });
    for (const body of bodies) await store.put(inChunks(body));
    await store.ready(); // the record of the last commit is written by then
    t.deepEqual(await lossesIn(await copyOf('whole')), []);
    const cut = await copyOf('cut', '-wal', '-shm');
    await using audit = new FilesystemStoreAudit(cut);
    t.regex(
      (await audit.structure())[0]?.text ?? '',
      /^it ends at row 1, but .*small\.sqlite\.head records row 3/,
    );
    t.regex((await lossesIn(cut))[0] ?? '', /small\.sqlite lost small objects: it ends at row 1, but/);
    t.regex((await lossesIn(await copyOf('none', '', '-wal', '-shm')))[0] ?? '', /it is missing, but/);
    await store.remove(sha256Of(bodies[2] as Buffer));
    await store.ready();
    t.deepEqual(await lossesIn(await copyOf('removed')), []);
  }
  t.deepEqual(await lossesIn(folder), []);
  await using store = await FilesystemObjectStore.open({ folder });
  for (const body of bodies) await store.remove(sha256Of(body));
  await store.ready();
  t.deepEqual(await lossesIn(await copyOf('empty')), []);
});

test('a closed store finishes its puts and accepts no more', async (t) => {
  const folder = await temporaryFolder(t);
  const store = await FilesystemObjectStore.open({ folder });
  const body = newBody(LARGE);
  const put = store.put(inChunks(body));
  await store[Symbol.asyncDispose]();
  t.is((await put).sha256, sha256Of(body));
  t.true(existsSync(fileOf(folder, sha256Of(body))));
  await t.throwsAsync(store.put(inChunks(body)), { instanceOf: ObjectStoreUnavailable });
});

for (const damage of ['flipped', 'truncated', 'longer'] as const) {
  test(`a ${damage} file is reported before its last bytes, and is replaced when it is put again`, async (t) => {
    const { store, folder } = await openIn(t, await temporaryFolder(t));
    const body = newBody(LARGE);
    const { sha256 } = await store.put(inChunks(body));
    await damaging[damage](fileOf(folder, sha256));
    t.true((await corruptAfter(t, store, sha256)) < LARGE);
    await store.put(inChunks(body));
    t.true(body.equals(await bytesOf(store, sha256)));
    t.is((await listOf(store)).length, 1);
  });
}

test('a corrupt row returns no bytes, and is replaced when it is put again', async (t) => {
  const { store, folder } = await openIn(t, await temporaryFolder(t));
  const body = newBody(SMALL);
  const { sha256 } = await store.put(inChunks(body));
  inDatabase(folder, (database) => {
    database.prepare('UPDATE small_object SET bytes = ?').run(newBody(SMALL));
  });
  t.is(await corruptAfter(t, store, sha256), 0);
  await store.put(inChunks(body));
  t.true(body.equals(await bytesOf(store, sha256)));
});

test.serial('an unreadable file is a fault of its object, reported as probably corrupt', async (t) => {
  const { store } = await openIn(t, await temporaryFolder(t));
  const { sha256 } = await store.put(inChunks(newBody(LARGE)));
  const { works } = await failFileCalls(t, 'read');
  const error = await t.throwsAsync(bytesOf(store, sha256), { instanceOf: ObjectUnreadable });
  t.is(error?.message, `The archive store cannot read the object ${sha256}, which is probably corrupt: EIO.`);
  works();
  t.is((await bytesOf(store, sha256)).length, LARGE);
});

test('a corrupt page of the database is a fault of the objects in it', async (t) => {
  const folder = await temporaryFolder(t);
  const body = newBody(SMALL);
  {
    const { store } = await openIn(t, folder);
    await store.put(inChunks(body));
    await store[Symbol.asyncDispose]();
  }
  const { page, pageSize } = inDatabase(folder, (database) => {
    const root = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'small_object'").get();
    const size = database.prepare('PRAGMA page_size').get();
    return { page: Number(root?.['rootpage']), pageSize: Number(size?.['page_size']) };
  });
  const handle = await open(path.join(folder, 'small.sqlite'), 'r+');
  await handle.write(Buffer.alloc(pageSize, 0xff), 0, pageSize, (page - 1) * pageSize);
  await handle.close();
  const { store } = await openIn(t, folder);
  await t.throwsAsync(store.get(sha256Of(body)), { instanceOf: ObjectUnreadable, message: /malformed/ });
});

for (const code of ['EIO', 'EACCES']) {
  test(`on a disk whose reads fail with ${code}, nothing is reported as missing or lost`, async (t) => {
    const folder = await temporaryFolder(t);
    const { store } = await openIn(t, folder);
    const [small, large] = [newBody(SMALL), newBody(LARGE)];
    for (const body of [small, large]) await store.put(inChunks(body));
    const refuse = () => {
      throw Object.assign(new Error(`${code}: refused`), { code });
    };
    const refusing = {
      ...FILES_OF_NODE,
      statSync: refuse,
      existsSync: () => false,
      stat: async () => refuse(),
    };
    await runInWorld({ files: refusing }, async () => {
      const losses: string[] = [];
      const opened = FilesystemObjectStore.open({ folder, onLost: (why) => losses.push(why) });
      await t.throwsAsync(opened, { instanceOf: ObjectStoreUnavailable });
      t.deepEqual(losses, []);
      for (const read of ['get', 'stat', 'materialize'] as const) {
        await t.throwsAsync(store[read](sha256Of(large)), { instanceOf: ObjectUnreadable });
      }
      await using audit = new FilesystemStoreAudit(folder);
      for (const { text } of await audit.structure()) t.notRegex(text, /missing/);
    });
    t.true(large.equals(await bytesOf(store, sha256Of(large))));
  });
}

/** Makes the first reads of rows with this key fail until the test ends. Tests must be serial. */
function failReadsOfRow(t: ExecutionContext, sha256: string, times: number): void {
  const get: unknown = Reflect.get(StatementSync.prototype, 'get');
  t.teardown(() => Object.assign(StatementSync.prototype, { get }));
  const SQLITE_IOERR_READ = 266;
  let left = times;
  Object.assign(StatementSync.prototype, {
    get(this: StatementSync, ...values: SQLInputValue[]) {
      if (values[0] !== sha256 || left === 0) return Reflect.apply(get as () => unknown, this, values);
      left -= 1;
      throw Object.assign(new Error('disk I/O error'), { errcode: SQLITE_IOERR_READ });
    },
  });
}

test.serial('a row on an unreadable page is a fault of its object', async (t) => {
  const { store } = await openIn(t, await temporaryFolder(t));
  const { sha256 } = await store.put(inChunks(newBody(SMALL)));
  failReadsOfRow(t, sha256, Infinity);
  await t.throwsAsync(store.get(sha256), { instanceOf: ObjectUnreadable });
});

test.serial('a read of a row that fails once is repeated', async (t) => {
  const { store } = await openIn(t, await temporaryFolder(t));
  const [small, large] = [newBody(SMALL), newBody(LARGE)];
  const { sha256 } = await store.put(inChunks(small));
  failReadsOfRow(t, sha256, 1);
  t.true(small.equals(await bytesOf(store, sha256)));
  failReadsOfRow(t, sha256Of(large), 1);
  await store.put(inChunks(large));
});

test.serial('a large object that cannot be looked up among the rows is not stored for now', async (t) => {
  const { store } = await openIn(t, await temporaryFolder(t));
  const large = newBody(LARGE);
  failReadsOfRow(t, sha256Of(large), Infinity);
  await t.throwsAsync(store.put(inChunks(large)), { instanceOf: ObjectStoreUnavailable });
});

test("a removed row's record does not reappear after a power cut", async (t) => {
  const file = path.join(await temporaryFolder(t), 'small.sqlite');
  using database = openToWrite(file);
  const change = rowChanger(database);
  const record = new LastRowRecord(file, database);
  const [sha256] = [1, 2].map((number) => sha256Of(Buffer.of(number))).map((name) => put(change, name));
  record.update();
  record.update();
  const durable: (string | undefined)[] = [];
  const fsyncSync = (descriptor: number): void => {
    fsyncOfNode(descriptor);
    durable.push(newestSlot(`${file}.head`)?.words[0]);
  };
  runInWorld({ files: { ...FILES_OF_NODE, fsyncSync } }, () => record.forget());
  t.deepEqual(durable, ['0'], 'before the removal is committed');
  const bytes = await readFile(`${file}.head`, 'latin1');
  t.false(bytes.includes(String(sha256)), 'in none of the slots');
});

function put(change: ReturnType<typeof rowChanger>, sha256: string): string {
  change({ kind: 'put-rows', rows: packRows([{ sha256, bytes: Buffer.alloc(10) }]) });
  return sha256;
}

test('an object that is both a file and a row is one object, and none once it is removed', async (t) => {
  const { store, folder } = await openIn(t, await temporaryFolder(t));
  const small = newBody(SMALL);
  const large = newBody(LARGE);
  await store.put(inChunks(large));
  await store.put(inChunks(small));
  await writeFile(await madeFileOf(folder, sha256Of(small)), small);
  inDatabase(folder, (database) => {
    const insert = database.prepare('INSERT INTO small_object (sha256, stored_at, bytes) VALUES (?, 0, ?)');
    insert.run(sha256Of(large), newBody(LARGE)); // damaged, too
  });
  t.is((await listOf(store)).length, 2);
  await store.put(inChunks(large));
  await store.put(inChunks(small));
  t.is((await listOf(store)).length, 2);
  t.true(large.equals(await bytesOf(store, sha256Of(large))));
  for (const { sha256 } of await listOf(store)) await store.remove(sha256);
  t.deepEqual(await listOf(store), []);
});

test('leftovers of an interrupted upload are swept once they are old, writes in progress are not', async (t) => {
  const { store, folder } = await openIn(t, await temporaryFolder(t));
  const left = path.join(folder, 'incoming', 'left-over');
  await writeFile(left, newBody(10));
  await utimes(left, new Date(0), new Date(0));
  await writeFile(path.join(folder, 'incoming', 'young'), newBody(10));
  t.is(await store.sweepIncoming(new Date(60_000), { dryRun: true }), 1);
  t.true(existsSync(left));
  t.is(await store.sweepIncoming(new Date(60_000)), 1);
  t.deepEqual(await readdir(path.join(folder, 'incoming')), ['young']);

  const body = newBody(LARGE);
  async function* source() {
    yield* inChunks(body);
    t.is(await store.sweepIncoming(later()), 1);
  }
  t.is((await store.put(source())).sha256, sha256Of(body));
});

test('a folder among the files of interrupted puts does not end the sweep', async (t) => {
  const { store, folder } = await openIn(t, await temporaryFolder(t));
  await mkdir(path.join(folder, 'incoming', 'lost+found')); // of a file system that is mounted there
  for (const name of ['first', 'second']) await writeFile(path.join(folder, 'incoming', name), 'left');
  t.is(await store.sweepIncoming(later(), { dryRun: true }), 2);
  t.is(await store.sweepIncoming(later()), 2);
  t.deepEqual(await readdir(path.join(folder, 'incoming')), ['lost+found']);
});

test('a store whose folder was removed is not ready and accepts nothing', async (t) => {
  const { store, folder } = await openIn(t, await temporaryFolder(t));
  await rm(path.join(folder, 'incoming'), { recursive: true });
  const error = await t.throwsAsync(store.ready(), { instanceOf: ObjectStoreUnavailable });
  t.true(error.cause instanceof Error);
  t.is(error.message, 'The archive store cannot write to the folder incoming: ENOENT.');
  await t.throwsAsync(store.put(inChunks(newBody(LARGE))), { instanceOf: ObjectStoreUnavailable });
});

test('a store whose database is moved or replaced while it is open accepts nothing until it is back', async (t) => {
  const { store, folder } = await openIn(t, await temporaryFolder(t));
  const away = path.join(folder, 'away');
  for (const name of ['small.sqlite', 'small.sqlite-wal', 'small.sqlite-shm']) {
    const file = path.join(folder, name);
    await rename(file, away);
    const error = await t.throwsAsync(store.ready(), { instanceOf: ObjectStoreUnavailable }, name);
    t.regex(String(error.cause), /was moved or deleted while it was in use/);
    for (const length of [SMALL, LARGE])
      await t.throwsAsync(store.put(inChunks(newBody(length))), { instanceOf: ObjectStoreUnavailable }, name);
    t.false(existsSync(file), 'nor is another created');
    await copyFile(away, file);
    await t.throwsAsync(store.put(inChunks(newBody(SMALL))), { instanceOf: ObjectStoreUnavailable }, name);
    await rename(away, file);
    await store.ready();
    await store.put(inChunks(newBody(SMALL)));
  }
});

test('a database that takes the place of an open one does not get the record of its last row', async (t) => {
  const [folder, copy] = [await temporaryFolder(t), await temporaryFolder(t)];
  const files = ['small.sqlite', 'small.sqlite.head'];
  const store = await FilesystemObjectStore.open({ folder });
  await store.put(inChunks(newBody(SMALL)));
  await store[Symbol.asyncDispose]();
  for (const name of files) await copyFile(path.join(folder, name), path.join(copy, name));
  {
    await using replaced = await FilesystemObjectStore.open({ folder });
    await replaced.put(inChunks(newBody(SMALL)));
    for (const suffix of ['', '-wal', '-shm']) await rm(path.join(folder, `small.sqlite${suffix}`));
    for (const name of files) await copyFile(path.join(copy, name), path.join(folder, name));
    await t.throwsAsync(replaced.put(inChunks(newBody(SMALL))), { instanceOf: ObjectStoreUnavailable });
  }
  const losses: string[] = [];
  await using _store = await FilesystemObjectStore.open({ folder, onLost: (why) => losses.push(why) });
  t.deepEqual(losses, []);
});

test('a row that cannot be removed leaves the record of the last row', async (t) => {
  const { store, folder } = await openIn(t, await temporaryFolder(t));
  const { sha256 } = await store.put(inChunks(newBody(SMALL)));
  const file = path.join(folder, 'small.sqlite');
  using database = new DatabaseSync(file, { timeout: 10_000 });
  database.exec(`CREATE TRIGGER full BEFORE DELETE ON small_object BEGIN SELECT RAISE(ABORT, 'full'); END`);
  await t.throwsAsync(store.remove(sha256), { instanceOf: ObjectStoreUnavailable });
  await store.ready(); // its thread has ended the change
  t.is(newestSlot(`${file}.head`)?.words[1], sha256);
});

test('an unusable folder path is refused', async (t) => {
  const file = path.join(await temporaryFolder(t), 'file');
  await writeFile(file, 'not a folder');
  const open = FilesystemObjectStore.open({ folder: path.join(file, 'store') });
  await t.throwsAsync(open, { instanceOf: ObjectStoreUnavailable });
});

test('a full disk is reported, and a failed put leaves nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const { stdout } = await inChild('puts-on-a-full-disk.ts', [folder], 'ulimit -f 1024;');
  t.deepEqual(JSON.parse(stdout), {
    large: ['ARCHIVE_STORE_UNAVAILABLE', 'EFBIG'],
    small: ['ARCHIVE_STORE_UNAVAILABLE', 'ERR_SQLITE_ERROR'],
    incoming: 0,
    damaged: 0,
    largeThere: false,
    refusedThere: false,
  });
});

test('a store that cannot write the rows of small objects is not ready', async (t) => {
  const { folder } = await openIn(t, await temporaryFolder(t)); // open, so that the -shm exists
  const { stdout } = await inChild('ready-without-rows.ts', [folder], 'ulimit -f 4;');
  const code = 'ARCHIVE_STORE_UNAVAILABLE';
  t.deepEqual(JSON.parse(stdout), { put: code, ready: code });
});

test('every put acknowledged before a SIGKILL is stored completely', async (t) => {
  await losesNoPuts(t, [140]); // more moments are in killed-puts.test.ts
});

test('several processes may concurrently open a new folder and put the same objects', async (t) => {
  const folder = await temporaryFolder(t);
  const outcomes = await Promise.all([1, 2, 3].map(() => inChild('puts-what-others-put.ts', [folder])));
  const [first] = outcomes;
  const digests: unknown = JSON.parse(first?.stdout ?? '');
  for (const { stdout } of outcomes) t.deepEqual(JSON.parse(stdout), digests);
  const { store } = await openIn(t, folder);
  t.deepEqual((await listOf(store)).map(({ sha256 }) => sha256).sort(), digests);
});

test('a file is durable before it has its name, and its name before the put is done', async (t) => {
  if (!existsSync('/usr/bin/strace')) return void t.pass('strace is not installed');
  const folder = await temporaryFolder(t);
  const trace = path.join(folder, 'trace');
  const calls = 'trace=openat,fsync,fdatasync,rename,renameat,renameat2,write';
  await inChild('puts-one.ts', [path.join(folder, 'store')], `exec strace -f -y -e ${calls} -o ${trace}`);
  const lines = (await readFile(trace, 'utf8')).split('\n').filter((line) => !line.includes('resumed'));
  const order = [
    /fdatasync\(.*incoming/,
    /rename.*incoming.*v1\/sha256/,
    /fsync\(.*v1\/sha256\/[0-9a-f]{2}\/[0-9a-f]{2}>/,
    /write\(1.*done/,
  ].map((step) => lines.findLastIndex((line) => step.test(line)));
  t.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
  );
  t.true(order.every((line) => line >= 0));
  for (const parent of ['v1/sha256/[0-9a-f]{2}', 'v1/sha256', 'v1', '']) {
    const step = new RegExp(`fsync\\(.*${path.join(folder, 'store', parent)}/?>`);
    t.true(
      lines.some((line) => step.test(line)),
      parent,
    );
  }
});

async function openIn(t: ExecutionContext, folder: string) {
  const store = await FilesystemObjectStore.open({ folder });
  t.teardown(() => store[Symbol.asyncDispose]());
  return { store, folder };
}

function fileOf(folder: string, sha256: string): string {
  return path.join(folder, 'v1', 'sha256', sha256.slice(0, 2), sha256.slice(2, 4), sha256);
}

async function madeFileOf(folder: string, sha256: string): Promise<string> {
  await mkdir(path.dirname(fileOf(folder, sha256)), { recursive: true });
  return fileOf(folder, sha256);
}

function inDatabase<Result>(folder: string, work: (database: DatabaseSync) => Result): Result {
  using database = new DatabaseSync(path.join(folder, 'small.sqlite'), { timeout: 5000 });
  return work(database);
}

const damaging = {
  flipped: async (file: string) => {
    const handle = await open(file, 'r+');
    await handle.write(Buffer.from([1, 2, 3]), 0, 3, 150_000);
    await handle.close();
  },
  truncated: (file: string) => truncate(file, LARGE - 1),
  longer: (file: string) => appendFile(file, 'x'),
};

/** Resolves to the number of bytes that were read before the damage was reported. */
async function corruptAfter(t: ExecutionContext, store: FilesystemObjectStore, sha256: string) {
  let read = 0;
  const reading = async () => {
    for await (const chunk of (await store.get(sha256)).body) read += Buffer.from(chunk).length;
  };
  await t.throwsAsync(reading, { instanceOf: ObjectCorrupt });
  return read;
}

async function failingPuts(store: FilesystemObjectStore, puts: number): Promise<void> {
  const body = newBody(100_000);
  const failing = Array.from({ length: puts }, async (_, put) => {
    if (put % 2 === 0) return store.put(breakingAfter(80_000, body));
    return store.put(inChunks(body), { md5: md5Of(Buffer.alloc(0)) });
  });
  const outcomes = await Promise.allSettled(failing);
  if (outcomes.some(({ status }) => status === 'fulfilled')) throw new Error('a put did not fail');
}

/** Returns the open descriptors of this process for files below the folder. */
async function openDescriptors(folder: string): Promise<number> {
  const names = await readdir('/proc/self/fd');
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return targets.filter((target) => target.startsWith(folder)).length;
}

function inChild(script: string, args: string[], before = '') {
  const command = `${before} "$0" "$@"`;
  return promisify(execFile)('/bin/bash', ['-c', command, process.execPath, scriptOf(script), ...args]);
}

function scriptOf(name: string): string {
  return path.join(import.meta.dirname, 'processes', name);
}

function later(): Date {
  return new Date(Date.now() + 60_000);
}
