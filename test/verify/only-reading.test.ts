import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { depositStatus } from '../../projections/deposit-status.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { openView } from '../../src/service/backends/open-view.ts';
import { canBeUnprivileged } from '../../testing/processes/other-user.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { auditedService } from './audited-service.ts';

const service = auditedService(test, 6);

/** User as whom root, who may write anywhere, runs what must not write. */
const NOBODY = 65_534;

test('an auditor with read permission verifies a stopped service, prints histories and exports', async (t) => {
  const folder = await service.copy(t);
  if (!(await canRunAsAuditor())) return t.pass('the unprivileged user cannot read the program here');
  await onlyReadable(t, folder);
  const before = await listing(folder);
  const verified = await asAuditor(folder, 'verify', '--all');
  t.is(verified.code, 0, verified.out + verified.err);
  t.regex(verified.out, /^All proven: /m);
  t.notRegex(verified.out, /was not compared/);
  const history = await asAuditor(folder, 'history', '1');
  t.is(history.code, 0, history.err);
  t.regex(history.out, /Every hash fits\./);
  const absent = `swh:1:cnt:${'0'.repeat(40)}`; // to find none, every manifest is read
  const searched = await asAuditor(folder, 'history', absent);
  t.deepEqual([searched.code, searched.err], [1, `No deposit has ${absent}.\n`]);
  t.is((await asAuditor(folder, 'search', absent)).err, '0 events of 0 deposits.\n');
  const exported = await asAuditor(folder, 'export');
  t.is(exported.code, 0, exported.err);
  t.regex(exported.out, /"export":1/);
  const status = await asAuditor(folder, 'status');
  t.is(status.code, 0, status.err);
  t.regex(status.out, /^Deposits: \d/m);
  t.regex(status.out, /^Archives \(file\): [1-9]\d* objects, /m);
  t.deepEqual(await listing(folder), before);
});

test('an auditor with read permission also detects changes', async (t) => {
  const folder = await service.copy(t);
  if (!(await canRunAsAuditor())) return t.pass('the unprivileged user cannot read the program here');
  change(
    path.join(folder, 'event-log.sqlite'),
    `UPDATE events SET data = replace(data, 'a', 'b') WHERE position = 6`,
  );
  change(path.join(folder, 'event-log.sqlite'), 'PRAGMA journal_mode = delete');
  change(path.join(folder, 'archives', 'small.sqlite'), `UPDATE small_object SET bytes = x'00' WHERE id = 1`);
  change(path.join(folder, 'views', 'views.1.sqlite'), `DELETE FROM "deposit-status" WHERE key = '1'`);
  await onlyReadable(t, folder);
  const { code, out } = await asAuditor(folder, 'verify', '--all');
  t.is(code, 1);
  for (const found of [
    /^files: .*event-log\.sqlite: journal_mode is delete, not wal\.$/m,
    /^log: .* does not carry the hash of its contents\.$/m,
    /^objects: .* its bytes are others\.$/m,
    /^views: The view deposit-status lacks 1;/m,
  ]) {
    t.regex(out, found);
  }
});

test('data that exist only in a WAL are not skipped: without read permission the remedy is reported', async (t) => {
  const folder = await service.copy(t);
  if (!(await canRunAsAuditor())) return t.pass('the unprivileged user cannot read the program here');
  const log = path.join(folder, 'event-log.sqlite');
  const kept = path.join(folder, 'kept');
  {
    using database = new DatabaseSync(log);
    database.exec(`UPDATE events SET type = 'Other' WHERE position = 1`);
    await copyFile(`${log}-wal`, kept);
  }
  await copyFile(kept, `${log}-wal`);
  t.true((await stat(`${log}-wal`)).size > 0);
  await onlyReadable(t, folder);
  for (const [command = '', ...args] of [['verify', '--all'], ['history', '1'], ['export']]) {
    const { code, out, err } = await asAuditor(folder, command, ...args);
    t.deepEqual([code, out], [1, ''], command);
    t.regex(err, /^.*event-log\.sqlite cannot be read without permission to write.*copy the folder.*\.\n$/);
  }
});

test('status names what of the store an auditor cannot read, and hides nothing else', async (t) => {
  const folder = await service.copy(t);
  if (!(await canRunAsAuditor())) return t.pass('the unprivileged user cannot read the program here');
  const small = path.join(folder, 'archives', 'small.sqlite');
  const kept = path.join(folder, 'kept');
  {
    using database = new DatabaseSync(small);
    database.exec('UPDATE small_object SET stored_at = stored_at + 1 WHERE id = 1');
    await copyFile(`${small}-wal`, kept);
  }
  await copyFile(kept, `${small}-wal`);
  await onlyReadable(t, folder);
  for (const note of [
    /^ {2}.*small\.sqlite cannot be read without permission to write: .*copy the folder/m,
    /^ {2}Permission denied: user \S+ cannot read .*small\.sqlite\./m,
  ]) {
    const status = await asAuditor(folder, 'status');
    t.is(status.code, 0, status.err);
    t.regex(status.out, /^Deposits: \d/m);
    t.regex(status.out, /^Archives \(file\): unknown/m);
    t.regex(status.out, note);
    await chmod(small, 0o000);
  }
});

test('on a full disk the history of a stopped service is readable, and commands that write report it', async (t) => {
  const folder = await service.copy(t);
  const history = await onFullDisk(folder, 'history', '1');
  t.is(history.code, 0, history.err);
  t.regex(history.out, /Every hash fits\./);
  const status = await onFullDisk(folder, 'status');
  t.is(status.code, 0, status.err);
  t.regex(status.out, /^Archives \(file\): [1-9]\d* objects, /m);
  const refused = await onFullDisk(folder, 'collection', 'add', 'more');
  t.is(refused.code, 1);
  t.regex(refused.err, /event-log\.sqlite cannot be opened: its disk is full or fails\.\n$/);
});

test('while a writer is running an auditor with read permission sees the newest data', async (t) => {
  const folder = await service.copy(t);
  if (!(await canRunAsAuditor())) return t.pass('the unprivileged user cannot read the program here');
  using writer = new DatabaseSync(path.join(folder, 'event-log.sqlite'));
  writer.exec(`UPDATE events SET type = 'Other' WHERE position = 1`);
  await onlyReadable(t, folder);
  const { code, out } = await asAuditor(folder, 'verify', '--all');
  t.is(code, 1, 'the contents of the WAL count');
  t.regex(out, /^log: The Other at revision 0 of /m);
});

test('an item without read permission is not reported as missing, and a search creates nothing', async (t) => {
  const folder = await service.copy(t);
  if (!(await canRunAsAuditor())) return t.pass('the unprivileged user cannot read the program here');
  await onlyReadable(t, folder);
  await writeFile(path.join(folder, 'operator.json'), '{}', { mode: 0o000 });
  const history = await asAuditor(folder, 'history', '1');
  t.is(history.code, 0, history.err);
  t.regex(
    history.err,
    /^Whether a service runs on .*Permission denied: user \S+ cannot read .*operator\.json/,
  );
  const gc = await asAuditor(folder, 'gc');
  t.deepEqual([gc.code, gc.out], [1, '']);
  t.regex(
    gc.err,
    /^Permission denied: user \S+ cannot read \S*operator\.json\. Run the command as the service user, or chown the path to that user\.\n$/,
  );
  await chmod(folder, 0o000);
  const parent = await asAuditor(folder, 'client', 'add', 'eve');
  t.regex(parent.err, /^Permission denied: user \S+ cannot read \S+event-log\.sqlite\. /);
  for (const [command = '', ...args] of [['verify', '--all'], ['deposits'], ['restore', folder]]) {
    const { code, out, err } = await asAuditor(folder, command, ...args);
    t.deepEqual([code, out], [1, ''], command);
    t.regex(
      err,
      /^Permission denied: user \S+ cannot read \S+\. Run the command as the service user, or chown the path to that user\.\n$/,
    );
  }
  const started = await asAuditor(folder, '../src/main');
  t.is(started.code, 2);
  t.regex(
    started.err,
    /^Permission denied: user \S+ cannot write to \S+\. Run the command as the service user, or chown the path to that user\.\n$/m,
  );
});

test('a log or store of another user cannot be opened for writing', async (t) => {
  const folder = await service.copy(t);
  if (!(await canRunAsAuditor())) return t.pass('the unprivileged user cannot read the program here');
  await onlyReadable(t, folder);
  await chmod(folder, 0o777);
  for (const [file, command = '', code] of [
    ['event-log.sqlite', '../src/main', 2],
    ['event-log.sqlite', 'client', 1],
    ['archives', '../src/main', 2],
    ['checkpoints', '../src/main', 2],
  ] as const) {
    const args = command === 'client' ? ['disable', 'alice'] : [];
    if (file === 'checkpoints') await writable(folder, 'archives', 'uploads', 'dry-runs', 'views');
    const refused = await asAuditor(folder, command, ...args);
    t.is(refused.code, code, refused.err);
    t.regex(
      refused.err,
      new RegExp(
        `cannot write to .*/${file}\\. Run the command as the service user, or chown the path to that user\\.\n$`,
      ),
    );
    if (command === 'client') await chmod(path.join(folder, 'event-log.sqlite'), 0o666);
  }
});

test('a verification replaces and removes only a file of its own progress', async (t) => {
  const folder = await service.copy(t);
  const state = path.join(folder, 'progress');
  for (const text of ['my notes\n', '{"export":1,"events":3}\n']) {
    await writeFile(state, text);
    const refused = await runScript(folder, 'verify', ['--all', '--state', state]);
    t.is(refused.code, 2);
    t.is(refused.err, `--state ${state} exists and is not such a file of progress: give another path.\n`);
    t.is(await readFile(state, 'utf8'), text);
  }
  const noFile = await runScript(folder, 'verify', ['--all', '--state', folder]);
  t.is(noFile.code, 2, noFile.err);
  const begunAt = '2026-01-01T00:00:00.000Z';
  await writeFile(state, JSON.stringify({ version: 1, begunAt, events: 1, root: '', again: [] }));
  const verified = await runScript(folder, 'verify', ['--all', '--state', state]);
  t.is(verified.code, 0, verified.out + verified.err);
  t.false(existsSync(state));
});

test('a verification that cannot be recorded has the exit code of what it found', async (t) => {
  const folder = await service.copy(t);
  await mkdir(path.join(folder, 'last-verification', 'in-the-way'), { recursive: true });
  const { code, out, err } = await runScript(folder, 'verify', ['--all']);
  t.is(code, 0, err);
  t.regex(out, /^All proven: /m);
  t.regex(err, /last-verification.* So "deposit-service status" does not show this verification\.$/m);
});

test('a mistyped folder gets neither views nor a key', async (t) => {
  const nowhere = path.join(await service.copy(t), 'nowhere');
  t.throws(() => openView(readConfig({ DEPOSIT_DATA_DIR: nowhere }), depositStatus), {
    code: 'ENGINE_MISSING',
  });
  const { code, err } = await runScript(nowhere, 'anchor', ['--public-key']);
  t.is(code, 1);
  t.regex(err, /^No data folder at .*nowhere\. A service creates it /);
  const verified = await runScript(nowhere, 'verify', ['--all']);
  t.deepEqual([verified.code, verified.out], [1, '']);
  t.regex(verified.err, /^No event log at .*nowhere\/event-log\.sqlite\. A service creates it /);
  const env = { DEPOSIT_EVENT_LOG: `sqlite:${path.dirname(nowhere)}/event-log.sqlite` };
  const status = await runScript(nowhere, 'status', [], { env });
  t.regex(status.err, /^No data folder at .*nowhere\. A service creates it /);
  const restored = await runScript(path.dirname(nowhere), 'restore', [nowhere]);
  t.deepEqual([restored.code, restored.err], [1, `${nowhere} not found.\n`]);
  t.false(existsSync(nowhere));
});

test('a verification by root is recorded in a file of the user of the service', async (t) => {
  if (process.getuid?.() !== 0) return t.pass('only root gives files away');
  const folder = await service.copy(t);
  await chown(folder, NOBODY, NOBODY);
  t.is((await runScript(folder, 'verify', ['--all'])).code, 0);
  const { uid, gid } = await stat(path.join(folder, 'last-verification'));
  t.deepEqual([uid, gid], [NOBODY, NOBODY]);
});

type Ran = { readonly code: number; readonly out: string; readonly err: string };

function asAuditor(folder: string, command: string, ...args: string[]): Promise<Ran> {
  return ran(folder, process.execPath, [scriptOf(command), ...args], user());
}

/** Runs a command where no file may grow beyond 16 KiB, less than SQLite's additional files need. */
function onFullDisk(folder: string, command: string, ...args: string[]): Promise<Ran> {
  const line = ['ulimit -f 32; exec "$@"', 'sh', process.execPath, scriptOf(command), ...args];
  return ran(folder, 'sh', ['-c', ...line]);
}

function scriptOf(command: string): string {
  return path.join(import.meta.dirname, '../../scripts', `${command}.ts`);
}

async function ran(folder: string, program: string, args: string[], as = {}): Promise<Ran> {
  const env = { ...process.env, DEPOSIT_DATA_DIR: folder };
  const child = spawn(program, args, { env, ...as });
  const exited = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  const [out, err] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
  return { code: await exited, out: out.toString(), err: err.toString() };
}

function user(): { readonly uid?: number; readonly gid?: number } {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

/** Whether the auditor can run it: a checkout in a home folder may be readable only by its owner. */
async function canRunAsAuditor(): Promise<boolean> {
  if (!canBeUnprivileged) return false;
  const started = await asAuditor('/', 'verify', '--help').catch(() => undefined);
  return started?.code === 0;
}

/** Makes the folder and all in it, and the path to it, readable for all users. */
async function onlyReadable(t: ExecutionContext, folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const placeOf = ({ parentPath, name }: (typeof entries)[number]) => path.join(parentPath, name);
  const folders = [folder, ...entries.filter((entry) => entry.isDirectory()).map(placeOf)];
  for (const entry of entries.filter((each) => each.isFile())) await chmod(placeOf(entry), 0o444);
  for (const each of folders) await chmod(each, 0o555);
  await chmod(path.dirname(folder), 0o755);
  t.teardown(() => Promise.all(folders.map((each) => chmod(each, 0o755)))); // so that it can be removed
}

async function writable(folder: string, ...names: string[]): Promise<void> {
  for (const name of names.map((each) => path.join(folder, each)).filter((each) => existsSync(each))) {
    await chmod(name, 0o777);
    for (const file of await readdir(name)) await chmod(path.join(name, file), 0o777);
  }
}

async function listing(folder: string): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).sort();
}

function change(file: string, sql: string): void {
  using database = new DatabaseSync(file);
  database.exec(sql);
}
