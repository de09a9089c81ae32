import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { depositStatus } from '../../projections/deposit-status.ts';
import { everyView } from '../../projections/every-view.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { ControlClient as OperatedService } from '../../src/service/operator-port/control-client.ts';
import { lockDataFolder } from '../../src/service/operator-port/data-directory-lock.ts';
import { lockFile } from '../../src/tools/files/lock-file.ts';
import { applyEvents } from '../../src/views/apply-events.ts';
import type { AnyProjection } from '../../src/views/projection.ts';
import { Rebuild } from '../../src/views/rebuild.ts';
import { openViewFile } from '../../src/views/store/open-view-file.ts';
import { ViewFile } from '../../src/views/store/view-file.ts';
import { makeDeposit } from '../../testing/http/made-deposits.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { fullViews } from '../../testing/service/full-views.ts';
import { RunningService } from '../../testing/service/running-service.ts';

async function depositsOf(client: TestClient, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) await makeDeposit(client);
}

/** Changes a view without the service's knowledge. */
function tamper(folder: string, sql: string): void {
  const { views: generation = 1 } = pointer(folder);
  using database = new DatabaseSync(path.join(folder, 'views', `views.${generation}.sqlite`));
  database.exec(sql);
}

function pointer(folder: string): Record<string, number> {
  try {
    return JSON.parse(readFileSync(path.join(folder, 'views', 'current.json'), 'utf8')) as Record<
      string,
      number
    >;
  } catch {
    return {};
  }
}

test('views are rebuilt during operation, differences are named, and the new ones are served at once', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await depositsOf(alice, 3);
  for (const id of [1, 2, 3]) await alice.waitFor(`/1/software/${id}/status/`, 'done');
  await service.stop();
  await service.startAgain();
  const again = alice.at(service.url);

  tamper(
    service.folder,
    `UPDATE "deposit-status" SET view = replace(view, '"done"', '"failed"') WHERE key = '2'`,
  );
  t.regex(await (await again.get('/1/software/2/status/')).text(), /<deposit_status>failed</);

  const checked = await runScript(service.folder, 'rebuild', ['--all', '--check', '--json']);
  t.is(checked.code, 1);
  t.like(JSON.parse(checked.out), {
    differences: 2,
    switched: null,
    listed: [
      { view: 'deposit-status', key: '2', kind: 'different' },
      { view: 'deposit-status', key: 'counts', kind: 'different' },
    ],
  });
  t.deepEqual(pointer(service.folder), {}, 'a check switches nothing');

  const rebuilt = await runScript(service.folder, 'rebuild', ['--all', '--json']);
  t.is(rebuilt.code, 0, rebuilt.err);
  t.deepEqual(pointer(service.folder), { views: 2 });
  t.regex(await (await again.get('/1/software/2/status/')).text(), /<deposit_status>done</);
  await depositsOf(again, 1);
  await again.waitFor('/1/software/4/status/', 'done');
  t.is(
    (await runScript(service.folder, 'rebuild', ['--all', '--check'])).code,
    0,
    'the new views follow the log',
  );
});

test('a rebuild without a service applies from the next start, and only one runs at a time', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await depositsOf(alice, 1);
  await alice.waitFor('/1/software/1/status/', 'done');
  await service.stop();
  tamper(service.folder, 'DELETE FROM "deposit-status"');
  {
    using _other = lockFile(path.join(service.folder, 'views', 'rebuild.lock'), 'taken');
    const refused = await runScript(service.folder, 'rebuild', ['--all']);
    t.is(refused.code, 1);
    t.regex(refused.err, /Another rebuild is running/);
  }
  const rebuilt = await runScript(service.folder, 'rebuild', ['deposit-status']);
  t.regex(rebuilt.out, /deposit-status 1: missing/);
  await service.startAgain();
  const status = await alice.at(service.url).get('/1/software/1/status/');
  t.regex(await status.text(), /<deposit_status>done</);
  await service.stop();
  await rm(path.join(service.folder, 'views'), { recursive: true });
  const all = await runScript(service.folder, 'rebuild', ['--all']);
  t.is(all.code, 0);
  t.regex(all.out, /^No view was compared: they do not exist: the service builds them/m);
  t.regex(all.out, /, 0 differences found; in use from the next start on\.$/m, 'its own files are no fault');
  t.is(pointer(service.folder)['views'], 2);
});

test('a locked data folder is reported with the advice to stop a service or to retry', async (t) => {
  const folder = await temporaryFolder(t);
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  using _held = lockDataFolder(config);
  const refusal = () => t.throws(() => lockDataFolder(config), { code: 'DATA_FOLDER_IN_USE' })?.message ?? '';
  t.regex(
    refusal(),
    / is just starting or stopping, or a command has locked it: try again in a moment, or set /,
  );
  const writeControlFile = (pid: number) =>
    writeFile(path.join(folder, 'operator.json'), JSON.stringify({ pid }));
  await writeControlFile(process.pid);
  t.regex(refusal(), new RegExp(` \\(process ${process.pid}\\): stop it, or set `));
  const ended = spawnSync('true');
  await writeControlFile(ended.pid);
  t.regex(refusal(), / is just starting or stopping/, 'the leftovers of a crash');
});

test('a corrupted lock is reported with its remedy', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(path.join(folder, 'service.lock'), 'hello');
  t.throws(() => lockDataFolder(readConfig({ DEPOSIT_DATA_DIR: folder })), {
    code: 'LOCK_DAMAGED',
    message:
      /service\.lock cannot be locked: file is not a database\. Remove it when nothing runs on the folder: /,
  });
});

test('views that a stopped start has filled in part are compared without counts, and status counts none', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await depositsOf(alice, 2);
  for (const id of [1, 2]) await alice.waitFor(`/1/software/${id}/status/`, 'done');
  const config = readConfig({ DEPOSIT_DATA_DIR: service.folder });
  await service.stop();
  rmSync(path.join(service.folder, 'views'), { recursive: true });
  mkdirSync(path.join(service.folder, 'views'));
  await using log = await openLog(config);
  const filled = openViewFile(path.join(service.folder, 'views', 'views.1.sqlite'), 'sqlite', everyView);
  applyEvents(filled, everyView, await Array.fromAsync(log.readAll({})));
  filled[Symbol.dispose]();

  const checked = await runScript(service.folder, 'rebuild', ['--all', '--check']);
  t.is(checked.code, 0, checked.out + checked.err);
  t.regex(
    checked.out,
    /^The counts of the view deposit-status were not compared: a service adds them once its views are filled\.$/m,
  );
  const { out } = await runScript(service.folder, 'status', ['--json']);
  t.like(JSON.parse(out), { deposits: null, notifications: null });
  t.regex((await runScript(service.folder, 'status', [])).out, /^Deposits: not counted yet\. /m);
  await service.startAgain();
});

test('views built by a newer release are refused by the older service, all or none, and remain', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await depositsOf(alice, 2);
  for (const id of [1, 2]) await alice.waitFor(`/1/software/${id}/status/`, 'done');
  const list = async () => (await alice.get('/1/software/')).text();
  const before = await list();
  const folder = path.join(service.folder, 'views');
  const newer = { ...depositStatus, version: depositStatus.version + 1 };
  const projections = everyView.map((view) => (view.name === newer.name ? newer : view)) as AnyProjection[];
  const options = { log: service.service.log, folder, origin: 'sqlite', projections };
  const rebuild = new Rebuild({ ...options, progress: () => undefined });
  await rebuild.build();
  rebuild[Symbol.dispose]();
  const running = await OperatedService.find(service.folder);
  const file = path.join(folder, 'views.2.sqlite');
  const refused = await t.throwsAsync(async () => running?.adopt({ views: 2 }), { code: 'OPERATOR_REFUSED' });
  t.regex(
    refused?.message ?? '',
    /views\.2\.sqlite, which has version \d+ of deposit-status of the log sqlite: the running/,
  );
  t.deepEqual(pointer(service.folder), {}, 'none is in use');
  t.is(await list(), before);
  using built = new ViewFile(file);
  t.deepEqual([built.versions().get(newer.name), built.table(newer.name).size], [newer.version, 2]);
  await t.throwsAsync(async () => running?.adopt({ views: 7 }), {
    message: /There is no \S+views\.7\.sqlite/,
  });
  t.is(await list(), before);
});

test('views built next to a service of another release are used from the next start, and can be printed', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await depositsOf(alice, 2);
  for (const id of [1, 2]) await alice.waitFor(`/1/software/${id}/status/`, 'done');
  tamper(service.folder, `UPDATE view_versions SET version = version - 1 WHERE name = 'collections'`);
  const rebuilt = await runScript(service.folder, 'rebuild', ['--all']);
  t.is(rebuilt.code, 0, rebuilt.err);
  t.regex(
    rebuilt.out,
    /; in use from the next start on\.\nThe running service does not have collections as this/,
  );
  t.deepEqual(pointer(service.folder), {}, 'the service continues with its views');
  t.is((await alice.get('/1/software/1/status/')).status, 201);
  await service.stop();
  const built = createdAt(service.folder, 2);
  await service.startAgain();
  t.deepEqual(pointer(service.folder), { views: 2 });
  t.is(createdAt(service.folder, 2), built, 'it was not rebuilt');
  t.regex(await (await alice.at(service.url).get('/1/software/2/status/')).text(), /<deposit_status>done</);
  await service.stop();

  const view = (...args: string[]) => runScript(service.folder, 'view', args);
  const one = await view('deposit-status', '--key', '2');
  t.is(one.code, 0, one.err);
  t.like(JSON.parse(one.out), { key: '2', value: { deposit_id: 2, status: 'done' } });
  t.regex(one.err, /^The view is at position [0-9a-f]{16} of the log\.\n$/);
  t.is((await view('deposit-status')).out.split('\n').length, 3);
  const logins = await view('client-logins');
  t.like(JSON.parse(logins.out), { key: 'alice', value: { credential: 'not shown' } });
  t.like(await view('deposit-status', '--key', '3'), {
    code: 1,
    err: 'The view deposit-status has no entry 3.\n',
  });
  t.is((await view('nonsense')).code, 2);
  await service.startAgain();
});

/** Returns when the file of a generation was created. */
function createdAt(folder: string, generation: number): unknown {
  using database = new DatabaseSync(path.join(folder, 'views', `views.${generation}.sqlite`), {
    readOnly: true,
  });
  return database.prepare('SELECT created FROM about').get()?.['created'];
}

test('a full or unusable disk ends a rebuild and a start with one message, and damages no view', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await depositsOf(alice, 1);
  await service.stop();
  const fileOf = (generation: number) => path.join(service.folder, 'views', `views.${generation}.sqlite`);
  {
    openViewFile(fileOf(2), 'sqlite', everyView)[Symbol.dispose]();
    fullViews(fileOf(2));
    const { code, err } = await runScript(service.folder, 'rebuild', ['deposit-status']);
    t.is(code, 1);
    const [cause, advice] = (err.trim().split('\n').at(-1) ?? '').split(/(?<=full\.) /);
    t.is(cause, `The views in ${fileOf(2)} cannot be written: ${FULL}.`);
    t.regex(
      advice ?? '',
      /^The unfinished views were removed\. A rebuild needs about twice the space of the views in use, which have \d\.\d MB\.$/,
    );
    t.notRegex(err, /^ {4}at /m);
    const left = readdirSync(path.join(service.folder, 'views'));
    t.deepEqual(
      left.filter((name) => name.startsWith('views.2.')),
      [],
      'a service on the same disk would stay without room',
    );
  }
  const wal = `${fileOf(1)}-wal`;
  rmSync(wal, { force: true }); // empty, after a read
  mkdirSync(wal);
  const start = await runScript(service.folder, '../src/main', [], {
    env: { DEPOSIT_PORT: '0', DEPOSIT_LOG_LEVEL: 'silent' },
  });
  t.is(start.code, 1);
  t.is(start.err, `The views in ${fileOf(1)} cannot be opened: unable to open database file.\n`);
  rmdirSync(wal);
  t.is((await runScript(service.folder, 'rebuild', ['--all', '--check'])).code, 0);
});

const FULL = 'database or disk is full';

test('a check that gets SIGTERM leaves nothing behind', async (t) => {
  await using service = await RunningService.start();
  await service.stop();
  const folder = path.join(service.folder, 'temporary');
  mkdirSync(folder);
  const stopped = await runScript(service.folder, 'rebuild', ['--all', '--check'], {
    env: { TMPDIR: folder },
    stopIn: folder,
  });
  t.deepEqual(readdirSync(folder), []);
  if (stopped.code !== 0) t.regex(stopped.err, /Stopped\.\n$/); // it may be complete already
});

test('unknown view names, and none at all, are wrong usage', async (t) => {
  await using service = await RunningService.start();
  for (const args of [['deposits'], [], ['--all', 'collections']]) {
    t.is((await runScript(service.folder, 'rebuild', args)).code, 2, args.join());
  }
});
