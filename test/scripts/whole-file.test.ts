import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { writeWholeFile } from '../../src/operations/command/whole-file.ts';
import { failFileCalls } from '../../testing/event-log/failing-file-calls.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { logOnDouble } from '../event-log/log-on-double.ts';

const lines = async function* () {
  yield 'one\n';
  yield 'two\n';
};
const { signal } = new AbortController();

test('a file is not written once its signal has aborted', async (t) => {
  const folder = await temporaryFolder(t);
  const aborted = AbortSignal.abort(new Error('stopped'));
  await t.throwsAsync(writeWholeFile(path.join(folder, 'export'), lines(), aborted), { message: 'stopped' });
  t.deepEqual(await readdir(folder), []);
});

test.serial('a file whose name is not synced is not reported as written', async (t) => {
  const file = path.join(await temporaryFolder(t), 'export');
  const syncs = await failFileCalls(t, 'sync', (count) => count === 2);
  await t.throwsAsync(writeWholeFile(file, lines(), signal), { code: 'EIO' });
  t.is(syncs.failed(), 1, 'the folder is synced after the file');
  t.true(existsSync(file));
  syncs.works();
  await writeWholeFile(file, lines(), signal);
  t.is(await readFile(file, 'utf8'), 'one\ntwo\n');
});

test.serial('a file whose bytes are not synced does not appear', async (t) => {
  const folder = await temporaryFolder(t);
  await failFileCalls(t, 'sync');
  await t.throwsAsync(writeWholeFile(path.join(folder, 'export'), lines(), signal), { code: 'EIO' });
  t.deepEqual(await readdir(folder), []);
});

test('a killed process does not prevent the next one, which has the same number in a container', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'export');
  const left = `${file}.${process.pid}.new`;
  await writeFile(left, 'on');
  await writeWholeFile(file, lines(), signal);
  t.is(await readFile(file, 'utf8'), 'one\ntwo\n');
  t.is(await readFile(left, 'utf8'), 'on', 'another container may be writing it');
});

test('a device or a pipe is not replaced by a file', async (t) => {
  const folder = await temporaryFolder(t);
  const pipe = path.join(folder, 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  for (const place of [pipe, folder])
    await t.throwsAsync(writeWholeFile(place, lines(), signal), {
      code: 'NOT_A_FILE',
      message: `${place} exists and is not a file: give another path.`,
    });
  t.true((await stat(pipe)).isFIFO());
  t.deepEqual(await readdir(folder), ['pipe']);
});

test('an export to standard output contains the events of a log on a server', async (t) => {
  const { double, log } = await logOnDouble(t);
  const occurredAt = '2026-01-01T00:00:00.000Z';
  await log.append('deposit-1', 'none', [
    { id: randomUUID(), type: 'Noted', data: {}, metadata: { occurredAt } },
  ]);
  const env = { DEPOSIT_EVENT_LOG: double.connectionString };
  const { code, out, err } = await runScript(await temporaryFolder(t), 'export', [], { env });
  t.is(code, 0, err);
  t.is(out.split('\n').length, 3, 'an event, the last line, and its end');
});
