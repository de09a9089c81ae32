import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { archivesIn } from '../../client/archives/archives-in.ts';
import { Fault } from '../../client/faults.ts';
import { tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { AlteringProxy } from '../../testing/http/altering-proxy.ts';
import {
  archiveHeaders,
  entryPart,
  formOf,
  formType,
  helloTar,
  helloZip,
} from '../../testing/http/deposit-bodies.ts';
import { CommandLineDepositor, type Facts } from '../../testing/processes/deposit-command.ts';
import { depositBegun, depositDone } from './known-deposits.ts';
import { listening } from './listening-server.ts';
import { testOfCommands } from './test-of-commands.ts';

const test = testOfCommands();

test('the status of a deposit is printed as text and as JSON, by number and by Edit-IRI', async (t) => {
  const { depositor, service } = t.context;
  const id = await depositDone(t.context.alice);
  const { code, out } = await depositor.run(['status', id]);
  t.is(code, 0);
  t.regex(
    out,
    new RegExp(
      `^Deposit ${id} “Hello”: done\nThe deposit has been loaded\\.\nWarnings:\n- .*\nswh:1:dir:[0-9a-f]{40};origin=.*\n$`,
    ),
  );
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
    detail: 'The deposit has been loaded.\nWarnings:\n- Suggested fields are missing (metadata-provenance)',
  });
  t.true(String(facts['swhidContext']).startsWith(`${String(facts['swhid'])};origin=`));
});

test('deposits are listed over all pages, all of them or those of one status', async (t) => {
  const { depositor, service } = t.context;
  const [finished, open] = [
    Number(await depositDone(t.context.alice)),
    Number(await depositBegun(t.context.alice)),
  ];
  // Pages of one deposit, like those of a hundred on a server with many deposits.
  await using paged = await AlteringProxy.start(service.url, (answer, line) =>
    line === 'GET /1/servicedocument/'
      ? { ...answer, body: answer.body.replaceAll(/(href="[^"]*\/1\/software\/)"/g, '$1?page_size=1"') }
      : answer,
  );
  const numbers = (results: Facts[]) => results.map(({ deposit }) => Number(deposit));
  const all = await depositor.json(['list'], { env: { SWORD_SERVER: paged.url } });
  t.is(all.code, 0);
  t.true(paged.requests.filter((line) => line.startsWith('GET /1/software/')).length >= all.results.length);
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
  t.regex(err, /of \d+ deposits listed\.$/m);
});

test('the history of a deposit is printed event by event', async (t) => {
  const { depositor } = t.context;
  const id = await depositDone(t.context.alice);
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

test('an archive is fetched byte for byte and verified against the identifier of the deposit', async (t) => {
  const { depositor, home } = t.context;
  const id = await depositDone(t.context.alice, helloTar, 'fetched.tar');
  const facts = await depositor.facts(['fetch', id]);
  t.deepEqual(await readFile(path.join(home, 'fetched.tar')), helloTar);
  t.like(facts, { file: 'fetched.tar', length: helloTar.length, swhidAgrees: true });
  const again = await depositor.run(['fetch', id, '--output', 'fetched.tar']);
  t.is(again.code, 1);
  t.regex(again.err, /fetched\.tar already exists/);
  t.is((await depositor.run(['fetch', id, '--output', 'fetched.tar', '--force'])).code, 0);
  const piped = await depositor.run(['fetch', id, '--output', '-']);
  t.is(piped.out, helloTar.toString());
  t.regex(piped.err, /The identifier matches the deposit: swh:1:dir:/);
});

test('fetch overwrites the file behind a link, and writes into a pipe', async (t) => {
  const { depositor, alice } = t.context;
  const id = await depositDone(alice, helloTar, 'linked.tar');
  await writeFile(path.join(depositor.home, 'behind'), 'old');
  await symlink('behind', path.join(depositor.home, 'link'));
  t.is((await depositor.run(['fetch', id, '--output', 'link', '--force'])).code, 0);
  t.deepEqual(await readFile(path.join(depositor.home, 'behind')), helloTar);
  t.true((await lstat(path.join(depositor.home, 'link'))).isSymbolicLink());
  const pipe = path.join(depositor.home, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [{ code }, received] = await Promise.all([
    depositor.run(['fetch', id, '--output', 'pipe', '--force']),
    readFile(pipe),
  ]);
  t.is(code, 0);
  t.deepEqual(received, helloTar);
  t.true((await stat(pipe)).isFIFO());
  const empty = await depositor.run(['fetch', id, '--output', '']);
  t.is(empty.code, 2);
  t.regex(empty.err, /^--output needs the name of a file/m);
});

test('fetch keeps the mode of an overwritten file, and writes a file with a long name', async (t) => {
  const { depositor, alice, home } = t.context;
  const id = await depositDone(alice, helloTar, 'kept.tar');
  const secret = path.join(home, 'secret.tar');
  await writeFile(secret, 'old', { mode: 0o600 });
  t.is((await depositor.run(['fetch', id, '--output', 'secret.tar', '--force'])).code, 0);
  t.deepEqual(await readFile(secret), helloTar);
  t.is((await stat(secret)).mode & 0o777, 0o600);
  const long = `${'n'.repeat(251)}.tar`;
  const { code, err } = await depositor.run(['fetch', id, '--output', long]);
  t.is(code, 0, err);
  t.deepEqual(await readFile(path.join(home, long)), helloTar);
});

test('an archive that is named - is fetched to a file, not to standard output', async (t) => {
  const { depositor, home } = t.context;
  const id = await depositDone(t.context.alice, helloTar, '-');
  const { out } = await depositor.run(['fetch', id]);
  t.notRegex(out, /ustar/);
  t.deepEqual(await readFile(path.join(home, 'deposit.archive')), helloTar);
});

test('an archive with a name outside ASCII is fetched under its name', async (t) => {
  const id = await depositDone(t.context.alice, helloTar, 'énoncé.tar');
  t.like(await t.context.depositor.facts(['fetch', id]), { file: 'énoncé.tar' });
});

test('several archives are fetched as a zip with the identifier of the deposit', async (t) => {
  const { depositor, alice, home } = t.context;
  const id = await depositBegun(t.context.alice);
  const headers = archiveHeaders('1', 'application/x-tar');
  // A name that is no key of an object.
  const named = { ...headers, 'Content-Disposition': 'attachment; filename=__proto__' };
  const longest = {
    ...headers,
    'Content-Disposition': `attachment; filename*=UTF-8''${'%C3%A9'.repeat(127)}`,
  };
  for (const [data, its] of [
    ['later', named],
    ['third', longest],
    ['last', longest],
  ] as const) {
    const archive = tarOf([{ name: 'hello/hello.py', data }]);
    t.is((await alice.post(`/1/software/${id}/media/`, archive, its)).status, 201);
  }
  await alice.post(`/1/software/${id}/metadata/`, formOf([entryPart()]), { ...formType });
  await alice.waitFor(`/1/software/${id}/status/`, 'done');
  t.like(await depositor.facts(['fetch', id, '--output', 'both.zip']), { swhidAgrees: true });
  t.true((await stat(path.join(home, 'both.zip'))).size > helloZip.length);
});

test('a folder in which archives cannot be unpacked ends fetch with a sentence', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'unpacked-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const zip = path.join(folder, 'both.zip');
  await writeFile(zip, zipOf([{ name: 'one.tar', data: helloTar }]));
  const message = `one.tar cannot be unpacked in ${tmpdir()}: no such file or directory. TMPDIR names another folder.`;
  const missing = path.join(folder, 'removed'); // fails as a full disk does
  await t.throwsAsync(archivesIn(zip, missing), { instanceOf: Fault, message });
});

test('a full disk ends the unpacking also while more of the zip is read', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'unpacked-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const zip = path.join(folder, 'both.zip');
  await writeFile(zip, zipOf([{ name: 'one.tar', data: randomBytes(2 * 1024 ** 2), method: 8 }]));
  await symlink('/dev/full', path.join(folder, 'archive-1'));
  for (let times = 0; times < 100; times += 1)
    await t.throwsAsync(archivesIn(zip, folder), {
      instanceOf: Fault,
      message: /one\.tar cannot be unpacked/,
    });
});

test('delete removes a partial deposit and refuses one that is done', async (t) => {
  const { depositor } = t.context;
  const [open, finished] = [await depositBegun(t.context.alice), await depositDone(t.context.alice)];
  t.deepEqual(await depositor.facts(['delete', open]), { deposit: Number(open), deleted: true });
  const gone = await depositor.run(['status', open]);
  t.deepEqual([gone.code, gone.err], [1, `Deposit ${open} of alice not found in software.\n`]);
  const refused = await depositor.run(['delete', finished]);
  t.is(refused.code, 1);
  const { error } = JSON.parse((await depositor.run(['delete', finished, '--json'])).out);
  t.is(error.deposit, Number(finished));
  t.is(
    refused.err,
    `The server refused: 405 Method not allowed.\nDeposit ${finished} is done: it can be changed only while it is partial.\nPossible now: GET, HEAD, OPTIONS.\n`,
  );
});

test('a login is verified, stored readable only by its user, and sent to no other server', async (t) => {
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
  const unwritable = await newcomer.run(login, { input: 'secret\n', env: { XDG_CONFIG_HOME: file } });
  t.is(unwritable.code, 1);
  t.regex(unwritable.err, /^.*login\.json\/.*login\.json cannot be written: not a directory\.$/m);
  t.is((await stat(file)).mode & 0o777, 0o600);
  t.is((await newcomer.run(['list'])).code, 0);
  await chmod(file, 0o644);
  const open = await newcomer.run(['list']);
  t.is(open.code, 2);
  t.regex(
    open.err,
    /login\.json contains a password, but other users can read it: run chmod 600 .*login\.json$/m,
  );
  const env = { SWORD_SERVER: service.url, SWORD_USER: 'alice', SWORD_PASSWORD: 'secret' };
  t.is((await newcomer.run(['list'], { env })).code, 0, 'unneeded objects are not read');
  await chmod(file, 0o600);
  for (const elsewhere of [
    ['--server', 'http://127.0.0.1:1'],
    ['--user', 'bob'],
  ]) {
    const { code, err } = await newcomer.run(['list', ...elsewhere]);
    t.is(code, 2);
    t.regex(err, /^No (password|user) given/);
  }
});

test('a user without a collection gets a message', async (t) => {
  await t.context.service.register('nobody');
  const { code, err } = await t.context.depositor.run(['list', '--user', 'nobody']);
  t.deepEqual([code, err], [1, 'This user has no collection on the server.\n']);
});

test('the program prints the version of the project, and names it to servers', async (t) => {
  const { depositor } = t.context;
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  for (const option of ['--version', '-v']) {
    const { code, out } = await depositor.run([option]);
    t.deepEqual([code, out], [0, `${version}\n`]);
  }
  const named: unknown[] = [];
  await using server = await listening(({ headers }, response) => {
    named.push(headers['user-agent']);
    response.writeHead(404).end();
  });
  await depositor.run(['list', '--server', server.url]);
  t.deepEqual(named, [`deposit/${version}`]);
});

test('every command has a help text, and wrong usage has its own exit code', async (t) => {
  const { depositor } = t.context;
  const help = await depositor.run(['--help']);
  t.is(help.code, 0);
  const commands = [...help.out.matchAll(/^ {2}deposit (\w+)/gm)].map(([, name = '']) => name);
  t.is(commands.length, 8);
  const texts = await Promise.all(commands.map((name) => depositor.run([name, '--help'])));
  for (const [index, { code, out }] of texts.entries()) {
    t.is(code, 0);
    t.regex(out, new RegExp(`^ {2}deposit ${commands[index]} `, 'm'));
    t.regex(out, /Exit codes: 0 success/);
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
  const message = "Unknown command 'frobnicate'. deposit --help lists the commands.";
  t.is((await depositor.run(['frobnicate'])).err, `${message}\n`);
  t.deepEqual(await depositor.json(['frobnicate']), {
    code: 2,
    results: [{ error: { exitCode: 2, message, deposit: null } }],
  });
});
