import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import type { ParkedEvent } from '../../src/domain/parking/parking.ts';
import { lastEvent } from '../../src/event-log/event-log.ts';
import { versionWarning } from '../../src/event-log/eventstoredb/server-version.ts';
import { beginningOf, momentOf, wholeNumber } from '../../src/operations/command/arguments.ts';
import { skipParked } from '../../src/operations/parked/skip-parked.ts';
import type { StatusFacts } from '../../src/operations/status/status-facts.ts';
import { withRates } from '../../src/operations/status/status-rates.ts';
import { statusScreen } from '../../src/operations/status/status-screen.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { openStore } from '../../src/service/backends/open-store.ts';
import { executeDeposit } from '../../testing/domain/commands.ts';
import { createDeposit } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { EventStoreDbDouble } from '../../testing/eventstoredb-double/eventstoredb-double.ts';
import { entryHeaders, entryXml, partial } from '../../testing/http/deposit-bodies.ts';
import { FaultProxy } from '../../testing/http/fault-proxy.ts';
import { makeDeposit, makeDoneDeposit } from '../../testing/http/made-deposits.ts';
import { jsonLines, outcomeOf, runScript, startScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { S3Server } from '../../testing/s3/s3-server.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';
import { RunningService } from '../../testing/service/running-service.ts';

test('deposits are listed from the views, by state, client, collection and time', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDeposit(alice);
  await makeDeposit(alice, partial);
  await alice.waitFor('/1/software/1/status/', 'done');
  const list = async (...args: string[]) => {
    const ran = await runScript(service.folder, 'deposits', [...args, '--json']);
    t.is(ran.code, 0, ran.err);
    return jsonLines<{ deposit_id: number }>(ran.out).map(({ deposit_id }) => deposit_id);
  };
  t.deepEqual(await list(), [2, 1]);
  t.deepEqual(await list('--status', 'partial'), [2]);
  t.deepEqual(await list('--client', 'bob'), []);
  t.deepEqual(await list('--client', 'alice', '--collection', 'software', '--limit', '1'), [2]);
  t.deepEqual(await list('--since', '2100-01-01'), []);
  t.deepEqual(await list('--since', '2000-01-01'), [2, 1]);
  t.is((await runScript(service.folder, 'deposits', ['--since', '2026-02-31'])).code, 2);
  for (const [args, warning] of [
    [['--limit', '1'], 'Stopped after 1 deposit; --limit shows more.\n'],
    [['--limit', '2'], ''],
    [['--client', 'bob', '--collection', 'nosuch'], 'Client bob not found.\nCollection nosuch not found.\n'],
    [['--client', 'alice', '--collection', 'software', '--status', 'failed'], ''],
  ] as const)
    for (const options of [args, [...args, '--json']])
      t.like(
        await runScript(service.folder, 'deposits', options),
        { code: 0, err: warning },
        options.join(' '),
      );
  const people = await runScript(service.folder, 'deposits', []);
  t.regex(people.out, / {6}1 {2}done .* alice in software {2}Hello/);
  const title = 'A\u202eb\u2800c\u0085d';
  await alice.post('/1/software/', entryXml(`<title>${title}</title>`), { ...entryHeaders(), ...partial });
  await until(async () => (await list('--limit', '1'))[0] === 3);
  for (const options of [[], ['--json']]) {
    const { out } = await runScript(service.folder, 'deposits', ['--limit', '1', ...options]);
    t.regex(out, /A\\u202eb\\u2800c/, 'no control or direction characters are printed');
    t.notRegex(out, /[\u0080-\u009f\u202e\u2800]/);
  }
});

test('deposits and views of a data folder without a log are refused like by other commands', async (t) => {
  const folder = await temporaryFolder(t);
  for (const [command, ...args] of [['deposits'], ['view', 'deposit-status']] as const) {
    const { code, err } = await runScript(folder, command, args);
    t.is(code, 1);
    t.regex(err, /^No event log at \S+event-log\.sqlite\. A service creates it at its first start; /);
  }
});

test('an operator can retry the checks of a rejected deposit, not of one that is done', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'], domain: 'elsewhere.example' });
  await makeDeposit(alice);
  await alice.waitFor('/1/software/1/status/', 'rejected');
  const notYet = await runScript(service.folder, 'retry', ['1']);
  t.is(notYet.code, 1);
  t.is(notYet.err, 'Deposit 1 is rejected: give --recheck to have it checked again.\n');
  await service.administration.client({ type: 'SetDomain', client: 'alice', domain: null });
  const named = await runScript(service.folder, 'retry', ['1', '1', '--recheck']);
  t.like(
    named,
    { code: 0, out: 'Deposit 1: ChecksRetried, attempt 2.\n' },
    'once, although it is named twice',
  );
  await alice.waitFor('/1/software/1/status/', 'done');
  const events = await Array.fromAsync(service.service.log.readStream('deposit-1'));
  const retried = events.find(({ type }) => type === 'ChecksRetried');
  t.like(retried?.metadata['actor'], { kind: 'operator' });
  const again = await runScript(service.folder, 'retry', ['1', '99', '--recheck']);
  t.is(again.code, 1);
  t.regex(again.err, /^Deposit 1 is done; only a deposited or rejected deposit can be checked again\.$/m);
  t.regex(again.err, /deposit 99/i);
  await makeDeposit(alice, partial);
  const notDone = await runScript(service.folder, 'retry', ['2', '--recheck']);
  t.is(notDone.code, 1);
  t.is(notDone.err, 'Deposit 2 is partial; only a deposited or rejected deposit can be checked again.\n');
  t.is((await runScript(service.folder, 'retry', ['0x1'])).code, 2);
});

test('abandoned deposits are deleted by an event with its reason; recent and complete ones remain', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDeposit(alice, partial);
  await makeDeposit(alice);
  await alice.waitFor('/1/software/2/status/', 'done');
  t.regex((await runScript(service.folder, 'expire', ['--older-than', '1h'])).out, /0 deposits were deleted/);
  const dry = await runScript(service.folder, 'expire', ['--older-than', '0s', '--dry-run', '--json']);
  t.like(JSON.parse(dry.out), { deposit_id: 1, expired: true, dry_run: true });
  t.is((await alice.get('/1/software/1/status/')).status, 201);
  const done = await runScript(service.folder, 'expire', ['--older-than', '0s', '--json']);
  t.like(JSON.parse(done.out), { deposit_id: 1, expired: true, dry_run: false });
  const last = (await Array.fromAsync(service.service.log.readStream('deposit-1'))).at(-1);
  t.like(last, {
    type: 'DepositDeleted',
    data: { reason: 'Abandoned: it was left partial for longer than 0s' },
  });
  t.is((await runScript(service.folder, 'expire', ['--older-than', 'long'])).code, 2);
});

test('orphans are reported, and removed only on request; objects named by events remain', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDoneDeposit(alice);
  const { store } = service.service;
  const orphan = await store.put(Readable.from([Buffer.from('no event names this')]));
  const large = await store.put(Readable.from([Buffer.alloc(100_000, 7)]));
  t.regex(
    (await runScript(service.folder, 'gc', ['--older-than', '0s'])).err,
    /at least 1h while a service runs/,
  );
  t.regex((await runScript(service.folder, 'gc', [])).out, /Found 0 objects/, 'they are too recent');
  await service.stop();
  await using silent = await EventStoreDbDouble.start();
  silent.faults.set('read', { kind: 'delay', milliseconds: 0 }); // whether a copy into the log is unfinished
  silent.faults.set('read', { kind: 'hang' }, Number.POSITIVE_INFINITY);
  const temporary = await temporaryFolder(t);
  const env = { DEPOSIT_EVENT_LOG: silent.connectionString, TMPDIR: temporary };
  const gc = startScript(service.folder, 'gc', [], env);
  const ended = outcomeOf(gc);
  await until(async () => silent.faults.seen('read') > 1);
  gc.kill('SIGINT');
  const stopped = await ended;
  t.is(stopped.code, 1);
  t.regex(stopped.err, /^Stopped\. Run the same command again\.\n$/m);
  t.deepEqual(await readdir(temporary), []);
  const note = await runScript(service.folder, 'gc', ['--older-than', '0s']);
  t.regex(note.out, new RegExp(`${orphan.sha256}  19 bytes`));
  t.regex(note.out, /Found 2 objects that no event names \(100,019 bytes\), 0 parts/);
  const many = await runScript(service.folder, 'gc', ['--older-than', '0s', '--remove']);
  t.is(many.code, 1);
  t.regex(many.err, /^No event names 2 of 6 objects, which is more than a tenth: nothing is removed/);
  const all = ['--older-than', '0s', '--remove', '--more-than-a-tenth', '--json'];
  const removed = await runScript(service.folder, 'gc', all);
  t.deepEqual(JSON.parse(removed.out), {
    objects: 2,
    bytes: 100_019,
    uploads: 0,
    removed: true,
    failed: 0,
  });
  await service.startAgain();
  const left = await Array.fromAsync(service.service.store.list(), ({ sha256 }) => sha256);
  t.false(left.includes(orphan.sha256) || left.includes(large.sha256));
  t.is((await alice.at(service.url).get('/1/software/1/media/')).status, 200);
});

test('gc names an object that the store refuses to remove, and removes the others', async (t) => {
  await using s3 = await S3Server.start();
  await using proxy = await FaultProxy.start(s3.port);
  await using service = await RunningService.start({ archiveStore: s3.store('deposits', proxy.port) });
  await service.register('alice', { collections: ['software'] });
  const put = (text: string) => service.service.store.put(Readable.from([Buffer.from(text)]));
  const [one, other] = [await put('one'), await put('other')].map(({ sha256 }) => sha256).sort();
  await service.stop();
  proxy.inject({ kind: 'status', status: 403, code: 'AccessDenied' }, new RegExp(`^DELETE .*${one}`));
  const env = s3.settings('deposits', proxy.port);
  const all = ['--older-than', '0s', '--remove', '--more-than-a-tenth'];
  await setTimeout(2100); // a HEAD has a resolution of seconds
  const { code, out, err } = await runScript(service.folder, 'gc', all, { env });
  t.is(code, 1, err);
  t.regex(out, /^Removed 1 object that no event names/);
  t.regex(err, new RegExp(`^The object ${one} was not removed: .*denies access`));
  const keys = [...(s3.buckets.get('deposits')?.objects.keys() ?? [])];
  t.deepEqual(
    [one, other].map((sha256) => keys.some((key) => key.endsWith(sha256 ?? ''))),
    [true, false],
  );
});

test('nothing is removed while the store has not all objects named by events', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDoneDeposit(alice);
  const { store } = service.service;
  const orphan = await store.put(Readable.from([Buffer.alloc(100_000, 7)]));
  await service.stop();
  const database = path.join(service.folder, 'archives/small.sqlite');
  const all = ['--older-than', '0s', '--remove', '--more-than-a-tenth'];
  {
    using small = new DatabaseSync(database);
    small.exec('CREATE TABLE kept AS SELECT * FROM small_object ORDER BY id LIMIT 1');
    small.exec('DELETE FROM small_object WHERE sha256 IN (SELECT sha256 FROM kept)');
    const { sha256 } = small.prepare('SELECT sha256 FROM kept').get() ?? {};
    const lacking = await runScript(service.folder, 'gc', all);
    t.is(lacking.code, 1);
    t.regex(
      lacking.err,
      new RegExp(`^The store does not list 1 object that events name, among them ${String(sha256)}`),
    );
    small.exec('INSERT INTO small_object SELECT * FROM kept; DROP TABLE kept');
  }
  await service.startAgain();
  t.truthy(await service.service.store.stat(orphan.sha256));
});

test('the completed part of a command is reported even if the log fails in the middle', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http']);
  const alice = await nodes.register(node);
  for (let count = 0; count < 3; count += 1) await makeDeposit(alice, partial);
  const { faults } = nodes.double;
  faults.set('append', { kind: 'delay', milliseconds: 0 });
  faults.set('append', { kind: 'refuse', code: 7, exception: 'access-denied' }, Number.POSITIVE_INFINITY);
  const args = ['--older-than', '0s', '--json'];
  const expired = await runScript(node.folder, 'expire', args, { env: nodes.settings });
  t.is(expired.code, 1);
  t.like(JSON.parse(expired.out), { deposit_id: 1, expired: true, dry_run: false });
  t.regex(expired.err, /^The append to deposit-2 failed: the server does not allow it/m);
});

test('parked events are listed, shown and skipped with a reason', async (t) => {
  await using service = await RunningService.start();
  const parked = { reactor: 'checker', eventId: 'e-1', stream: 'client-x', revision: 0, reason: 'it kills' };
  await service.administration.parking({ type: 'ParkEvent', ...parked });
  const run = (...args: string[]) => runScript(service.folder, 'parked', args);
  const listed = async () => JSON.parse((await run('list', '--json')).out) as Record<string, unknown>;
  const { eventId: event_id, ...others } = parked;
  const once = { ...others, event_id, times_parked: 1, tries: null };
  t.like(await listed(), once);
  t.regex(
    (await run('list')).out,
    /^e-1 {2}checker {2}client-x at revision 0\n {4}parked \d{4}-\S+Z, \d+ s ago\n {4}\| it kills\n$/,
  );
  t.is((await run('show', 'e-2')).code, 1);
  t.is((await run('skip', 'e-1')).code, 2);
  await service.administration.parking({ type: 'ParkEvent', ...parked, reactor: 'notifier' });
  const either = await run('skip', 'e-1', '--reason', 'no deposit');
  t.is(either.code, 2);
  t.is(either.err, 'The event e-1 is parked for checker, notifier: name one of them with --reactor.\n');
  t.is((await run('skip', 'e-1', '--reactor', 'notifier', '--reason', 'no deposit')).code, 0);
  t.like(await listed(), once);
  t.is((await run('skip', 'e-1', '--reason', 'no deposit')).code, 0);
  t.regex((await run('list')).out, /No event is parked/);
  t.like(await run('retry', '--all'), { code: 0, out: 'No event is parked.\n' });
  await service.administration.parking({ type: 'ParkEvent', ...parked });
  const twice = await run('retry', 'e-1', 'e-1');
  t.like(twice, { code: 0, out: 'The checker retries client-x (event e-1).\n' }, twice.err);
});

test('a parked event lists its attempts; skipping it ends the deposit that waits for it', async (t) => {
  await using service = await RunningService.start({ roles: ['http'] });
  const alice = await service.register('alice', { collections: ['software'] });
  for (let count = 0; count < 2; count += 1) await makeDeposit(alice);
  const { administration, service: running } = service;
  await administration.deposit(2, {
    type: 'RecordVerified',
    depositId: 2,
    attempt: 1,
    readings: [],
    warnings: [],
  });
  const parked = [];
  for (const [reactor, stream] of [
    ['checker', 'deposit-1'],
    ['loader', 'deposit-2'],
    ['checker', 'deposit-2'],
  ] as const) {
    const events = await Array.fromAsync(running.log.readStream(stream));
    const event = events.find(
      ({ type }) => type === (reactor === 'checker' ? 'DepositCompleted' : 'DepositVerified'),
    );
    const { id: eventId = '', revision = 0 } = event ?? {};
    parked.push({ reactor, eventId, stream, revision, reason: 'It kills.', tries: 10 });
  }
  const [ofCheck, ofLoad, ofThePast] = parked as readonly ParkedEvent[] as [
    ParkedEvent,
    ParkedEvent,
    ParkedEvent,
  ];
  for (const each of parked) await administration.parking({ type: 'ParkEvent', ...each });
  await administration.parking({ type: 'RetryParked', reactor: 'checker', eventId: ofCheck.eventId });
  await administration.parking({ type: 'ParkEvent', ...ofCheck });
  const run = (...args: string[]) => runScript(service.folder, 'parked', args);
  const { out } = await run('list', '--json');
  const lines = jsonLines(out);
  t.deepEqual(
    lines.map(({ event_id, tries, times_parked }) => [event_id, tries, times_parked]),
    [
      [ofThePast.eventId, 10, 1],
      [ofCheck.eventId, 20, 2],
      [ofLoad.eventId, 10, 1],
    ],
  );
  t.regex(
    (await run('list', '--reactor', 'loader')).out,
    / s ago, after 10 failed tries\n {4}\| It kills\.\n$/,
  );
  const skip = ({ eventId, reactor }: ParkedEvent) =>
    run('skip', eventId, '--reactor', reactor, '--reason', 'the reader dies of it');
  t.is((await skip(ofThePast)).out, `The checker will not handle the event ${ofThePast.eventId} again.\n`);
  t.regex((await skip(ofCheck)).out, /again\.\nDeposit 1 is rejected\.\n$/);
  t.regex((await skip(ofLoad)).out, /again\.\nDeposit 2 is failed\.\n$/);
  const detail = 'skipped by the operator: the reader dies of it (archive)';
  t.true((await alice.waitFor('/1/software/1/status/', 'rejected')).includes(`- The checks were ${detail}`));
  t.true((await alice.waitFor('/1/software/2/status/', 'failed')).includes(`- The loading was ${detail}`));
  t.is((await run('skip', ofLoad.eventId, '--reason', 'x'.repeat(1001))).code, 1, 'it is no longer parked');
  t.is((await run('list')).out, 'No event is parked.\n');
  t.is(
    (await runScript(service.folder, 'retry', ['1', '--recheck'])).code,
    0,
    'an operator may change their mind',
  );
});

test('a skip of an event that is retried meanwhile says that its deposit has ended', async (t) => {
  await using log = new MemoryEventLog();
  await executeDeposit(log, 1, createDeposit());
  const { id: eventId = '', stream = '', revision = 0 } = (await lastEvent(log, 'deposit-1')) ?? {};
  const parked = { reactor: 'checker', eventId, stream, revision, reason: 'It kills.' };
  const administration = new AdminCommands(log, { kind: 'operator', name: 'rosa' });
  const skip = () => skipParked(log, administration, parked, 'it kills');
  await administration.parking({ type: 'ParkEvent', ...parked });
  await administration.parking({ type: 'RetryParked', reactor: 'checker', eventId }); // by the sweep, after the list
  const gone = `No event ${eventId} is parked for the checker.`;
  await t.throwsAsync(skip(), { code: 'NOT_PARKED', message: `Deposit 1 is rejected. ${gone}` });
  t.is((await lastEvent(log, 'deposit-1'))?.type, 'DepositRejected');
  await t.throwsAsync(skip(), { code: 'NOT_PARKED', message: gone }, 'nothing was done');
});

test('status shows lags, deposits by state and waiting events, with and without a running service', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDeposit(alice);
  await makeDeposit(alice, partial);
  await alice.waitFor('/1/software/1/status/', 'done');
  const parked = { reactor: 'loader', eventId: 'e-1', stream: 'client-x', revision: 0, reason: 'it kills' };
  await service.administration.parking({ type: 'ParkEvent', ...parked });
  const untold = { ...parked, reactor: 'notifier', eventId: 'e-2' };
  await service.administration.parking({ type: 'ParkEvent', ...untold });
  const position = await service.service.log.head();
  const look = async () =>
    JSON.parse((await runScript(service.folder, 'status', ['--json'])).out) as StatusFacts;
  await until(async () => (await look()).reactors.every((reactor) => reactor.position === position));
  t.like(await look(), {
    service: { roles: ['http', 'reactors'], following: null },
    silence: null,
    log: { position },
    views: [
      { name: 'deposit-status', position, lag_events: 0, rate: 0 },
      { lag_events: 0 },
      { lag_events: 0 },
      { lag_events: 0 },
    ],
    reactors: [
      { name: 'checker', position, lag_events: 0, under_way: 0, last_error: null, rate: 0 },
      { name: 'loader', position, lag_events: 0 },
    ],
    deposits: { by_status: { done: 1, partial: 1 }, oldest: [{ status: 'partial', deposit_id: 2 }] },
    notifications: { waiting: 0, taken: 0, key_problem: null },
    parked: [{ event_id: 'e-1' }, { event_id: 'e-2' }],
    store: { engine: 'file', note: null, is_whole: true },
  });
  const screen = (await runScript(service.folder, 'status', [])).out;
  t.regex(screen, /^Deposits: 1 done, 1 partial$|^Deposits: 1 partial, 1 done$/m);
  t.regex(screen, /^Notifications: 0 delivered, /m);
  t.regex(screen, /^Parked events: 2 /m);
  t.regex(screen, new RegExp(`^deposit-status +${position} +0 +– +0/s$`, 'm'));
  t.regex(screen, new RegExp(`^checker +${position} +0 +– +0 +\\d+ +0/s +0$`, 'm'));
  await service.stop();
  t.like(await look(), {
    service: null,
    views: [{ name: 'deposit-status', lag_events: 0, rate: null }],
    reactors: [{ name: 'checker', position, done: null, rate: null }, { name: 'loader' }],
    notifications: { waiting: 0, taken: null },
  });
  t.regex((await runScript(service.folder, 'status', [])).out, /^No service runs on this data folder/);
  await service.startAgain();
});

test('a corrupt view is named by status with its remedy, and hides nothing else', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  for (let count = 0; count < 3; count += 1) await makeDeposit(alice);
  for (const depositId of [1, 2, 3]) await alice.waitFor(`/1/software/${depositId}/status/`, 'done');
  const position = await service.service.log.head();
  await until(async () => {
    const { out } = await runScript(service.folder, 'status', ['--json']);
    const { reactors } = JSON.parse(out) as StatusFacts;
    return reactors.every((reactor) => reactor.position === position);
  });
  await service.stop();
  const file = path.join(service.folder, 'views', 'views.1.sqlite');
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill(0, 4096));
  const sentence = `The views in ${file} are corrupt: "deposit-service rebuild --all" repairs them.`;
  const status = await runScript(service.folder, 'status', ['--json']);
  t.is(status.code, 0, status.err);
  t.like(JSON.parse(status.out), {
    log: { position },
    reactors: [{ name: 'checker', position }, { name: 'loader' }],
    deposits: null,
    notifications: null,
    store: { engine: 'file', is_whole: true },
    damaged_views: [sentence],
  });
  const screen = (await runScript(service.folder, 'status', [])).out;
  t.true(screen.includes(`\n${sentence}\n`), screen);
  t.regex(screen, /^Deposits: unknown while a view is corrupt$/m);
  await service.startAgain();
});

test('an object store that is missing or corrupt is named by status, and hides nothing else', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const archives = path.join(service.folder, 'archives');
  await rename(archives, `${archives}.away`);
  const running = await runScript(service.folder, 'status', []);
  t.is(running.code, 0, running.err);
  t.regex(running.out, /^Archives \(file\): unknown; .*\n {2}No archive store at .*archives\./m);
  t.regex(running.out, /^Service \S+ at http:/m);
  await rename(`${archives}.away`, archives);
  await service.stop();
  await writeFile(path.join(archives, 'small.sqlite'), 'no database');
  const stopped = await runScript(service.folder, 'status', ['--json']);
  t.is(stopped.code, 0, stopped.err);
  const { store, log } = JSON.parse(stopped.out) as StatusFacts;
  t.regex(String(store.note), /small\.sqlite, the store of small objects, is corrupt: /);
  t.is(store.objects, null);
  t.not(log.position, null);
});

test('status warns that a power cut may lose objects of an S3 store, and shows the rest during its outage', async (t) => {
  const folder = await temporaryFolder(t);
  await using server = await S3Server.start();
  const env = server.settings();
  const config = readConfig({ ...env, DEPOSIT_DATA_DIR: folder });
  await (await openLog(config))[Symbol.asyncDispose]();
  await (await openStore(config))[Symbol.asyncDispose]();
  const note = 'a power cut may lose objects that the store has acknowledged.';
  for (const [durable, expected] of [
    [{}, `DEPOSIT_S3_DURABLE is not set: ${note}`],
    [{ DEPOSIT_S3_DURABLE: 'false' }, `DEPOSIT_S3_DURABLE is false: ${note}`],
    [{ DEPOSIT_S3_DURABLE: 'true' }, null],
  ] as const) {
    const { out, err } = await runScript(folder, 'status', ['--json'], { env: { ...env, ...durable } });
    t.is((JSON.parse(out) as StatusFacts).store.note, expected, err);
    const screen = (await runScript(folder, 'status', [], { env: { ...env, ...durable } })).out;
    t.regex(screen, /^Archives \(s3\): 0 objects, /m);
    t.is(screen.includes(`\n  ${expected}\n`), expected !== null, screen);
  }

  server.state = 'starting';
  const { code, out, err } = await runScript(folder, 'status', ['--json'], { env });
  t.is(code, 0, err);
  const { store, parked } = JSON.parse(out) as StatusFacts;
  t.like(store, { objects: null, bytes: null });
  t.regex(String(store.note), /^The archive store /);
  t.deepEqual(parked, [], 'what does not need the store is shown');
  const screen = (await runScript(folder, 'status', [], { env })).out;
  t.regex(screen, /^Archives \(s3\): unknown; .* free in the data folder\n {2}The archive store /m);
});

test('rates are of one run of a service, and the widest status fits into 100 columns', (t) => {
  const [version, warning] = ['24.10.13', versionWarning('24.10.13') ?? null];
  const at = (seconds: number, done: number, startedAt = '2026-03-01T10:00:00.000Z'): StatusFacts => {
    const position = '0000001fffffff00-0000001fffffff00';
    const behind = { position, lagEvents: 1000, lagSeconds: 9999, done };
    const service = { version: '10.20.30', pid: 4_194_304, url: 'http://127.0.0.1:65535', following: null };
    return {
      at: new Date(Date.UTC(2026, 2, 2, 0, 0, seconds)).toISOString(),
      service: { ...service, roles: ['http', 'reactors'], startedAt, problems: [] },
      silence: null,
      log: { engine: 'eventstoredb', position: behind.position, server: { version, warning }, note: null },
      views: [{ name: 'undelivered-notifications', ...behind }],
      reactors: [{ name: 'notifier', ...behind, underWay: 5000, failures: 100_000, lastError: null }],
      deposits: null,
      notifications: null,
      sweep: null,
      damagedViews: [],
      parked: [],
      store: {
        engine: 's3',
        note: 'DEPOSIT_S3_DURABLE is not set: a power cut may lose objects that the store has acknowledged.',
        objects: 1,
        bytes: 1,
        isWhole: true,
      },
      diskFreeBytes: 1,
      lastBackup: null,
      lastVerification: null,
    };
  };
  const rates = ({ views, reactors }: ReturnType<typeof withRates>) =>
    [...views, ...reactors].map(({ rate }) => rate);
  const running = withRates(at(2, 1_000_501), at(0, 1_000_000));
  t.deepEqual(rates(running), [250.5, 250.5]);
  t.deepEqual(rates(withRates(at(2, 5, '2026-03-02T00:00:01.000Z'), at(0, 1000))), [null, null]);
  t.deepEqual(rates(withRates(at(2, 5))), [null, null]);
  const screen = statusScreen(running);
  t.regex(screen, /^undelivered-notifications +0000001fffffff00-0000001fffffff00 +≥ 1,000 +3 h +250\.5\/s$/m);
  t.regex(screen, /^ {2}EventStoreDB 24\.10\.13 may lose deliveries: upgrade to 24\.10\.14/m);
  for (const line of screen.split('\n')) t.true(line.length <= 100, line);
  const withoutViews = statusScreen({ ...running, log: { ...running.log, engine: 'sqlite' } });
  t.regex(withoutViews, /^Deposits: not counted yet\. The service builds the views when it starts\.$/m);
  const stuck = { byStatus: { deposited: 0, verified: 0, loading: 0 }, afterSeconds: 1 };
  const deposits = { byStatus: { done: 275_993, failed: 1478 }, oldest: [], stuck };
  t.regex(statusScreen({ ...running, deposits }), /^Deposits: 275,993 done, 1,478 failed$/m);
  const setBack = statusScreen({ ...running, lastBackup: '2026-03-02T00:00:03.000Z' });
  t.regex(
    setBack,
    /^Last complete backup: 2026-03-02T00:00:03\.000Z, which is in the future for the clock of /m,
  );
});

test('times and deposit numbers have the same strict syntax as elsewhere', (t) => {
  t.is(beginningOf('since', '2026-03-01'), Date.UTC(2026, 2, 1));
  t.is(momentOf('2026-03-01T10:00:00.5+01:00'), Date.UTC(2026, 2, 1, 9, 0, 0, 500));
  t.is(momentOf('2026-03-01 09:00:00.500z'), Date.UTC(2026, 2, 1, 9, 0, 0, 500), 'as history prints it');
  t.is(momentOf('0099-03-01 09:00:00Z'), Date.parse('0099-03-01T09:00:00Z'));
  for (const text of ['7', '2026', '2026-02-31', '2026-02-30T10:00:00Z', '2026-03-01T10:00', 'soon', '']) {
    t.throws(() => beginningOf('since', text), { message: /^--since .*neither a time/ }, text);
  }
  t.is(momentOf('2026-03-01'), undefined);
  t.deepEqual(['1', '42', '9007199254740991'].map(wholeNumber), [1, 42, 9_007_199_254_740_991]);
  for (const text of ['0', '01', '0x1', '1e0', '1.0', ' 1', '-1', '9007199254740992', '']) {
    t.is(wholeNumber(text), undefined, text);
  }
});
