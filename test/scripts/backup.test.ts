import { chmod, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { readBackup } from '../../src/operations/backup/backup-folder.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { formType, helloForm } from '../../testing/http/deposit-bodies.ts';
import { makeDeposit } from '../../testing/http/made-deposits.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { Exposition } from '../../testing/service/exposition.ts';
import { RunningService } from '../../testing/service/running-service.ts';

test('a backup under load is complete, the next is incremental, and a service continues on its restore', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  const backup = await temporaryFolder(t);
  let acknowledged = 0;
  const over = new AbortController();
  const load = (async () => {
    while (!over.signal.aborted) {
      if ((await alice.post('/1/software/', helloForm, formType)).status === 201) acknowledged += 1;
    }
  })();
  const first = await runScript(service.folder, 'backup', ['--init', backup, '--json']);
  t.is(first.code, 0, first.err);
  over.abort();
  await load;
  await alice.waitFor(`/1/software/${acknowledged}/status/`, 'done');

  const second = await runScript(service.folder, 'backup', ['--init', backup, '--json', '--verify']);
  t.is(second.code, 0, second.err);
  const facts = JSON.parse(second.out) as { events: number; new_events: number };
  t.true(facts.new_events < facts.events);
  const original = await Array.fromAsync(service.service.log.readAll());
  t.is(facts.events, original.length);

  // The state of a third backup that was cut off between the log and the archives.
  const finished = JSON.parse(await readFile(path.join(backup, 'backup.json'), 'utf8')) as { events: number };
  t.is(finished.events, original.length);
  {
    await using ahead = await openLog({
      eventLog: { kind: 'sqlite', file: path.join(backup, 'event-log.sqlite') },
    });
    await new AdminCommands(ahead, { kind: 'operator', name: 'x' }).registerClient('late', 'secret');
  }

  const elsewhere = await temporaryFolder(t);
  const refused = await runScript(elsewhere, 'restore', [backup]);
  t.is(refused.code, 1, 'the last events were not backed up completely');
  t.regex(refused.err, /holds the complete backup of .* and 1 later event of a backup that was not complete/);
  const restored = await runScript(elsewhere, 'restore', [backup, '--last-complete']);
  t.is(restored.code, 0, restored.err);
  await using again = await RunningService.startIn(elsewhere);
  const events = await Array.fromAsync(again.service.log.readAll());
  t.deepEqual(events.slice(0, -1), original);
  t.like(events.at(-1), { stream: 'archive-store', type: 'StoreBound' }, 'the copy is a store of its own');
  const there = alice.at(again.url);
  await there.waitFor(`/1/software/${acknowledged}/status/`, 'done');
  const media = await there.get('/1/software/1/media/');
  t.is(media.status, 200);
  t.is((await there.post('/1/software/', helloForm, formType)).status, 201, 'the service continues there');
  await there.waitFor(`/1/software/${acknowledged + 1}/status/`, 'done');
});

test('the files of a backup and of its restore are private to their owner', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDeposit(alice);
  const [backup, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  for (const folder of [backup, elsewhere]) await chmod(folder, 0o755);
  const readable = async (folder: string) => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const names = entries
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => path.join(parentPath, name));
    const open = await Promise.all(
      names.map(async (name) => ((await stat(name)).mode & 0o077 ? [name] : [])),
    );
    return { count: names.length, open: open.flat() };
  };
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  const stored = await readable(backup);
  t.true(stored.count > 5, 'log, objects, keys and facts');
  t.deepEqual(stored.open, []);
  // As an earlier release left them.
  for (const name of ['event-log.sqlite', 'archives/small.sqlite', 'backup.json'])
    await chmod(path.join(backup, name), 0o644);
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  t.deepEqual((await readable(backup)).open, []);
  t.is((await runScript(elsewhere, 'restore', [backup])).code, 0);
  t.deepEqual((await readable(elsewhere)).open, []);
});

test('backup and restore refuse a target with other contents', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const [backup, unfinished] = [await temporaryFolder(t), await temporaryFolder(t)];
  for (const inside of [service.folder, path.join(service.folder, 'backup')]) {
    const refused = await runScript(service.folder, 'backup', ['--init', inside]);
    t.is(refused.code, 1);
    t.regex(refused.err, /is a data folder or inside one/);
  }
  t.regex((await runScript(service.folder, 'restore', [unfinished])).err, /has no complete backup/);
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  const file = path.join(backup, 'backup.json');
  const whole = await readFile(file, 'utf8');
  for (const damaged of ['', 'null', '{}', whole.slice(0, 30)]) {
    await writeFile(file, damaged);
    t.is(readBackup(backup), undefined, 'it is unknown how much of it is complete');
  }
  t.regex((await runScript(service.folder, 'restore', [backup])).err, /or its backup\.json is corrupt/);
  await writeFile(file, whole);
  const inUse = await runScript(service.folder, 'restore', [backup]);
  t.regex(inUse.err, /Another service runs/);
  await using other = await RunningService.start();
  await other.register('bob', { collections: ['software'] });
  await other.stop();
  const foreign = await runScript(other.folder, 'restore', [backup]);
  t.is(foreign.code, 1);
  t.regex(foreign.err, /The target differs|has more/);
  await other.startAgain();
});

test('a link into the data folder is no place for a backup', async (t) => {
  await using service = await RunningService.start();
  const link = path.join(await temporaryFolder(t), 'link');
  await symlink(service.folder, link);
  for (const inside of [link, path.join(link, 'backups', 'first')]) {
    const refused = await runScript(service.folder, 'backup', ['--init', inside]);
    t.is(refused.code, 1);
    t.is(refused.err, `${inside} is a data folder or inside one: give another folder.\n`);
  }
});

test('an event that was altered after its backup leaves the backup as it is, with advice to retain it', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const [backup, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  await service.stop();
  alterClient(path.join(service.folder, 'event-log.sqlite'), 'alice', 'mallory');
  const refused = await runScript(service.folder, 'backup', [backup]);
  t.is(refused.code, 1);
  t.regex(refused.err, /is a backup of another history than the log has now, so nothing was added to it\./);
  t.regex(refused.err, /its event \d+ has another data .* Retain this backup, and run/);
  t.notRegex(refused.err, /Give an empty target/);
  t.is((await runScript(elsewhere, 'restore', [backup])).code, 0, 'the backup is still complete');
});

test('a backup of a log with an altered event is not complete, since restore refuses it', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const backup = await temporaryFolder(t);
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  const complete = await readFile(path.join(backup, 'backup.json'), 'utf8');
  await service.register('bob', { collections: ['software'] });
  await service.stop();
  alterClient(path.join(service.folder, 'event-log.sqlite'), 'bob', 'mallory');
  const ran = await runScript(service.folder, 'backup', [backup, '--json']);
  t.is(ran.code, 1);
  t.regex(
    ran.err,
    /^Event \d+ \(.* of client-bob\) does not carry the hash of its contents\. "deposit-service restore"/m,
  );
  const facts = JSON.parse(ran.out) as { complete: boolean; altered_event: string };
  t.false(facts.complete);
  t.regex(facts.altered_event, /client-bob/);
  t.is(await readFile(path.join(backup, 'backup.json'), 'utf8'), complete);
  const elsewhere = await temporaryFolder(t);
  t.is((await runScript(elsewhere, 'restore', ['--last-complete', backup])).code, 0);
});

test('a backup whose log lost its end is refused by restore before it writes anything', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const [backup, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  const file = path.join(backup, 'event-log.sqlite');
  changeLog(file, 'DELETE FROM events WHERE position = (SELECT max(position) FROM events)');
  await rm(`${file}.head`);
  const refused = await runScript(elsewhere, 'restore', [backup]);
  t.is(refused.code, 1);
  t.regex(refused.err, /has lost its end: it has \d+ events, but the complete backup of .* had \d+\./);
  t.false((await readdir(elsewhere)).includes('event-log.sqlite'));
  t.is((await runScript(elsewhere, 'restore', ['--latest', backup])).code, 0);
});

test('a backup that shares its log or its objects with the service is refused', async (t) => {
  const [disk, backup] = [await temporaryFolder(t), await temporaryFolder(t)];
  const folder = path.join(disk, 'archives');
  await using service = await RunningService.start({ archiveStore: { kind: 'file', folder } });
  const env = { DEPOSIT_ARCHIVE_STORE: `file:${folder}` };
  const upload = path.join(folder, 'incoming', 'upload-in-progress');
  await writeFile(upload, 'a part');
  const onto = await runScript(service.folder, 'backup', ['--init', disk], { env });
  t.is(onto.code, 1);
  t.is(
    onto.err,
    `file:${folder} would be both in the backup and in use by the service: give another folder.\n`,
  );
  t.is(await readFile(upload, 'utf8'), 'a part');
  t.is(readBackup(disk), undefined);

  t.is((await runScript(service.folder, 'backup', ['--init', backup], { env })).code, 0);
  const before = await readdir(backup, { recursive: true });
  const inPlace = await runScript(backup, 'restore', [backup]);
  t.is(inPlace.code, 1);
  t.regex(inPlace.err, /^sqlite:.* would be both in the backup and in use by the service/);
  t.deepEqual(await readdir(backup, { recursive: true }), before);
  t.is((await runScript(service.folder, 'backup', [backup], { env })).code, 0, 'it is still a backup');
});

test('a folder without a backup is refused without --init, and the age of the last backup is reported', async (t) => {
  await using service = await RunningService.start();
  const folder = await temporaryFolder(t);
  const missing = path.join(folder, 'not-mounted');
  for (const place of [missing, folder]) {
    const refused = await runScript(service.folder, 'backup', [place]);
    t.is(refused.code, 1);
    t.is(refused.err, `${place} has no backup yet. If it is the right folder, add --init.\n`);
  }
  t.deepEqual(await readdir(folder), []);
  const age = async () =>
    (await Exposition.of(service.folder)).value('deposit_last_success_age_seconds', { of: 'backup' });
  t.is(await age(), undefined);
  t.is((await runScript(service.folder, 'backup', [missing, '--init'])).code, 0);
  t.is((await runScript(service.folder, 'backup', [missing])).code, 0);
  t.true(((await age()) ?? -1) >= 0);
  const { out } = await runScript(service.folder, 'status', []);
  t.regex(
    out,
    /^Last complete backup: [\d.]+ s ago\. Last verification without a finding: never on this node\.$/m,
  );
  await rm(path.join(service.folder, 'last-backup'));
  t.is(await age(), undefined, 'an age that stays would keep the alert silent');
});

function alterClient(log: string, name: string, other: string): void {
  const data = `replace(data, '"${name}"', '"${other}"')`;
  changeLog(log, `UPDATE events SET data = ${data} WHERE data <> ${data} AND type = 'ClientRegistered'`);
}

function changeLog(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}
