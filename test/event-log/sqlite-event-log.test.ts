import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import type { EventLog, RecordedEvent } from '../../src/event-log/event-log.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { runInWorld, type Workers } from '../../src/tools/outside-world.ts';
import { appendingProcess } from './appending-process.ts';
import { eventLogContract } from './contract.ts';
import { losesNoEvents } from './killed-appends.ts';
import { newLogFile, openLog } from './log-file.ts';
import { appendEach, idsOf, listOf, newEvent, newEvents, revisionsOf, upTo } from './log-under-test.ts';

eventLogContract({
  durable: true,
  startsEmpty: true,
  place: async (t) => {
    const file = await newLogFile(t);
    return { open: () => SqliteEventLog.open({ file }) };
  },
});

test.serial('concurrent appends share transactions', async (t) => {
  const { log, transactions } = await countedLog(t);
  const grow = (number: number) => appendEach(log, `s${number}`, newEvents(4));
  await Promise.all(upTo(256).map(grow));
  t.is((await listOf(log.readAll())).length, 1_024);
  t.true(transactions() <= 32, `${transactions()} transactions`);
});

test.serial('other calls get their turns while a long stream is read', async (t) => {
  const log = await openLog(t, { file: await newLogFile(t) });
  await log.append('long', 'none', newEvents(950));
  let [turns, isReading] = [0, true];
  const count = (): void => {
    turns += 1;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);
  t.is((await listOf(log.readStream('long'))).length, 950);
  t.deepEqual(revisionsOf(await listOf(log.readStream('long', { backwards: true }))), upTo(950).toReversed());
  isReading = false;
  t.true(turns >= 18, `${turns} turns`);
});

test.serial('a lost race does not affect the other appends of its transaction', async (t) => {
  const { log, transactions } = await countedLog(t);
  await log.append('taken', 'none', [newEvent()]);
  const outcomes = await Promise.allSettled([
    log.append('a', 'none', newEvents(2)),
    log.append('taken', 'none', newEvents(2)),
    log.append('b', 'none', newEvents(2)),
  ]);
  t.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  t.is(transactions(), 2);
  t.is((await listOf(log.readAll())).length, 5);
});

test.serial('while another process holds the write lock, reads are answered and appends wait', async (t) => {
  const file = await newLogFile(t);
  const log = await openLog(t, { file });
  await log.append('a', 'none', [newEvent()]);
  const otherProcess = new DatabaseSync(file, { timeout: 1_000 });
  otherProcess.exec('BEGIN IMMEDIATE');
  let answered = false;
  const appending = log.append('a', 0, [newEvent()]).then(() => {
    answered = true;
  });
  for (let turn = 0; turn < 40; turn += 1) {
    t.deepEqual(revisionsOf(await listOf(log.readStream('a'))), [0]);
    await setTimeout(5);
  }
  t.false(answered);
  otherProcess.exec('ROLLBACK');
  otherProcess.close();
  await appending;
  t.deepEqual(revisionsOf(await listOf(log.readStream('a'))), [0, 1]);
});

test.serial('a log that has not answered its appends for a second is ready once it answers', async (t) => {
  const file = await newLogFile(t);
  const log = await openLog(t, { file });
  const otherProcess = new DatabaseSync(file, { timeout: 1_000 });
  otherProcess.exec('BEGIN IMMEDIATE');
  const appending = log.append('a', 'none', [newEvent()]);
  await log.ready(); // it may be slow
  await setTimeout(1_100);
  let isReady = false;
  const ready = log.ready().then(() => {
    isReady = true;
  });
  await setTimeout(200);
  t.false(isReady);
  otherProcess.exec('ROLLBACK');
  otherProcess.close();
  await Promise.all([appending, ready]);
  await log.ready();
});

test.serial('another process may append to the same file, and subscriptions here miss nothing', async (t) => {
  const file = await newLogFile(t);
  const log = await openLog(t, { file });
  const here = upTo(3).map((number) => appendEach(log, `here-${number}`, newEvents(60)));
  const other = appendingProcess(file, 'beside', 3, 60);
  const seen = await firstEvents(log, 360);
  await Promise.all(here);
  t.is(await other.ended, 0);
  t.is(other.acknowledged.length, 180);
  t.deepEqual(idsOf(seen), idsOf(await listOf(log.readAll())));
  for (const { stream, revision, id } of other.acknowledged) {
    t.true(seen.some((event) => event.id === id && event.stream === stream && event.revision === revision));
  }
});

test.serial('a repeated append with other contents is delivered as the log has it', async (t) => {
  const file = await newLogFile(t);
  const log = await openLog(t, { file, pollInterval: 1000 });
  const other = await openLog(t, { file });
  await log.append('first', 'none', [newEvent()]);
  const seeing = firstEvents(log, 2);
  await setTimeout(50); // in which the first event is delivered
  const stored = newEvent({ contents: 'first' });
  await other.append('a', 'none', [stored]); // as an append of this process whose answer was lost
  t.is((await log.append('a', 'none', [{ ...stored, data: { contents: 'other' } }])).revision, 0);
  t.deepEqual(await seeing, await listOf(log.readAll()));
});

test.serial('no acknowledged event is lost when the process is killed', async (t) => {
  await losesNoEvents(t, [20, 57]); // more moments are in killed-appends.test.ts
});

test.serial('a closed log is one file without a WAL, next to its head file', async (t) => {
  const file = await newLogFile(t);
  const log = await openLog(t, { file });
  await log.append('a', 'none', [newEvent()]);
  t.true(existsSync(`${file}-wal`));
  await log[Symbol.asyncDispose]();
  t.false(existsSync(`${file}-wal`));
  t.true(existsSync(`${file}.head`));
});

test.serial('a read-only log shows the appends of others, and refuses appends', async (t) => {
  const file = await newLogFile(t);
  const writer = await openLog(t, { file });
  await writer.append('a', 'none', [newEvent()]);
  const reader = await openLog(t, { file, readOnly: true, pollInterval: 10 });
  const seeing = firstEvents(reader, 3);
  await writer.append('a', 0, newEvents(2));
  t.deepEqual(revisionsOf(await seeing), [0, 1, 2]);
  await t.throwsAsync(reader.append('a', 2, [newEvent()]), { instanceOf: TypeError });
});

test.serial(
  'writes refused by the system are "unavailable", store nothing, and the log recovers',
  async (t) => {
    const file = await newLogFile(t);
    const script = path.join(import.meta.dirname, 'processes', 'appends-beyond-a-limit.ts');
    // In blocks of 512 bytes (POSIX) or of 1,024 (bash): 0.5 or 1 MiB, against 2 MB in one append.
    const limited = ['-c', 'ulimit -f 1024 && exec "$@"', 'sh', process.execPath, script, file];
    const { stdout } = await promisify(execFile)('sh', limited);
    const UNAVAILABLE = 'EVENT_LOG_UNAVAILABLE';
    t.deepEqual(JSON.parse(stdout), [UNAVAILABLE, UNAVAILABLE, 'appended', UNAVAILABLE, 'ready', 'appended']);
    const log = await openLog(t, { file });
    const streams = (await listOf(log.readAll())).map(({ stream }) => stream);
    t.deepEqual(streams, ['afterwards', 'last']);
  },
);

test.serial('a log whose file cannot be written is not ready before its WAL is large', async (t) => {
  const script = path.join(import.meta.dirname, 'processes', 'appends-until-refused.ts');
  // In blocks of 512 bytes (POSIX) or of 1,024 (bash): 24 or 48 MiB, in the database and in the WAL.
  const limited = ['-c', 'ulimit -f 49152 && exec "$@"', 'sh', process.execPath, script, await newLogFile(t)];
  const { stdout } = await promisify(execFile)('sh', limited);
  const { mebibytes, readiness } = JSON.parse(stdout) as Record<'mebibytes' | 'readiness', unknown>;
  t.regex(String(readiness), /it cannot write: disk I\/O error/);
  t.true(Number(mebibytes) < 20, `${String(mebibytes)} MiB`);
});

async function firstEvents(log: EventLog, count: number): Promise<RecordedEvent[]> {
  const seen: RecordedEvent[] = [];
  for await (const message of log.subscribe()) {
    if (message.kind === 'events') seen.push(...message.events);
    if (seen.length >= count) break;
  }
  return seen;
}

/** Opens a log, and counts the transactions of its writer, which answers all appends of one in a message. */
async function countedLog(t: ExecutionContext): Promise<{ log: EventLog; transactions: () => number }> {
  let messages = 0;
  const start: Workers['start'] = (program, options) =>
    new Worker(program, options).on('message', () => (messages += 1));
  const file = await newLogFile(t);
  const log = await runInWorld({ workers: { start } }, () => openLog(t, { file }));
  const before = messages;
  return { log, transactions: () => messages - before };
}
