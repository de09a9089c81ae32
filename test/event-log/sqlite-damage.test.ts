import { execFile } from 'node:child_process';
import { existsSync, readlinkSync } from 'node:fs';
import { copyFile, mkdir, open, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { CatchUpDeliveries } from '../../src/event-log/consumer-groups/catch-up-deliveries.ts';
import { EventLogUnavailable, EventLogUnusable } from '../../src/event-log/event-log.ts';
import { toRows } from '../../src/event-log/new-event-row.ts';
import { SqliteAppends } from '../../src/event-log/sqlite/appends.ts';
import { headFileFaults, readHead } from '../../src/event-log/sqlite/head-file.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { SqliteLogAudit } from '../../src/event-log/sqlite/sqlite-log-audit.ts';
import { logFault } from '../../src/service/process/start-errors.ts';
import { startService } from '../../src/service/service.ts';
import { describeFsError } from '../../src/tools/files/describe-fs-error.ts';
import { FILES_OF_NODE } from '../../src/tools/files.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { newLogFile, openLog } from './log-file.ts';
import { appendEach, listOf, newEvent, newEvents } from './log-under-test.ts';

const silent = { logger: silentLogger };
const DAMAGED = { instanceOf: EventLogUnusable, code: 'LOG_DAMAGED' };

test.serial('a log with a truncated or corrupt WAL is refused, and its WAL unchanged', async (t) => {
  const file = await leftByACrash(t);
  const wal = await readFile(`${file}-wal`);
  const bent = Buffer.from(wal);
  const middle = Math.floor(wal.length / 2);
  bent[middle] = (bent[middle] as number) ^ 1;
  for (const damaged of [wal.subarray(0, middle), bent, Buffer.alloc(0)]) {
    await writeFile(`${file}-wal`, damaged);
    await rm(`${file}-shm`, { force: true });
    const error = await t.throwsAsync(SqliteEventLog.open({ file }), DAMAGED);
    t.regex(error.message, /ends at event \d+, but .*\.head records \d+\. Restore it from a backup\.$/);
    t.true(damaged.equals(await readFile(`${file}-wal`)));
  }
  await writeFile(`${file}-wal`, wal);
  await rm(`${file}-shm`, { force: true });
  const log = await openLog(t, { file });
  t.is((await listOf(log.readAll())).length, 100);
});

test.serial('a missing log with an existing head file is refused, not created again', async (t) => {
  const file = await closedLog(t);
  await rm(file);
  const error = await t.throwsAsync(SqliteEventLog.open({ file }), DAMAGED);
  t.regex(error?.message ?? '', / records \d+ events\. Restore it, or also remove that file/);
  t.false(existsSync(file));
});

test.serial('an open log whose file is moved or replaced refuses appends until it is back', async (t) => {
  for (const suffix of ['', '-wal', '-shm'])
    for (const isReplaced of [false, true]) {
      const main = await newLogFile(t);
      const log = await openLog(t, { file: main });
      const file = `${main}${suffix}`;
      await log.append('a', 'none', [newEvent()]);
      await rename(file, `${file}.away`);
      if (isReplaced) await copyFile(`${file}.away`, file);
      const refused = {
        instanceOf: EventLogUnavailable,
        message: /was (moved or deleted|replaced).*Bring it back/,
      };
      await t.throwsAsync(log.ready(), refused, file);
      await t.throwsAsync(log.append('a', 0, [newEvent()]), refused, file);
      await t.throwsAsync(
        log.append('a', 0, [newEvent()]),
        refused,
        'a new connection creates no file either',
      );
      t.is(existsSync(file), isReplaced);
      await rename(`${file}.away`, file);
      await log.ready();
      t.is((await log.append('a', 0, [newEvent()])).revision, 1);
      t.is((await listOf(log.readAll())).length, 2);
    }
});

test.serial('a log that takes the place of an open one does not get the record of its end', async (t) => {
  const file = await closedLog(t);
  const copy = path.join(path.dirname(await newLogFile(t)), 'copy.sqlite');
  for (const suffix of ['', '.head']) await copyFile(`${file}${suffix}`, `${copy}${suffix}`);
  const log = await SqliteEventLog.open({ file });
  const append = () => log.append('a', 'none', [newEvent()]);
  await append();
  await t.throwsAsync(append(), { code: 'WRONG_EXPECTED_REVISION' }); // the first is recorded by then
  for (const suffix of ['', '-wal', '-shm']) await rename(`${file}${suffix}`, `${file}.away${suffix}`);
  for (const suffix of ['', '.head']) await copyFile(`${copy}${suffix}`, `${file}${suffix}`);
  await log[Symbol.asyncDispose]();
  t.is(readHead(file)?.position, 3);
  t.is((await listOf((await openLog(t, { file })).readAll())).length, 3);
  t.is((await listOf((await openLog(t, { file: `${file}.away` })).readAll())).length, 4);
});

test.serial('a log whose last event differs from its head file is refused, also for reading', async (t) => {
  for (const change of [
    `UPDATE events SET metadata = '{"hash":"forged"}' WHERE position = 3`,
    `UPDATE events SET id = x'00000000000000000000000000000000' WHERE position = 3`,
    'DELETE FROM events WHERE position = 3',
  ]) {
    const file = await closedLog(t);
    changed(file, change);
    await t.throwsAsync(SqliteEventLog.open({ file }), DAMAGED, change);
    await t.throwsAsync(SqliteEventLog.open({ file, readOnly: true }), DAMAGED, change);
  }
});

test.serial('an old, torn, empty or missing head file is accepted', async (t) => {
  const file = await closedLog(t);
  const head = await readFile(`${file}.head`);
  const heads = [
    head.subarray(0, 20),
    Buffer.concat([Buffer.alloc(4_096, '#'), head.subarray(4_096)]),
    Buffer.alloc(0),
  ];
  for (const torn of heads) {
    await writeFile(`${file}.head`, torn);
    await (await SqliteEventLog.open({ file }))[Symbol.asyncDispose]();
    t.is(readHead(file)?.position, 3);
  }
  await rm(`${file}.head`);
  const log = await SqliteEventLog.open({ file });
  await log.append('b', 'none', [newEvent()]);
  await log[Symbol.asyncDispose]();
  await writeFile(`${file}.head`, head);
  t.is((await listOf((await openLog(t, { file })).readAll())).length, 4);
});

test.serial('a head file that the disk refuses to read is named', async (t) => {
  const file = await closedLog(t);
  const readSync = () => {
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', errno: -5, syscall: 'read' });
  };
  const opening = runInWorld({ files: { ...FILES_OF_NODE, readSync } }, () => SqliteEventLog.open({ file }));
  const error = await t.throwsAsync(opening, { code: 'EIO' });
  t.is(describeFsError(error), `${file}.head cannot be read: i/o error (EIO).`);
});

test.serial('torn records of a head file are repaired when the log is opened', async (t) => {
  for (const torn of [[0], [4_096], [0, 4_096]]) {
    const file = await closedLog(t);
    const handle = await open(`${file}.head`, 'r+');
    for (const offset of torn) await handle.write('3 aa', offset);
    await handle.close();
    t.is(headFileFaults(file).length, torn.length);
    await (await SqliteEventLog.open({ file }))[Symbol.asyncDispose]();
    t.deepEqual(headFileFaults(file), []);
    t.is(readHead(file)?.position, 3);
  }
});

test.serial(
  'a head that could not be recorded after an append is recorded when the log is closed',
  async (t) => {
    const file = await closedLog(t);
    const log = await SqliteEventLog.open({ file });
    await log.append('b', 'none', [newEvent()]);
    await rm(`${file}.head`);
    await log[Symbol.asyncDispose]();
    t.is(readHead(file)?.position, 4);
  },
);

test.serial('a head path that is not a file is reported at the start and by verify', async (t) => {
  const file = await closedLog(t);
  await rm(`${file}.head`);
  await mkdir(`${file}.head`);
  const expected = { ...DAMAGED, message: /\.head, which records the end .* is not a file: remove it, / };
  await t.throwsAsync(SqliteEventLog.open({ file }), expected);
  await using audit = new SqliteLogAudit(file);
  const faults = await audit.structure();
  t.is(faults.length, 1);
  t.regex(faults[0]?.text ?? '', expected.message);
});

test.serial('a torn head record is backed by the record in the other slot', async (t) => {
  const file = await closedLog(t);
  const handle = await open(`${file}.head`, 'r+');
  const log = await SqliteEventLog.open({ file });
  await log.append('b', 'none', [newEvent()]);
  await log.append('b', 0, [newEvent()]);
  await log[Symbol.asyncDispose]();
  const newest = (await readFile(`${file}.head`, 'latin1')).indexOf('5 ');
  await handle.write('##', newest);
  await handle.close();
  changed(file, 'DELETE FROM events WHERE position >= 4');
  await t.throwsAsync(SqliteEventLog.open({ file }), DAMAGED);
});

test.serial('a file that is no event log, or of another format, is refused and unchanged', async (t) => {
  const file = await newLogFile(t);
  await writeFile(file, 'a text of some length that is no database at all. '.repeat(100));
  await t.throwsAsync(SqliteEventLog.open({ file }), DAMAGED);

  const other = `${file}-other`;
  changed(other, 'CREATE TABLE notes (text TEXT)');
  const before = await readFile(other);
  await t.throwsAsync(SqliteEventLog.open({ file: other }), {
    code: 'LOG_FORMAT_UNKNOWN',
    message: /another SQLite/,
  });
  t.true(before.equals(await readFile(other)));

  const later = await closedLog(t);
  changed(later, 'PRAGMA user_version = 7');
  await t.throwsAsync(SqliteEventLog.open({ file: later }), {
    code: 'LOG_FORMAT_UNKNOWN',
    message: /format 7/,
  });
});

test.serial('a file truncated in the middle is refused', async (t) => {
  const file = await logOfManyPages(t);
  await truncate(file, 40_960);
  await t.throwsAsync(SqliteEventLog.open({ file }), DAMAGED);
});

test.serial(
  'a start that reads a corrupt page fails with LOG_DAMAGED, not with a transient error',
  async (t) => {
    const file = await logWithDamage(t);
    const read = readConfig({ DEPOSIT_PORT: '0', DEPOSIT_DATA_DIR: path.dirname(file) });
    const config = { ...read, eventLog: { kind: 'sqlite', file } } as const;
    const start = async (): Promise<void> => {
      await using service = await startService(config, silent);
      await Promise.race([service.ready, service.failed]);
    };
    const fault = await t.throwsAsync(start(), { instanceOf: EventLogUnavailable });
    const expected = logFault(fault, config);
    t.like(expected, { code: 'LOG_DAMAGED', message: fault.message });
    t.is(logFault(new EventLogUnavailable('It is closed.'), config), undefined);
    const truncated = await logOfManyPages(t);
    await truncate(truncated, 40_960);
    const damage = await t.throwsAsync(SqliteEventLog.open({ file: truncated }), DAMAGED);
    t.like(logFault(damage, { eventLog: { kind: 'sqlite', file: truncated } }) ?? damage, {
      code: 'LOG_DAMAGED',
    });
  },
);

test.serial(
  'a start whose disk refuses reads of an intact log for a while is a transient error',
  async (t) => {
    const file = await logOfManyPages(t);
    const config = { eventLog: { kind: 'sqlite', file } } as const;
    // What SQLite makes of EIO.
    const cause = Object.assign(new Error('database disk image is malformed'), { errcode: 11 });
    const found = [
      new EventLogUnavailable(`The event log ${file} cannot be read: ${cause.message}.`, { cause }),
      new EventLogUnusable(
        'LOG_DAMAGED',
        `The event log ${file} is corrupt: ${String(cause)}. Restore it from a backup.`,
        { cause },
      ),
    ];
    const readSync = () => {
      throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', errno: -5, syscall: 'read' });
    };
    for (const fault of found) {
      t.like(logFault(fault, config), {
        code: 'EVENT_LOG_UNAVAILABLE',
        message: `${file} seemed corrupt and is intact: its disk may have refused a read.`,
      });
      runInWorld({ files: { ...FILES_OF_NODE, readSync } }, () =>
        t.like(logFault(fault, config), {
          code: 'EVENT_LOG_UNAVAILABLE',
          message: `${file} cannot be read: i/o error (EIO).`,
        }),
      );
    }
  },
);

test.serial('subscribers and receivers of unreadable events get the reason', async (t) => {
  const file = await logWithDamage(t);
  const log = await openLog(t, { file });
  const deliveries = new CatchUpDeliveries(log, path.dirname(file));
  const stop = new AbortController();
  const expected = Promise.withResolvers<string>();
  const onLastError = (reason?: string): void => {
    if (reason !== undefined) expected.resolve(reason);
  };
  const following = [
    listOf(log.subscribe({ signal: stop.signal, onLastError })),
    listOf(deliveries.receive('checker', 's', stop.signal)),
  ];
  t.regex(await expected.promise, /^The event log .* cannot be read: .*malformed/);
  while (deliveries.lastError('checker') === undefined) await setImmediate();
  t.is(deliveries.lastError('checker'), await expected.promise);
  stop.abort();
  await Promise.all(following);
});

test.serial('a file that cannot be created or is missing for reading is unavailable', async (t) => {
  const file = await newLogFile(t);
  const nowhere = path.join(path.dirname(file), 'missing', 'log.sqlite');
  const unavailable = { instanceOf: EventLogUnavailable };
  await t.throwsAsync(SqliteEventLog.open({ file: nowhere }), unavailable);
  await t.throwsAsync(SqliteEventLog.open({ file, readOnly: true }), unavailable);
});

test.serial('an event with invalid JSON is named by every read of it', async (t) => {
  for (const change of ['data = substr(data, 2)', `metadata = 'null'`]) {
    const file = await closedLog(t);
    changed(file, `UPDATE events SET ${change} WHERE position = 2`);
    const log = await openLog(t, { file });
    const named = {
      ...DAMAGED,
      message: /^The event at position 0{15}2 .* \(revision 0 of s2\) is corrupt: .*verify/,
    };
    await t.throwsAsync(listOf(log.readStream('s2')), named);
    await t.throwsAsync(listOf(log.readAll()), named);
    t.is((await listOf(log.readStream('s3'))).length, 1);
    await log.append('s2', 0, [newEvent()]);
    const backwards = log.readStream('s2', { backwards: true });
    t.like(await backwards.next(), { value: { revision: 1 } }, 'those before it can be read');
    await t.throwsAsync(backwards.next(), named);
  }
});

/** Resolves to the files of a log of a hundred events, all still in the WAL, as a crash leaves them. */
async function leftByACrash(t: ExecutionContext): Promise<string> {
  const file = await newLogFile(t);
  const log = await openLog(t, { file });
  await appendEach(log, 'a', newEvents(100));
  const copy = path.join(path.dirname(await newLogFile(t)), 'log.sqlite');
  // By another process: if this one opened and closed the file, SQLite would lose its locks.
  const files = [file, `${file}-wal`, `${file}.head`];
  await promisify(execFile)('cp', [...files, path.dirname(copy)]);
  return copy;
}

/** Resolves to a log of three events with hashes. */
async function closedLog(t: ExecutionContext): Promise<string> {
  const file = path.join(path.dirname(await newLogFile(t)), 'closed.sqlite');
  const log = await SqliteEventLog.open({ file });
  for (const number of [1, 2, 3]) {
    await log.append(`s${number}`, 'none', [{ ...newEvent(), metadata: { hash: `hash-${number}` } }]);
  }
  await log[Symbol.asyncDispose]();
  return file;
}

function changed(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

async function logOfManyPages(t: ExecutionContext): Promise<string> {
  const file = await newLogFile(t);
  const log = await SqliteEventLog.open({ file });
  for (const number of Array(20).keys()) await log.append(`s${number}`, 'none', newEvents(50));
  await log[Symbol.asyncDispose]();
  return file;
}

/** Resolves to a log whose pages in the middle are zeroed. */
async function logWithDamage(t: ExecutionContext): Promise<string> {
  const file = await logOfManyPages(t);
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill(0, bytes.length / 4, bytes.length / 2));
  return file;
}

test.serial('the head record and its directory entry are synced when the log is closed', async (t) => {
  const file = await newLogFile(t);
  const synced: string[] = [];
  const fsyncSync = (descriptor: number): void => {
    synced.push(readlinkSync(`/proc/self/fd/${descriptor}`));
  };
  runInWorld({ files: { ...FILES_OF_NODE, fsyncSync } }, () => {
    const appends = new SqliteAppends(file);
    appends.commit([[{ stream: 'deposit-1', expected: -1, rows: toRows(newEvents(1)) }]]);
    appends.recordHead();
    appends.checkpoint();
    appends.close();
  });
  t.deepEqual(synced, [`${file}.head`, path.dirname(file)]);
});
