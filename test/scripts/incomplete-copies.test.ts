import { spawn } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import test from 'ava';
import type { StoredObject } from '../../src/object-store/object-store.ts';
import { copyStore } from '../../src/operations/copy/store-copy.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { openStore } from '../../src/service/backends/open-store.ts';
import { zipOf } from '../../testing/archives/archive-builders.ts';
import { AlteringProxy, type Answer } from '../../testing/http/altering-proxy.ts';
import { ATOM_TYPE, archiveHeaders, helloEntry, partial } from '../../testing/http/deposit-bodies.ts';
import { makeDoneDeposit } from '../../testing/http/made-deposits.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { outcomeOf, type Ran, runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { S3Server } from '../../testing/s3/s3-server.ts';
import { RunningService } from '../../testing/service/running-service.ts';

test('a corrupt object that no event names leaves a backup complete', async (t) => {
  await using service = await serviceWithDeposit();
  const orphan = await service.service.store.put(Readable.from([Buffer.alloc(100_000, 'x')]));
  await appendFile(fileOf(service.folder, orphan), 'y');
  const backup = await temporaryFolder(t);
  const ran = await runScript(service.folder, 'backup', ['--init', backup, '--json']);
  t.is(ran.code, 0, ran.err);
  t.regex(ran.err, new RegExp(`^Not copied: ${orphan.sha256}\\..* No event names it\\.$`, 'm'));
  t.like(JSON.parse(ran.out), { complete: true, failed: [{ sha256: orphan.sha256, is_named: false }] });
  t.true((await readdir(backup)).includes('backup.json'));
  const elsewhere = await temporaryFolder(t);
  t.is((await runScript(elsewhere, 'restore', [backup])).code, 0);
});

for (const [how, spoil] of [
  ['damaged', (file: string) => appendFile(file, 'y')],
  ['missing', (file: string) => rm(file)],
] as const) {
  test(`an object named by an event that is ${how} is reported by backup, restore and migrate`, async (t) => {
    await using service = await serviceWithDeposit();
    const backup = await temporaryFolder(t);
    t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
    const wanted = await addArchive(service);
    await spoil(fileOf(service.folder, wanted));
    const named = (ran: Ran) =>
      new RegExp(`: ${wanted.sha256}\\..* An event names it\\.$`, 'm').test(ran.err);

    const later = await runScript(service.folder, 'backup', ['--init', backup, '--json']);
    t.is(later.code, 1);
    t.true(named(later), later.err);
    const facts = JSON.parse(later.out) as { objects: number; failed: unknown[] };
    t.like(facts, { complete: false, failed: [{ sha256: wanted.sha256, is_named: true }] });
    t.true(facts.objects > 0, 'all others exist');
    t.regex(
      (await runScript(service.folder, 'backup', [backup])).out,
      /^The backup is not complete: 1 object that events name could not be copied\.\nThe backup holds /,
    );

    const target = path.join(await temporaryFolder(t), 'archives');
    const places = ['--from', `file:${service.folder}/archives`, '--to', `file:${target}`];
    const migrated = await runScript(service.folder, 'migrate', places);
    t.is(migrated.code, 1);
    t.true(named(migrated), migrated.err);

    const [first, second] = [await temporaryFolder(t), await temporaryFolder(t)];
    const silent = await runScript(first, 'restore', [backup]);
    t.is(silent.code, 1, 'an older state is not restored without a request');
    t.regex(silent.err, /--last-complete restores the state of .*, --latest all events/);
    t.is((await runScript(first, 'restore', [backup, '--last-complete'])).code, 0);
    const latest = await runScript(second, 'restore', [backup, '--latest']);
    t.is(latest.code, 1);
    t.true(named(latest), latest.err);
    t.regex(
      latest.out,
      /^The restore is not complete: 1 object that events name could not be copied\.\nRestored .* bytes\)\.\n$/,
    );
    const [older, newer] = [await eventsIn(first), await eventsIn(second)];
    t.true(older < newer);
  });
}

test('no service starts without an object that the backup lacks, until restore --latest accepts that', async (t) => {
  await using service = await serviceWithDeposit();
  const wanted = await addArchive(service);
  const [backup, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  await rm(fileOf(backup, wanted));
  const missing = new RegExp(`^Not restored: ${wanted.sha256}\\..* An event names it\\.$`, 'm');
  const restored = await runScript(elsewhere, 'restore', [backup]);
  t.is(restored.code, 1);
  t.regex(restored.err, missing);
  t.regex(restored.err, /^No service starts until the same command .* --latest /m);
  await t.throwsAsync(starting(elsewhere), { code: 'COPY_UNFINISHED' });
  const latest = await runScript(elsewhere, 'restore', [backup, '--latest', '--json']);
  t.like({ code: latest.code, ...JSON.parse(latest.out) }, { code: 1, complete: false });
  t.regex(latest.err, missing);
  await using started = await RunningService.startIn(elsewhere);
  t.truthy(started.url);
});

test('a backup without small.sqlite is restored as far as it goes, and stays as it is', async (t) => {
  await using service = await serviceWithDeposit();
  const { sha256, length } = await addArchive(service);
  const [backup, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  for (const suffix of ['', '-wal', '-shm'])
    await rm(path.join(backup, `archives/small.sqlite${suffix}`), { force: true });
  const before = await readdir(path.join(backup, 'archives'));
  const restored = await runScript(elsewhere, 'restore', [backup]);
  t.is(restored.code, 1);
  t.regex(restored.err, /^Not restored: [0-9a-f]{64}\. .* An event names it\.$/m);
  const latest = await runScript(elsewhere, 'restore', [backup, '--latest']);
  t.is(latest.code, 1);
  t.regex(latest.err, /^The list of objects may be incomplete: .*small\.sqlite/m);
  t.regex(latest.out, /^The restore is not complete: \d+ objects? that events name could not be copied; /);
  t.deepEqual(await readdir(path.join(backup, 'archives')), before);
  await using store = await openStore(placeOf(elsewhere));
  t.like(await store.stat(sha256), { length });
});

test('a service does not start on what an interrupted restore has left, until that is finished', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const [backup, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  await mkdir(path.join(backup, 'keys'), { recursive: true });
  await writeFile(path.join(backup, 'keys/old.key'), 'old');
  const small = path.join(backup, 'archives', 'small.sqlite');
  await rename(small, `${small}-away`);
  await writeFile(small, 'no database'); // so that the restore ends between the events and the objects
  await service.register('bob');
  await service.stop();
  t.regex((await runScript(service.folder, 'restore', ['--take-over', backup])).err, /^The target has more/);
  await service.startAgain(); // nothing was restored into it
  t.is((await runScript(elsewhere, 'restore', [backup])).code, 1);
  const refused = {
    code: 'COPY_UNFINISHED',
    message: /^"deposit-service restore" into .* is not finished: run the same command again/,
  };
  await t.throwsAsync(starting(elsewhere), refused);
  const added = await runScript(elsewhere, 'client', ['add', 'carol', '--password-stdin'], {
    input: 'a long password',
  });
  t.is(added.code, 1);
  t.regex(added.err, refused.message);
  const bound = await runScript(elsewhere, 'bind', ['--incomplete']);
  t.is(bound.code, 1, 'another event would end the restore for good');
  t.regex(bound.err, refused.message);
  await rename(`${small}-away`, small);
  const keys = path.join(elsewhere, 'keys');
  await writeFile(keys, ''); // so that the restore ends between the objects and the keys
  t.is((await runScript(elsewhere, 'restore', [backup])).code, 1);
  await rm(keys);
  await mkdir(keys);
  const other = path.join(keys, 'old.key');
  for (const state of ['interrupted', 'restored']) {
    await writeFile(other, 'another'); // so that a key cannot be written
    t.is((await runScript(elsewhere, 'restore', [backup])).code, 1);
    await rm(other);
    await t.throwsAsync(starting(elsewhere), refused, state);
    const restored = await runScript(elsewhere, 'restore', [backup]);
    t.is(restored.code, 0, restored.err);
  }
  await using started = await RunningService.startIn(elsewhere);
  t.truthy(started.url);
});

test('only the command whose copy is unfinished continues it, and ends it', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice');
  const [backup, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  const exported = path.join(await temporaryFolder(t), 'all.ndjson');
  await writeFile(exported, (await runScript(service.folder, 'export', [])).out);
  const log = path.join(elsewhere, 'event-log.sqlite');
  await writeFile(`${log}.copy-unfinished`, 'restore'); // as one that was killed leaves it
  const places = ['--from', `sqlite:${service.folder}/event-log.sqlite`, '--to', `sqlite:${log}`];
  for (const [command, args] of [
    ['import', [exported]],
    ['migrate', places],
    ['verify', ['--all']],
  ] as const) {
    const ran = await runScript(elsewhere, command, args);
    t.is(ran.code, 1, command);
    t.regex(ran.err, /^"deposit-service restore" into .* is not finished: run the same command again/);
    t.is(await eventsIn(elsewhere), 0, command);
  }
  const wrong = await runScript(elsewhere, 'verify', ['1', '--resume']);
  t.like(wrong, { code: 2, err: '--resume and --state need --all.\n' }, 'wrong usage is refused before');
  const restored = await runScript(elsewhere, 'restore', [backup]);
  t.is(restored.code, 0, restored.err);
  t.false((await readdir(elsewhere)).includes('event-log.sqlite.copy-unfinished'));
});

test('restore --verify compares the digests of existing objects, and replaces corrupt ones', async (t) => {
  await using service = await serviceWithDeposit();
  const wanted = await addArchive(service);
  const [backup, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  t.is((await runScript(service.folder, 'backup', ['--init', backup])).code, 0);
  t.is((await runScript(elsewhere, 'restore', [backup])).code, 0);
  await writeFile(fileOf(elsewhere, wanted), Buffer.alloc(wanted.length, 'z'));
  const again = await runScript(elsewhere, 'restore', [backup, '--json']);
  t.like({ code: again.code, ...JSON.parse(again.out) }, { code: 0, repaired: 0 }, 'lengths are not digests');
  const verified = await runScript(elsewhere, 'restore', [backup, '--json', '--verify']);
  t.like({ code: verified.code, ...JSON.parse(verified.out) }, { code: 0, complete: true, repaired: 1 });
  await using store = await openStore(placeOf(elsewhere));
  t.is((await buffer((await store.get(wanted.sha256)).body)).length, wanted.length);
});

test('with an incomplete list or an unready store gc removes nothing, and a backup is complete by names', async (t) => {
  await using s3 = await S3Server.start();
  await using service = await RunningService.start({ archiveStore: s3.store() });
  const alice = await service.register('alice', { collections: ['software'] });
  t.is((await alice.post('/1/software/', helloEntry, { 'Content-Type': ATOM_TYPE, ...partial })).status, 201);
  await service.stop();

  const short = (answer: Answer, request: string): Answer =>
    request.includes('list-type=2')
      ? { ...answer, body: answer.body.replace(/<Contents>.*<\/Contents>/s, '') }
      : answer;
  const readOnly = (answer: Answer, request: string): Answer =>
    request.startsWith('PUT ')
      ? { status: 403, headers: { 'content-type': 'application/xml' }, body: denied }
      : answer;
  for (const [alter, code, reason] of [
    [short, 0, /^The store does not list 1 object that events name/],
    [readOnly, 1, /^The list of objects may be incomplete, so nothing is removed: .*AccessDenied/],
  ] as const) {
    await using proxy = await AlteringProxy.start(`http://127.0.0.1:${s3.port}`, alter);
    const env = s3.settings('deposits', Number(new URL(proxy.url).port));
    const backup = await temporaryFolder(t);
    const ran = await runScript(service.folder, 'backup', ['--init', backup, '--json'], { env });
    t.is(ran.code, code, ran.err);
    t.like(JSON.parse(ran.out), { complete: true, objects: 1 });
    if (code === 1) t.regex(ran.err, /The list of objects may be incomplete: .*AccessDenied/);
    const gc = await runScript(service.folder, 'gc', ['--remove', '--more-than-a-tenth'], { env });
    t.is(gc.code, 1);
    t.regex(gc.err, reason);
  }
  let isListed = false;
  const readOnlyOnceListed = (answer: Answer, request: string): Answer => {
    isListed ||= /list-type=2.*sha256/.test(request);
    return isListed ? readOnly(answer, request) : answer;
  };
  await using proxy = await AlteringProxy.start(`http://127.0.0.1:${s3.port}`, readOnlyOnceListed);
  const env = s3.settings('deposits', Number(new URL(proxy.url).port));
  const gc = await runScript(service.folder, 'gc', ['--remove', '--more-than-a-tenth'], { env });
  t.is(gc.code, 1);
  t.regex(gc.err, /^The list of objects may be incomplete, so nothing is removed: .*AccessDenied/);
  await service.startAgain();
});

const denied = '<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>';

async function serviceWithDeposit(): Promise<RunningService> {
  const service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDoneDeposit(alice);
  return service;
}

async function starting(folder: string): Promise<void> {
  await using _started = await RunningService.startIn(folder);
}

/** Adds an archive that is a file of the store to a deposit that stays partial. */
async function addArchive({ url }: RunningService): Promise<StoredObject> {
  const bytes = zipOf([{ name: 'random', data: randomBytes(100_000) }]);
  const headers = { ...archiveHeaders(), ...partial };
  await new TestClient(url, 'alice').post('/1/software/', bytes, headers);
  return { sha256: hash('sha256', bytes), length: bytes.length };
}

async function eventsIn(folder: string): Promise<number> {
  await using log = await openLog(placeOf(folder));
  return (await Array.fromAsync(log.readAll())).length;
}

function placeOf(folder: string) {
  return {
    eventLog: { kind: 'sqlite', file: path.join(folder, 'event-log.sqlite') },
    archiveStore: { kind: 'file', folder: path.join(folder, 'archives') },
    dataDir: folder,
  } as const;
}

function fileOf(folder: string, { sha256 }: StoredObject): string {
  return path.join(folder, 'archives/v1/sha256', sha256.slice(0, 2), sha256.slice(2, 4), sha256);
}

test('the progress of a copy counts only what was copied', async (t) => {
  await using source = await openStore(placeOf(await temporaryFolder(t)));
  await using target = await openStore(placeOf(await temporaryFolder(t)));
  await source.put(Readable.from([Buffer.from('there')]));
  const named = Readable.from([{ sha256: '0'.repeat(64) }]);
  const shown: unknown[] = [];
  const progress = (...counts: unknown[]) => void shown.push(counts);
  const { failed } = await copyStore(source, target, { named, leftOut: new Set(), progress });
  t.is(failed.length, 1);
  t.deepEqual(shown.at(-1), ['copied', 1, 2]);
});

test('a copy of many objects needs no memory for each', async (t) => {
  const program = new URL('../../testing/processes/copy-many-objects.ts', import.meta.url);
  const copy = new Worker(program, {
    workerData: 100_000,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  });
  const [code] = (await once(copy, 'exit')) as [number]; // rejects with ERR_WORKER_OUT_OF_MEMORY
  t.is(code, 0);
});

test('a copy whose list of objects finds the temporary disk full ends with the folder and the cause', async (t) => {
  const program = path.join(import.meta.dirname, '../../testing/processes/copy-unreadable-objects.ts');
  const temporary = await temporaryFolder(t);
  const child = spawn('sh', ['-c', 'ulimit -f 0; exec "$0" "$1"', process.execPath, program], {
    env: { ...process.env, SQLITE_TMPDIR: temporary },
  });
  const { out } = await outcomeOf(child);
  t.regex(
    out,
    /^TEMPORARY_DISK_FAILED: The temporary disk is full or failed: .* cannot be written \(disk I\/O error\)\./,
  );
  t.true(out.includes(` in ${temporary} `), out);
});
