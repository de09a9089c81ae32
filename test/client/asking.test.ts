import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import anyTest, { type TestFn } from 'ava';
import { AlteringProxy } from '../support/altering-proxy.ts';
import { tarOf } from '../support/archive-builders.ts';
import {
  archiveHeaders,
  archivePart,
  entryPart,
  formOf,
  formType,
  helloTar,
  helloZip,
  partial,
} from '../support/deposit-bodies.ts';
import { CommandLineDepositor, type Facts } from '../support/deposit-command.ts';
import { RunningService, type TestClient } from '../support/running-service.ts';

type Context = { service: RunningService; alice: TestClient; depositor: CommandLineDepositor; home: string };
const test = anyTest as TestFn<Context>;

test.before(async (t) => {
  const service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await service.register('nobody');
  const home = await mkdtemp(path.join(tmpdir(), 'depositor-'));
  const login = { url: service.url, user: 'alice', password: 'secret' };
  t.context = { service, alice, depositor: new CommandLineDepositor(home, login), home };
});

test.after.always(async (t) => {
  await t.context.service[Symbol.asyncDispose]();
  await rm(t.context.home, { recursive: true, force: true });
});

/** Number of a deposit of alice's that is done. */
async function done({ alice }: Context, archive = helloZip, filename = 'hello.zip'): Promise<string> {
  const body = formOf([archivePart(archive, filename), entryPart()]);
  const answer = await alice.post('/1/software/', body, { ...formType });
  const id = /<deposit_id>(\d+)</.exec(await answer.text())?.[1] ?? '';
  await alice.waitFor(`/1/software/${id}/status/`, 'done');
  return id;
}

async function begun({ alice }: Context): Promise<string> {
  const answer = await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
  return /<deposit_id>(\d+)</.exec(await answer.text())?.[1] ?? '';
}

test('the status of a deposit is told to people and to programs, by its number and by its Edit-IRI', async (t) => {
  const { depositor, service } = t.context;
  const id = await done(t.context);
  const { code, out } = await depositor.run(['status', id]);
  t.is(code, 0);
  t.regex(out, new RegExp(`^Deposit ${id} “Hello”: done\n.*\nswh:1:dir:[0-9a-f]{40};origin=.*\n$`));
  const facts = await depositor.facts(['status', `${service.url}/1/software/${id}/metadata/`, '--wait']);
  t.deepEqual(Object.keys(facts), [
    'deposit',
    'title',
    'status',
    'detail',
    'updated',
    'swhid',
    'swhidContext',
  ]);
  t.like(facts, {
    deposit: Number(id),
    title: 'Hello',
    status: 'done',
    detail: 'The deposit has been loaded.',
  });
  t.true(String(facts['swhidContext']).startsWith(`${String(facts['swhid'])};origin=`));
});

test('deposits are listed over all pages, all of them or those of one status', async (t) => {
  const { depositor, service } = t.context;
  const [finished, open] = [Number(await done(t.context)), Number(await begun(t.context))];
  // Pages of one, as a server with many deposits has them of a hundred.
  await using paged = await AlteringProxy.start(service.url, (answer, told) =>
    told === 'GET /1/servicedocument/'
      ? { ...answer, body: answer.body.replaceAll(/(href="[^"]*\/1\/software\/)"/g, '$1?page_size=1"') }
      : answer,
  );
  const numbers = (results: Facts[]) => results.map(({ deposit }) => Number(deposit));
  const all = await depositor.json(['list'], { env: { SWORD_SERVER: paged.url } });
  t.is(all.code, 0);
  t.true(paged.requests.filter((told) => told.startsWith('GET /1/software/')).length >= all.results.length);
  t.true([finished, open].every((id) => numbers(all.results).includes(id)));
  t.is(new Set(numbers(all.results)).size, all.results.length);

  const partials = await depositor.json(['list', '--status', 'partial']);
  t.true(numbers(partials.results).includes(open) && !numbers(partials.results).includes(finished));
  const { swhid, ...facts } = all.results.find(({ deposit }) => deposit === finished) ?? {};
  t.regex(String(swhid), /^swh:1:dir:/);
  t.like(facts, {
    status: 'done',
    title: 'Hello',
    collection: 'software',
    edit: `${paged.url}/1/software/${finished}/metadata/`,
  });
  const { out, err } = await depositor.run(['list', '--status', 'done']);
  t.regex(out, new RegExp(`^ *${finished}  done +\\S+  Hello  swh:1:dir:`, 'm'));
  t.regex(err, /listed of \d+\.$/m);
});

test('a server that lists no deposits is said to list none', async (t) => {
  const { depositor, service } = t.context;
  await using old = await AlteringProxy.start(service.url, (answer, told) =>
    told.startsWith('GET /1/software/') ? { ...answer, status: 405, body: '' } : answer,
  );
  const { code, err } = await depositor.run(['list'], { env: { SWORD_SERVER: old.url } });
  t.is(code, 1);
  t.regex(err, /^The server lists no deposits: GET .* is not possible there\.$/m);
});

test('a server that gives no receipt for the asking, and calls its namespaces otherwise, is understood all the same', async (t) => {
  const { depositor, service } = t.context;
  const id = await done(t.context);
  await using other = await AlteringProxy.start(service.url, (answer, told) => {
    if (told.endsWith('/metadata/')) return { ...answer, status: 405, body: '' };
    const renamed = answer.body
      .replaceAll(/<(\/?)deposit_\w+>[^<]*(<\/deposit_\w+>)?/g, '')
      .replaceAll('depositns:', 'd:')
      .replaceAll('xmlns:depositns=', 'xmlns:d=');
    return { ...answer, body: renamed };
  });
  const facts = await depositor.facts(['status', id], { env: { SWORD_SERVER: other.url } });
  t.like(facts, { deposit: Number(id), status: 'done' });
});

test('the history of a deposit is told event by event', async (t) => {
  const { depositor } = t.context;
  const id = await done(t.context);
  const { results } = await depositor.json(['history', id]);
  t.deepEqual(
    results.map(({ number, type, by }) => [number, type, by]),
    [
      [0, 'DepositCreated', 'alice'],
      [1, 'ArchiveAdded', 'alice'],
      [2, 'MetadataAdded', 'alice'],
      [3, 'DepositCompleted', 'alice'],
      [4, 'DepositVerified', 'checker'],
      [5, 'LoadingStarted', 'loader'],
      [6, 'DepositLoaded', 'loader'],
    ],
  );
  t.deepEqual(Object.keys(results[0] ?? {}), [
    'deposit',
    'number',
    'type',
    'at',
    'by',
    'sentence',
    'details',
  ]);
  const { out } = await depositor.run(['history', id]);
  t.regex(out, /^#0 {2}\S+Z {2}alice\n {4}Deposit created in the collection software\.\n/);
});

test('an archive is fetched byte for byte, and verified against the identifier of the deposit', async (t) => {
  const { depositor, home } = t.context;
  const id = await done(t.context, helloTar, 'fetched.tar');
  const facts = await depositor.facts(['fetch', id]);
  t.deepEqual(await readFile(path.join(home, 'fetched.tar')), helloTar);
  t.like(facts, { file: 'fetched.tar', length: helloTar.length, swhidAgrees: true });
  const again = await depositor.run(['fetch', id, '--output', 'fetched.tar']);
  t.is(again.code, 1);
  t.regex(again.err, /fetched\.tar is there already/);
  t.is((await depositor.run(['fetch', id, '--output', 'fetched.tar', '--force'])).code, 0);
  const piped = await depositor.run(['fetch', id, '--output', '-']);
  t.is(piped.out, helloTar.toString());
  t.regex(piped.err, /The identifier is that of the deposit: swh:1:dir:/);
});

test('several archives are fetched as a zip, and their identifier is that of the deposit', async (t) => {
  const { depositor, alice, home } = t.context;
  const id = await begun(t.context);
  const second = tarOf([{ name: 'hello/hello.py', data: 'later' }]);
  await alice.post(`/1/software/${id}/media/`, second, archiveHeaders('1', 'application/x-tar'));
  await alice.post(`/1/software/${id}/metadata/`, formOf([entryPart()]), { ...formType });
  await alice.waitFor(`/1/software/${id}/status/`, 'done');
  t.like(await depositor.facts(['fetch', id, '--output', 'both.zip']), { swhidAgrees: true });
  t.true((await stat(path.join(home, 'both.zip'))).size > helloZip.length);
});

test('what is not what the server announced, or not what was deposited, is found out', async (t) => {
  const { depositor, service, home } = t.context;
  const id = await done(t.context, helloTar, 'true.tar');
  const other = tarOf([{ name: 'hello/hello.py', data: 'print("other")\n' }]).toString();
  const env = (proxy: AlteringProxy) => ({ env: { SWORD_SERVER: proxy.url } });
  for (const header of [
    { 'content-md5': '0'.repeat(32) },
    { 'content-digest': 'unknown=:AA==:, sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:' },
  ]) {
    await using lying = await AlteringProxy.start(service.url, (answer, told) =>
      told.endsWith('/media/') ? { ...answer, headers: { ...answer.headers, ...header } } : answer,
    );
    const { code, err } = await depositor.run(['fetch', id, '--output', 'lie.tar'], env(lying));
    t.is(code, 1);
    t.regex(err, /^What came is not what the server announced: content-/m);
  }
  await using swapping = await AlteringProxy.start(service.url, (answer, told) =>
    told.endsWith('/media/') ? { ...answer, headers: {}, body: other } : answer,
  );
  const swapped = await depositor.run(['fetch', id, '--output', 'swapped.tar'], env(swapping));
  t.is(swapped.code, 4);
  t.regex(swapped.out, /The identifier is NOT that of the deposit/);
  await t.throwsAsync(readFile(path.join(home, 'lie.tar')));
});

test('an identifier other than the one that was computed here has an exit code of its own', async (t) => {
  const { depositor, service, home } = t.context;
  await writeFile(path.join(home, 'mine.tar'), helloTar);
  await using wrong = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    body: answer.body.replaceAll(/swh:1:dir:[0-9a-f]{40}/g, `swh:1:dir:${'0'.repeat(40)}`),
  }));
  const upload = ['upload', 'mine.tar', '--name', 'Mine', '--author', 'Me', '--wait'];
  const { code, out } = await depositor.run(upload, { env: { SWORD_SERVER: wrong.url } });
  t.is(code, 4);
  t.regex(out, /The identifier DIFFERS from the one that was computed here: swh:1:dir:[0-9a-f]*[1-9a-f]/);
});

test('a partial deposit is deleted, one that is done is not', async (t) => {
  const { depositor } = t.context;
  const [open, finished] = [await begun(t.context), await done(t.context)];
  t.deepEqual(await depositor.facts(['delete', open]), { deposit: Number(open), deleted: true });
  const gone = await depositor.run(['status', open]);
  t.deepEqual([gone.code, gone.err], [1, `There is no deposit ${open} of alice in software.\n`]);
  const refused = await depositor.run(['delete', finished]);
  t.is(refused.code, 1);
  t.is(
    refused.err,
    `The server refused: 405 Method not allowed.\nDeposit ${finished} is done: it can be changed only while it is partial.\nPossible now: GET, HEAD, OPTIONS.\n`,
  );
});

test('a login is tried, kept for this user alone, and goes to no other server', async (t) => {
  const { service, home } = t.context;
  const newcomer = new CommandLineDepositor(await mkdtemp(path.join(home, 'newcomer-')));
  const login = ['login', '--server', service.url, '--user', 'alice', '--password-stdin'];
  const wrong = await newcomer.run(login, { input: 'wrong\n' });
  t.is(wrong.code, 1);
  t.regex(wrong.err, /^The server refused: 401 Unauthorized\.$/m);
  t.is((await newcomer.run(['list'])).code, 2);

  const right = await newcomer.run([...login, '--json'], { input: 'secret\n' });
  t.like(JSON.parse(right.out), { user: 'alice', collections: ['software'] });
  const file = path.join(newcomer.home, '.config/sword-deposit/login.json');
  t.is((await stat(file)).mode & 0o777, 0o600);
  t.is((await newcomer.run(['list'])).code, 0);
  for (const elsewhere of [
    ['--server', 'http://127.0.0.1:1'],
    ['--user', 'bob'],
  ]) {
    const { code, err } = await newcomer.run(['list', ...elsewhere]);
    t.is(code, 2);
    t.regex(err, /^No (password|user) is known/);
  }
});

test('a server that cannot be reached, or is none, is told with an exit code of its own', async (t) => {
  const { depositor, service } = t.context;
  const refused = await depositor.run(['list', '--server', 'http://127.0.0.1:1']);
  t.deepEqual([refused.code, refused.out], [5, '']);
  t.regex(refused.err, /^The server at http:\/\/127\.0\.0\.1:1 cannot be reached: connect ECONNREFUSED/);
  const { code, results } = await depositor.json(['list', '--server', 'http://127.0.0.1:1']);
  t.is(code, 5);
  t.like(results[0]?.['error'] as Facts, { exitCode: 5 });

  const alterations = {
    'is no service document': '<feed xmlns="http://www.w3.org/2005/Atom"/>',
    'has a DOCTYPE, which is not allowed': '<!DOCTYPE html><html/>',
    'The server has no collection for this user': '<service xmlns="http://www.w3.org/2007/app"/>',
  };
  for (const [said, body] of Object.entries(alterations)) {
    await using strange = await AlteringProxy.start(service.url, (answer) => ({ ...answer, body }));
    const { code: failed, err } = await depositor.run(['list', '--server', strange.url]);
    t.is(failed, 1);
    t.true(err.includes(said), err);
  }
});

test('a password is sent to no other server than the one that was named', async (t) => {
  const { depositor, service } = t.context;
  await using elsewhere = await AlteringProxy.start(service.url, (answer) => answer);
  await using leading = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    body: answer.body.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, elsewhere.url),
  }));
  const { code, err } = await depositor.run(['list', '--server', leading.url]);
  t.is(code, 1);
  t.regex(err, /names an address elsewhere, .*, where the password is not sent/);
  t.deepEqual(elsewhere.requests, []);
  await using moved = await AlteringProxy.start(service.url, (answer) => ({
    ...answer,
    status: 301,
    headers: { location: elsewhere.url },
  }));
  const redirected = await depositor.run(['list', '--server', moved.url]);
  t.regex(redirected.err, /was answered 301 and sent on to .* Redirects are not followed with a password/);
  t.deepEqual(elsewhere.requests, []);
});

test('a user without a collection is told so', async (t) => {
  const { code, err } = await t.context.depositor.run(['list', '--user', 'nobody']);
  t.deepEqual([code, err], [1, 'The server has no collection for this user.\n']);
});

test('there is help for every command, and wrong usage has an exit code of its own', async (t) => {
  const { depositor } = t.context;
  const help = await depositor.run(['--help']);
  t.is(help.code, 0);
  const commands = [...help.out.matchAll(/^ {2}deposit (\w+)/gm)].map(([, name = '']) => name);
  t.is(commands.length, 8);
  for (const name of commands.slice(0, 3)) {
    const { code, out } = await depositor.run([name, '--help']);
    t.is(code, 0);
    t.regex(out, new RegExp(`^ {2}deposit ${name} `, 'm'));
    t.regex(out, /Exit codes: 0 done/);
  }
  for (const args of [
    [],
    ['frobnicate'],
    ['status'],
    ['status', '1', '2'],
    ['status', '01'],
    ['list', '--status', 'x'],
  ])
    t.is((await depositor.run(args)).code, 2, args.join(' '));
});
