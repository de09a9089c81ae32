import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { freePort } from '../../drills/free-port.ts';
import { AlteringProxy } from '../support/altering-proxy.ts';
import { tarOf } from '../support/archive-builders.ts';
import { helloTar } from '../support/deposit-bodies.ts';
import { CommandLineDepositor, type Facts } from '../support/deposit-command.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { RunningService, until } from '../support/running-service.ts';

type Context = { service: RunningService; proxy: FaultProxy; depositor: CommandLineDepositor; home: string };
const test = anyTest as TestFn<Context>;

const described = ['--name', 'Paint', '--author', 'Ada'];

/** Too large for the plain way, which takes 64 KiB here. */
const noise = tarOf([{ name: 'noise', data: randomBytes(512 * 1024) }]);

test.beforeEach(async (t) => {
  const maxUploadSize = t.title.includes('is sent again') ? 8 * 1024 ** 2 : 64 * 1024;
  const port = await freePort();
  const proxy = await FaultProxy.start(port);
  const baseUrl = `http://127.0.0.1:${proxy.port}`;
  const service = await RunningService.start({ port, baseUrl, maxUploadSize });
  await service.register('alice', { collections: ['software'] });
  const home = await mkdtemp(path.join(tmpdir(), 'depositor-'));
  await writeFile(path.join(home, 'hello.tar'), helloTar);
  await writeFile(path.join(home, 'noise.tar'), noise);
  const depositor = new CommandLineDepositor(home, { url: baseUrl, user: 'alice', password: 'secret' });
  t.context = { service, proxy, depositor, home };
});

test.afterEach.always(async (t) => {
  await t.context.proxy[Symbol.asyncDispose]();
  await t.context.service[Symbol.asyncDispose]();
  await rm(t.context.home, { recursive: true, force: true });
});

test('a creation that was cut off on its way is sent again, since it cannot have been recorded', async (t) => {
  const { depositor, proxy, home } = t.context;
  // More than lies in the buffers between here and there.
  await writeFile(
    path.join(home, 'much.tar'),
    tarOf([{ name: 'noise', data: Buffer.alloc(7 * 1024 ** 2, '?') }]),
  );
  proxy.inject({ kind: 'reset', afterBytes: 1000 }, /^POST \/1\/software\/$/, 1);
  const { code, err } = await depositor.run(['upload', 'much.tar', ...described]);
  t.is(code, 0, err);
  t.regex(err, /The connection was lost .*; trying again\./);
  await assertDeposits(t, 1);
});

test('a creation whose answer was lost is not sent again to a server that would not recognise it', async (t) => {
  const { depositor } = t.context;
  await using proxy = await losing(t, /^POST \/1\/software\/$/, (document) =>
    document.replaceAll(/<(\w+:)?idempotencyKey>[^<]*<[^>]*>/g, ''),
  );
  const upload = ['upload', 'hello.tar', ...described, '--server', proxy.url];
  const { code, err } = await depositor.run(upload);
  t.is(code, 5);
  t.regex(
    err,
    /was lost before the answer came .*: what was sent may have been recorded, or not\.\nLook with/,
  );
  await assertDeposits(t, 1);
});

test('a server that recognises repetitions gets it again, and makes one deposit', async (t) => {
  const { depositor } = t.context;
  await using proxy = await losing(t, /^POST \/1\/software\/$/, (document) =>
    document.replace('</collection>', '<idempotencyKey>true</idempotencyKey></collection>'),
  );
  const upload = ['upload', 'hello.tar', ...described, '--wait', '--server', proxy.url];
  const { code, err } = await depositor.run(upload);
  t.is(code, 0, err);
  t.regex(err, /trying again/);
  await assertDeposits(t, 1);
});

test('what is added is added once, though its answer was lost', async (t) => {
  const { depositor } = t.context;
  const id = String((await depositor.facts(['upload', 'hello.tar', '--partial']))['deposit']);
  await using adding = await losing(t, /^POST .*\/media\/$/);
  const added = await depositor.run([
    'upload',
    '--deposit',
    id,
    'hello.tar',
    '--partial',
    '--server',
    adding.url,
  ]);
  t.is(added.code, 0, added.err);
  t.regex(added.err, /trying again/);
  // The last request completes the deposit, which then is not partial any more.
  await using completing = await losing(t, /^POST .*\/metadata\/$/);
  const completed = await depositor.run([
    'upload',
    '--deposit',
    id,
    ...described,
    '--server',
    completing.url,
  ]);
  t.is(completed.code, 0, completed.err);
  t.regex(completed.err, /trying again/);
  t.deepEqual(await eventTypes(t, id), [
    'DepositCreated',
    'ArchiveAdded',
    'ArchiveAdded',
    'MetadataAdded',
    'DepositCompleted',
  ]);
});

test('a deletion whose answer was lost was done', async (t) => {
  const { depositor } = t.context;
  const { deposit } = await depositor.facts(['upload', 'hello.tar', '--partial']);
  await using proxy = await losing(t, /^DELETE /);
  const deleted = await depositor.run(['delete', String(deposit), '--server', proxy.url]);
  t.is(deleted.code, 0, deleted.err);
  t.regex(deleted.err, /trying again/);
});

test('a server that is not ready is asked again, as long as the patience lasts', async (t) => {
  const { depositor, proxy } = t.context;
  proxy.inject({ kind: 'status', status: 503, code: 'SlowDown' }, /^GET /, 2);
  const patient = await depositor.run(['list']);
  t.is(patient.code, 0);
  t.is(patient.err.match(/The server is not ready \(503\); trying again\./g)?.length, 2);
  proxy.inject({ kind: 'status', status: 503, code: 'SlowDown' }, /^GET /);
  const impatient = await depositor.run(['list', '--patience', '0.1']);
  t.is(impatient.code, 1);
  t.regex(impatient.err, /^The server refused: 503\.$/m);
});

test('a download that was cut off begins anew', async (t) => {
  const { depositor, proxy } = t.context;
  const { deposit } = await depositor.facts(['upload', 'hello.tar', '--partial']);
  proxy.inject({ kind: 'truncate', bytes: 100 }, /^GET .*\/media\/$/, 1);
  t.like(await depositor.facts(['fetch', String(deposit), '--output', 'again.tar']), {
    length: helloTar.length,
  });
});

test('a large archive goes on where its connection broke', async (t) => {
  const { depositor, proxy, home } = t.context;
  proxy.inject({ kind: 'reset', afterBytes: 200_000 }, /^PATCH /, 2);
  const { code, results } = await depositor.json(['upload', 'noise.tar', ...described, '--wait']);
  t.is(code, 0, JSON.stringify(results));
  t.like(results[0], { status: 'done', swhidAgrees: true });
  const ways = proxy.requests.map((told) =>
    told.replace(/\/uploads\/.+/, '/uploads/…').replace(/software\/\d+/, 'software/N'),
  );
  t.deepEqual(
    ways.filter((told) => !told.startsWith('GET')),
    [
      'POST /1/software/uploads/',
      ...['PATCH /1/software/uploads/…', 'HEAD /1/software/uploads/…'],
      ...['PATCH /1/software/uploads/…', 'HEAD /1/software/uploads/…'],
      'PATCH /1/software/uploads/…',
      'POST /1/software/',
      'POST /1/software/N/metadata/',
    ],
  );
  t.deepEqual(await readdir(path.join(home, '.config/sword-deposit/uploads')), [], 'nothing is kept of it');
});

test('an upload that the server has lost begins anew', async (t) => {
  const { depositor, proxy } = t.context;
  proxy.inject({ kind: 'status', status: 404, code: 'Gone' }, /^(PATCH|HEAD) /, 2);
  const { code, err } = await depositor.run(['upload', 'noise.tar', '--partial']);
  t.is(code, 0, err);
  t.regex(err, /The server has dropped the upload; beginning anew\./);
  await assertDeposits(t, 1);
});

test('the command that was killed on its way is given again, and sends only the rest', async (t) => {
  const { depositor, proxy } = t.context;
  let isDeaf = true;
  await using server = await AlteringProxy.start(`http://127.0.0.1:${proxy.port}`, (answer, told) =>
    isDeaf && /^(PATCH|HEAD) /.test(told) ? 'lost' : answer,
  );
  const upload = ['upload', 'noise.tar', ...described, '--wait', '--server', server.url];
  await killedWhen(t, upload, () => server.requests.some((told) => told.startsWith('HEAD')));
  isDeaf = false;
  server.requests.length = 0;
  const { code, err } = await depositor.run(upload);
  t.is(code, 0, err);
  t.regex(err, /525824 of 525824 bytes are there from before/);
  t.deepEqual(
    server.requests.filter((told) => /^(PATCH|POST \/1\/software\/uploads)/.test(told)),
    [],
  );
  await assertDeposits(t, 1);
});

test('the command that was killed when its archive had just been recorded goes on with that deposit', async (t) => {
  const { depositor, proxy } = t.context;
  proxy.inject({ kind: 'stall', afterBytes: 0 }, /^POST \/1\/software\/$/, 1);
  const upload = ['upload', 'noise.tar', ...described, '--wait'];
  await killedWhen(t, upload, async () => (await depositsIn(t)).length === 1);
  proxy.heal();
  const { code, err } = await depositor.run(upload);
  t.is(code, 0, err);
  t.regex(err, /The archive was sent before, to deposit \d+; going on with that\./);
  await assertDeposits(t, 1);
});

test('what is left behind is told, with how to go on', async (t) => {
  const { depositor, proxy } = t.context;
  proxy.inject({ kind: 'status', status: 400, code: 'No' }, /^POST .*\/media\/$/, 1);
  const { code, results } = await depositor.json(['upload', 'hello.tar', 'hello.tar', ...described]);
  t.is(code, 1);
  const { error } = results[0] as { error: Facts };
  t.like(error, { exitCode: 1, status: 400 });
  t.deepEqual(await eventTypes(t, String(error['deposit'])), [
    'DepositCreated',
    'ArchiveAdded',
    'MetadataAdded',
  ]);
});

/** Starts the command, kills it as soon as it is so, and waits for its end. */
async function killedWhen(
  t: ExecutionContext<Context>,
  args: readonly string[],
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  const child = t.context.depositor.start(args);
  const exited = once(child, 'exit');
  await until(async () => child.exitCode !== null || isSo());
  t.is(child.exitCode, null, 'it has ended by itself');
  // What the command has sent so far shall have arrived.
  await new Promise((resolve) => setTimeout(resolve, 200));
  child.kill('SIGKILL');
  await exited;
}

/** A proxy that loses the first answer of those that match, and changes the service document. */
function losing(
  { context }: ExecutionContext<Context>,
  match: RegExp,
  change: (document: string) => string = String,
): Promise<AlteringProxy> {
  let lost = 0;
  return AlteringProxy.start(`http://127.0.0.1:${context.proxy.port}`, (answer, told) => {
    if (match.test(told) && lost++ === 0) return 'lost';
    return told === 'GET /1/servicedocument/' ? { ...answer, body: change(answer.body) } : answer;
  });
}

async function depositsIn({ context }: ExecutionContext<Context>): Promise<string[]> {
  const streams = new Set<string>();
  const all = context.service.service.log.readAll({ streamPrefixes: ['deposit-'] });
  for await (const { stream } of all) streams.add(stream);
  return [...streams];
}

async function assertDeposits(t: ExecutionContext<Context>, count: number): Promise<void> {
  t.is((await depositsIn(t)).length, count);
}

/** What the client has done. */
async function eventTypes({ context }: ExecutionContext<Context>, id: string): Promise<string[]> {
  const events = await Array.fromAsync(context.service.service.log.readStream(`deposit-${id}`));
  const own = ['DepositVerified', 'DepositRejected', 'LoadingStarted', 'DepositLoaded'];
  return events.map(({ type }) => type).filter((type) => !own.includes(type));
}
