import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { listReadiness } from '../../src/object-store/list-readiness.ts';
import { ObjectStoreUnavailable } from '../../src/object-store/object-store.ts';
import { zipOf } from '../../testing/archives/archive-builders.ts';
import { archiveHeaders, partial } from '../../testing/http/deposit-bodies.ts';
import { mountedFolder } from '../../testing/processes/mounted-folder.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { RunningService } from '../../testing/service/running-service.ts';

test('backup and migrate need no write to log and store, and gc none to the log, as on a full disk', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const { store } = service.service;
  await store.put([randomBytes(100_000)]);
  const writers = ['event-log.sqlite', 'archives/small.sqlite'].map(
    (file) => new DatabaseSync(path.join(service.folder, file)),
  );
  for (const writer of writers) writer.exec('BEGIN IMMEDIATE'); // no other connection can write
  const backup = await runScript(service.folder, 'backup', ['--init', await temporaryFolder(t)]);
  t.is(backup.code, 0, backup.err);
  const [target, { folder }] = [await temporaryFolder(t), service];
  for (const [from, to] of [
    [`sqlite:${folder}/event-log.sqlite`, `sqlite:${target}/log.sqlite`],
    [`file:${folder}/archives`, `file:${target}/archives`],
  ] as const) {
    const { code, err } = await runScript(folder, 'migrate', ['--from', from, '--to', to]);
    t.is(code, 0, err);
  }
  writers.pop()?.close();
  const gc = await runScript(service.folder, 'gc', ['--remove', '--json']);
  t.is(gc.code, 0, gc.err);
  writers.pop()?.close();
});

test('backup, restore and migrate name the target whose disk is full', async (t) => {
  const full = await mountedFolder(t, '2m');
  if (full === undefined) return t.pass('this user may not mount a file system');
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  const bytes = zipOf([{ name: 'random', data: randomBytes(3_000_000) }]);
  await alice.post('/1/software/', bytes, { ...archiveHeaders(), ...partial });
  const [backup, { folder }] = [await temporaryFolder(t), service];
  t.is((await runScript(folder, 'backup', ['--init', backup])).code, 0);
  const env = { DEPOSIT_ARCHIVE_STORE: `file:${full}/restored` };
  const elsewhere = await temporaryFolder(t);
  const migrated = `file:${full}/migrated`;
  for (const [target, data, command, ...args] of [
    [`The backup folder ${full}/backup`, folder, 'backup', '--init', `${full}/backup`],
    [`The target file:${full}/restored`, elsewhere, 'restore', backup],
    [`The target ${migrated}`, folder, 'migrate', '--from', `file:${folder}/archives`, '--to', migrated],
  ] as const) {
    const { code, err } = await runScript(data, command, args, data === elsewhere ? { env } : {});
    t.is(code, 1, command);
    t.true(err.includes(`${target} cannot be written to: ENOSPC. An event names it.`), err);
    t.false(err.includes('The archive store'), err);
  }
});

test('no service starts on the empty log that a restore or a migration leaves on a full disk', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const backup = await temporaryFolder(t);
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  for (const command of ['restore', 'migrate'] as const) {
    const full = await mountedFolder(t, '20k');
    if (full === undefined) return t.pass('this user may not mount a file system');
    const data = path.join(full, 'data');
    await mkdir(data);
    const log = path.join(data, 'event-log.sqlite');
    const places = ['--from', `sqlite:${service.folder}/event-log.sqlite`, '--to', `sqlite:${log}`];
    const { code, err } = await runScript(data, command, command === 'restore' ? [backup] : places);
    t.is(code, 1, err);
    t.is(await readFile(`${log}.copy-unfinished`, 'utf8').catch(String), command, err);
  }
});

test('a rebuild that fills the disk of a service gives the space back', async (t) => {
  const full = await mountedFolder(t, '8m');
  if (full === undefined) return t.pass('this user may not mount a file system');
  const data = path.join(full, 'data');
  await using service = await RunningService.startIn(data);
  const alice = await service.register('alice', { collections: ['software'] });
  const { bavail, bsize } = await statfs(full);
  await writeFile(path.join(full, 'other'), Buffer.alloc(bavail * bsize - 200_000));
  const { code, err } = await runScript(data, 'rebuild', ['--all']);
  t.is(code, 1, err);
  t.regex(err, /views\.2\.sqlite cannot be \w+: .*\. The unfinished views were removed\. A rebuild needs/);
  t.deepEqual(
    (await readdir(path.join(data, 'views'))).filter((name) => name.startsWith('views.2.')),
    [],
  );
  const made = await alice.post('/1/software/', zipOf([]), {
    ...archiveHeaders(),
    ...partial,
  });
  t.is(made.status, 201);
});

test('a full store lists all its objects, one that is not ready for another reason may not', async (t) => {
  const failing = (cause: object) => ({
    ready: () =>
      Promise.reject(
        new ObjectStoreUnavailable('It cannot write.', { cause: Object.assign(new Error(), cause) }),
      ),
  });
  const codes = ['ENOSPC', 'QuotaExceeded', 'XMinioAdminBucketQuotaExceeded', 'XMinioStorageFull'];
  for (const full of [...codes.map((code) => ({ code })), { errcode: 13 }])
    t.is(await listReadiness(failing(full)), null, JSON.stringify(full));
  for (const other of [{ code: 'SlowDownWrite' }, { errcode: 10 }, {}])
    t.is(await listReadiness(failing(other)), 'It cannot write.', JSON.stringify(other));
  t.is(await listReadiness({ ready: () => Promise.resolve() }), null);
  await t.throwsAsync(listReadiness({ ready: () => Promise.reject(new TypeError('x')) }), { message: 'x' });
});
