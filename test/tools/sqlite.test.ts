import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { openForWriting } from '../../src/event-log/sqlite/connection.ts';
import { assertUndamaged } from '../../src/event-log/sqlite/corruption-check.ts';
import { assertKnownFormat, openToWrite } from '../../src/object-store/filesystem/object-database.ts';
import { isDamage, sqliteReason } from '../../src/tools/sqlite/codes.ts';
import { openTwice, readTwice } from '../../src/tools/sqlite/found-twice.ts';
import { openViewFile } from '../../src/views/store/open-view-file.ts';
import { viewUnavailable } from '../../src/views/view-unavailable.ts';
import { leaveJournal } from '../../testing/event-log/tampering.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const FAILED_READ = Object.assign(new Error('disk I/O error'), { errcode: 266 });
const SHORT_READ = Object.assign(new Error('disk I/O error'), { errcode: 522 });
const DAMAGE = Object.assign(new Error('database disk image is malformed'), { errcode: 11 });

test('a page read wrongly once is read again from the disk', async (t) => {
  const file = path.join(await temporaryFolder(t), 'rows.sqlite');
  using database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT) STRICT');
  database.exec(`INSERT INTO rows VALUES (1, 'one'); PRAGMA wal_checkpoint(TRUNCATE)`);
  execFileSync('cp', [file, `${file}.whole`]);
  database.exec('PRAGMA shrink_memory');
  // By other processes: closing the file in this one would drop the locks of SQLite.
  execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=4096', 'seek=1', 'count=1', 'conv=notrunc'], {
    stdio: 'ignore',
  });
  let reads = 0;
  const read = (): unknown => {
    reads += 1;
    if (reads === 2)
      execFileSync('dd', [`if=${file}.whole`, `of=${file}`, 'conv=notrunc'], { stdio: 'ignore' });
    return database.prepare('SELECT text FROM rows').get()?.['text'];
  };
  t.is(readTwice(database, read), 'one');
  t.is(reads, 2);
});

test('a read that the disk refuses once is repeated', (t) => {
  using database = new DatabaseSync(':memory:');
  for (const fault of [FAILED_READ, SHORT_READ]) {
    let reads = 0;
    const read = (): unknown => {
      reads += 1;
      if (reads === 1) throw fault;
      return database.prepare('SELECT 1 AS one').get()?.['one'];
    };
    t.is(readTwice(database, read), 1);
    t.is(reads, 2);
  }
});

test('a failure that repeats is an error, and other errors are not retried', async (t) => {
  for (const [fault, times] of [
    [DAMAGE, 2],
    [FAILED_READ, 2],
    [Object.assign(new Error('a refused write'), { errcode: 778 }), 1],
    [new Error('another'), 1],
  ] as const) {
    let tries = 0;
    const failing = (): never => {
      tries += 1;
      throw fault;
    };
    t.is(
      t.throws(() => openTwice(failing)),
      fault,
    );
    t.is(tries, times, fault.message);
    t.is(isDamage(fault), fault === DAMAGE);
  }
});

const NOBODY = 65_534;

for (const [name, open] of Object.entries({
  'a file of views': (file: string) => openViewFile(file, 'sqlite'),
  'a table of small objects': (file: string) => {
    assertKnownFormat(file);
    return openToWrite(file);
  },
  'an event log': (file: string) => {
    assertUndamaged(file);
    return openForWriting(file);
  },
})) {
  test(`${name} that the system opens to read only is refused, and opened once that is over`, (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sqlite-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    chmodSync(folder, 0o777);
    const file = path.join(folder, 'file.sqlite');
    open(file)[Symbol.dispose]();
    chmodSync(file, 0o444);
    const isRoot = process.geteuid?.() === 0; // may write every file
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      t.notThrows(() => new DatabaseSync(file).close(), 'SQLite says nothing');
      t.throws(() => open(file), { message: /attempt to write a readonly database/ });
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    chmodSync(file, 0o666);
    open(file)[Symbol.dispose]();
  });

  test(`${name} whose creation was interrupted by a crash is created again`, async (t) => {
    const file = path.join(await temporaryFolder(t), 'file.sqlite');
    for (const sql of ['PRAGMA journal_mode = WAL', '']) {
      rmSync(file, { force: true });
      const created = new DatabaseSync(file);
      created.exec(sql);
      created.close();
      leaveJournal(file);
      open(file)[Symbol.dispose]();
      t.false(existsSync(`${file}-journal`));
    }
  });
}

test('a -shm that cannot be extended is described by what may be wrong', (t) => {
  const fault = Object.assign(new Error('disk I/O error'), { errcode: 4874 });
  t.is(sqliteReason(fault), 'its disk is full or fails');
  t.like(viewUnavailable('views.sqlite', 'opened', fault), {
    message: 'The views in views.sqlite cannot be opened: its disk is full or fails.',
  });
});
