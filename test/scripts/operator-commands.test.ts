import test, { type ExecutionContext } from 'ava';
import { archivePart, entryPart, formOf, formType } from '../support/deposit-bodies.ts';
import { runScript } from '../support/run-script.ts';
import { RunningService, type TestClient } from '../support/running-service.ts';

const FINAL = {};
const PARTIAL = { 'In-Progress': 'true' };

async function deposit(
  t: ExecutionContext,
  client: TestClient,
  headers: Record<string, string>,
): Promise<void> {
  const body = new Uint8Array(formOf([archivePart(), entryPart()]));
  const created = await client.post('/1/software/', body, { ...formType, ...headers });
  t.is(created.status, 201);
}

test('deposits are listed from the views, by state, client, collection and time', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await deposit(t, alice, FINAL);
  await deposit(t, alice, PARTIAL);
  await alice.waitFor('/1/software/1/status/', 'done');
  const list = async (...args: string[]) => {
    const ran = await runScript(service.folder, 'deposits', [...args, '--json']);
    t.is(ran.code, 0, ran.err);
    return ran.out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { depositId: number }).depositId);
  };
  t.deepEqual(await list(), [2, 1]);
  t.deepEqual(await list('--status', 'partial'), [2]);
  t.deepEqual(await list('--client', 'bob'), []);
  t.deepEqual(await list('--client', 'alice', '--collection', 'software', '--limit', '1'), [2]);
  t.deepEqual(await list('--since', '2100-01-01'), []);
  t.deepEqual(await list('--since', '2000-01-01'), [2, 1]);
  t.is((await runScript(service.folder, 'deposits', ['--since', 'soon'])).code, 2);
  const people = await runScript(service.folder, 'deposits', []);
  t.regex(people.out, / {6}1 {2}done .* alice in software {2}Hello/);
});

test('a rejected deposit is checked again when the operator wants it; one that is done is not', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'], domain: 'elsewhere.example' });
  await deposit(t, alice, FINAL);
  await alice.waitFor('/1/software/1/status/', 'rejected');
  const notYet = await runScript(service.folder, 'retry', ['1']);
  t.is(notYet.code, 1);
  t.regex(notYet.err, /rejected.*--recheck|is rejected/);
  await service.administration.client({ type: 'SetDomain', client: 'alice', domain: null });
  t.is((await runScript(service.folder, 'retry', ['1', '--recheck'])).code, 0);
  await alice.waitFor('/1/software/1/status/', 'done');
  const events = await Array.fromAsync(service.service.log.readStream('deposit-1'));
  const retried = events.find(({ type }) => type === 'ChecksRetried');
  t.like(retried?.metadata['actor'], { kind: 'operator' });
  const again = await runScript(service.folder, 'retry', ['1', '99', '--recheck']);
  t.is(again.code, 1);
  t.regex(again.err, /deposit 99/i);
  t.is((await runScript(service.folder, 'retry', ['one'])).code, 2);
});

test('abandoned deposits are deleted by an event with its reason, younger and complete ones stay', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await deposit(t, alice, PARTIAL);
  await deposit(t, alice, FINAL);
  await alice.waitFor('/1/software/2/status/', 'done');
  t.regex((await runScript(service.folder, 'expire', ['--older-than', '1h'])).out, /0 deposits were deleted/);
  const dry = await runScript(service.folder, 'expire', ['--older-than', '0s', '--dry-run', '--json']);
  t.deepEqual(JSON.parse(dry.out), { expired: [1], left: [], dryRun: true });
  t.is((await alice.get('/1/software/1/status/')).status, 201);
  const done = await runScript(service.folder, 'expire', ['--older-than', '0s', '--json']);
  t.deepEqual(JSON.parse(done.out), { expired: [1], left: [], dryRun: false });
  const last = (await Array.fromAsync(service.service.log.readStream('deposit-1'))).at(-1);
  t.like(last, {
    type: 'DepositDeleted',
    data: { reason: 'Abandoned: it was left partial for longer than 0s' },
  });
  t.is((await runScript(service.folder, 'expire', ['--older-than', 'long'])).code, 2);
});

test('orphans are told, and removed only when that is asked for; what events name stays', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await deposit(t, alice, FINAL);
  await alice.waitFor('/1/software/1/status/', 'done');
  const bytes = async function* () {
    yield Buffer.from('nobody names this');
  };
  const { store } = service.service;
  const orphan = await store.put(bytes());
  const large = await store.put(
    (async function* () {
      yield Buffer.alloc(100_000, 7);
    })(),
  );
  t.regex(
    (await runScript(service.folder, 'gc', ['--older-than', '0s'])).err,
    /1h at least while a service runs/,
  );
  t.regex((await runScript(service.folder, 'gc', [])).out, /Found 0 objects/, 'they are too young');
  await service.stop();
  const told = await runScript(service.folder, 'gc', ['--older-than', '0s']);
  t.regex(told.out, new RegExp(`${orphan.sha256}  17 bytes`));
  t.regex(told.out, /Found 2 objects that no event names \(100017 bytes\), 0 parts/);
  const removed = await runScript(service.folder, 'gc', ['--older-than', '0s', '--remove', '--json']);
  t.deepEqual(JSON.parse(removed.out), { objects: 2, bytes: 100_017, uploads: 0, removed: true });
  await service.startAgain();
  const left = await Array.fromAsync(service.service.store.list(), ({ sha256 }) => sha256);
  t.false(left.includes(orphan.sha256) || left.includes(large.sha256));
  t.is((await alice.at(service.url).get('/1/software/1/media/')).status, 200);
});

test('parked events are listed, shown and skipped with a reason', async (t) => {
  await using service = await RunningService.start();
  const parked = { reactor: 'checker', eventId: 'e-1', stream: 'client-x', revision: 0, reason: 'it kills' };
  await service.administration.parking({ type: 'ParkEvent', ...parked });
  const run = (...args: string[]) => runScript(service.folder, 'parked', args);
  t.deepEqual(JSON.parse((await run('list', '--json')).out), [parked]);
  t.regex((await run('list')).out, /e-1 {2}checker {2}client-x at revision 0: it kills/);
  t.is((await run('show', 'e-2')).code, 1);
  t.is((await run('skip', 'e-1')).code, 2);
  t.is((await run('skip', 'e-1', '--reason', 'no deposit')).code, 0);
  t.regex((await run('list')).out, /No event is parked/);
});

test('status shows lags, deposits by state and what waits, beside the service and without it', async (t) => {
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await deposit(t, alice, FINAL);
  await deposit(t, alice, PARTIAL);
  await alice.waitFor('/1/software/1/status/', 'done');
  const parked = { reactor: 'loader', eventId: 'e-1', stream: 'client-x', revision: 0, reason: 'it kills' };
  await service.administration.parking({ type: 'ParkEvent', ...parked });
  const untold = { ...parked, reactor: 'notifier', eventId: 'e-2' };
  await service.administration.parking({ type: 'ParkEvent', ...untold });
  const look = async () => JSON.parse((await runScript(service.folder, 'status', ['--json'])).out) as object;
  t.like(await look(), {
    service: { roles: ['http', 'reactors'], following: null },
    views: [{ lagEvents: 0 }, { lagEvents: 0 }, { lagEvents: 0 }, { lagEvents: 0 }],
    reactors: [
      { name: 'checker', lagEvents: 0, underWay: 0, lastError: null },
      { name: 'loader', lagEvents: 0 },
    ],
    deposits: { byStatus: { done: 1, partial: 1 }, oldest: [{ status: 'partial', depositId: 2 }] },
    notifications: { waiting: 0, taken: 0, keyProblem: null },
    parked: [parked, untold],
    store: { engine: 'file', isWhole: true },
  });
  const screen = (await runScript(service.folder, 'status', [])).out;
  t.regex(screen, /^Deposits: 1 done, 1 partial$|^Deposits: 1 partial, 1 done$/m);
  t.regex(screen, /^Notifications: 0 taken, /m);
  t.regex(screen, /^Parked events: 2 /m);
  await service.stop();
  t.like(await look(), {
    service: null,
    reactors: [{ name: 'checker', done: null }, { name: 'loader' }],
    notifications: { waiting: 0, taken: null },
  });
  t.regex((await runScript(service.folder, 'status', [])).out, /^No service runs on this data folder/);
  await service.startAgain();
});
