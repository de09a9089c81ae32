import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, readdir, rmdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { readEnvironment } from '../../client/environment.ts';
import { AlteringProxy, type Answer } from '../../testing/http/altering-proxy.ts';
import { helloTar } from '../../testing/http/deposit-bodies.ts';
import { outcomeOf } from '../../testing/processes/run-script.ts';
import { until } from '../../testing/processes/until.ts';
import { depositsOf, newDepositor } from './many-depositors.ts';
import { testOfCommands } from './test-of-commands.ts';

const test = testOfCommands({ 'paint/paint.py': 'print("hi")' });

const upload = ['upload', 'paint', '--name', 'Paint', '--author', 'Ada'];
/** A file that no byte can be written to. */
const FULL = '/dev/full';
const onLinux = existsSync(FULL) ? test : test.skip;

onLinux('results that cannot be written end the command with a sentence', async (t) => {
  const { service, home } = t.context;
  const depositor = await newDepositor(service, home);
  const { deposit } = await depositor.facts([...upload, '--partial']);
  const full = openSync(FULL, 'w');
  t.teardown(() => closeSync(full));
  for (const args of [['list'], ['fetch', String(deposit), '--output', '-']]) {
    const child = depositor.start(args, {}, { stdio: ['ignore', full, 'pipe'] });
    const [err] = await Promise.all([text(child.stderr!), once(child, 'close')]);
    t.is(child.exitCode, 1, err);
    t.regex(err, /^Standard output cannot be written: no space left on device\.$/m);
    t.notRegex(err, /^ +at /m);
  }
});

onLinux('messages that cannot be written are no reason to end', async (t) => {
  const { service, home } = t.context;
  const depositor = await newDepositor(service, home);
  const full = openSync(FULL, 'w');
  t.teardown(() => closeSync(full));
  const child = depositor.start([...upload, '--wait'], {}, { stdio: ['ignore', 'pipe', full] });
  const [out] = await Promise.all([text(child.stdout!), once(child, 'close')]);
  t.is(child.exitCode, 0);
  t.regex(out, /^Deposit \d+ “Paint”: done$/m);
});

test('a command whose reader closes the pipe finishes its work, and its exit code says what became of it', async (t) => {
  const { service, home } = t.context;
  const depositor = await newDepositor(service, home);
  const entry = path.join(home, 'without-author.xml');
  await writeFile(entry, '<entry xmlns="http://www.w3.org/2005/Atom"><title>Paint</title></entry>');
  const child = depositor.start(['upload', 'paint', '--metadata', entry, '--wait']);
  child.stdout?.destroy();
  const [err] = await Promise.all([text(child.stderr!), once(child, 'close')]);
  t.is(child.exitCode, 3, err);
  const list = depositor.start(['list']);
  list.stdout?.destroy();
  await once(list, 'close');
  t.is(list.exitCode, 0);
  const { deposit } = await depositor.facts([...upload, '--partial']);
  const download = depositor.start(['fetch', String(deposit), '--output', '-']);
  download.stdout?.destroy();
  const [told] = await Promise.all([text(download.stderr!), once(download, 'close')]);
  t.is(download.exitCode, 0, told);
  t.regex(told, /^Downloaded \d+ bytes/m);
});

test('a user without a home folder can deposit, and a message says that nothing is stored', async (t) => {
  const { service, home } = t.context;
  const none = (): never => {
    throw new Error('uv_os_homedir returned ENOENT');
  };
  const { folder, cacheFolder } = readEnvironment({}, none);
  t.deepEqual(
    [folder, cacheFolder],
    ['/nonexistent/.config/sword-deposit', '/nonexistent/.cache/sword-deposit'],
  );
  const depositor = await newDepositor(service, home);
  const env = { XDG_CONFIG_HOME: '/dev/null', XDG_CACHE_HOME: '/dev/null' };
  const { code, err } = await depositor.run([...upload, '--wait'], { env });
  t.is(code, 0, err);
  t.regex(err, /^\/dev\/null\/.* cannot be written: .*\. If this command is interrupted, check with /m);
});

/** Answers to what creates and changes deposits while the key of the command cannot be stored. */
const unstored: Record<string, { alter: (answer: Answer, at: number) => Answer | 'lost'; said: RegExp }> = {
  'a lost response to the creation': {
    alter: () => 'lost',
    said: /^Check with deposit list whether the deposit exists before you send it again\.$/m,
  },
  'a refusal after a lost response': {
    alter: (answer, at) => (at === 0 ? 'lost' : { ...answer, status: 403, body: '' }),
    said: /^An earlier request may have created the deposit: check with deposit list before you send it again\.$/m,
  },
  'a lost response to an addition': {
    alter: (answer, at) => (at === 0 ? answer : 'lost'),
    said: /^Deposit (\d+) exists .*\. Continue with deposit upload --deposit \1, or remove /m,
  },
};
for (const [event, { alter, said }] of Object.entries(unstored))
  test(`without a stored key, ${event} ends with no promise for the same command`, async (t) => {
    const { service, home } = t.context;
    let posts = 0;
    await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
      line.startsWith('POST ') ? alter(answer, posts++) : answer,
    );
    const depositor = await newDepositor(service, home, proxy.url);
    await writeFile(path.join(home, 'hello.tar'), helloTar);
    const args = ['upload', 'paint', 'hello.tar', '--name', 'Paint', '--author', 'Ada', '--timeout', '5'];
    const { code, err } = await depositor.run(args, { env: { XDG_CONFIG_HOME: '/dev/null' } });
    t.not(code, 0);
    t.true(posts > 1, err);
    t.regex(err, said);
    t.notRegex(err, /same command again/);
  });

test('without a stored key, an interrupt is no reason to run the same command again', async (t) => {
  const { service, home } = t.context;
  await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
    line.startsWith('POST ') ? 'held' : answer,
  );
  const depositor = await newDepositor(service, home, proxy.url);
  const child = depositor.start(upload, { XDG_CONFIG_HOME: '/dev/null' });
  const ended = outcomeOf(child);
  await until(async () => (await depositsOf(service, depositor)).length === 1);
  child.kill('SIGINT');
  const { err } = await ended;
  t.is(child.exitCode, 130, err);
  t.regex(
    err,
    /^Interrupted\. The server may have created the deposit: check with deposit list before you /m,
  );
});

/** A folder that exists, and in which the system refuses new ones as if it did not. */
const REFUSING = '/proc';
const withProc = existsSync(path.join(REFUSING, 'self')) ? test : test.skip;

withProc(
  'a command whose folders the system refuses does without them, or ends with a sentence',
  async (t) => {
    const { service, home } = t.context;
    const depositor = await newDepositor(service, home);
    const env = { XDG_CONFIG_HOME: `${REFUSING}/nope`, XDG_CACHE_HOME: `${REFUSING}/nope` };
    const endOf = async (args: readonly string[]) => {
      const child = depositor.start(args, env);
      const late = setTimeout(() => child.kill('SIGKILL'), 60_000); // it would never end
      t.teardown(() => clearTimeout(late));
      return outcomeOf(child);
    };
    const { code, err } = await endOf([...upload, '--wait']);
    t.is(code, 0, err);
    t.regex(err, /^\/proc\/nope\/.* cannot be written: no such file or directory\. If this command is /m);
    const fetched = await endOf(['fetch', (/^Deposit (\d+) /m.exec(err) ?? [])[1] ?? '', '--output', '-']);
    t.is(fetched.code, 0, fetched.err);
    const login = await endOf(['login']);
    t.is(login.code, 1, login.err);
    t.regex(login.err, /^\/proc\/nope\/.*login\.json cannot be written: no such file or directory\.$/m);
  },
);

test('with --json, an error of the surroundings names the deposit', async (t) => {
  const { service, home } = t.context;
  const depositor = await newDepositor(service, home);
  const { deposit } = await depositor.facts([...upload, '--partial']);
  const env = { TMPDIR: '/nowhere', XDG_CACHE_HOME: '/dev/null' };
  const { code, results } = await depositor.json(['fetch', String(deposit)], { env });
  t.is(code, 1);
  const message =
    'No temporary file can be made in /nowhere: no such file or directory. TMPDIR names another folder.';
  t.like(results, [{ error: { exitCode: 1, deposit, message } }]);
});

test('a terminal that closes ends the command in order: its temporary files are removed', async (t) => {
  const { service, home } = t.context;
  await using proxy = await AlteringProxy.start(service.url, (answer, line) =>
    line.startsWith('POST ') ? 'held' : answer,
  );
  const depositor = await newDepositor(service, home, proxy.url);
  const temporary = path.join(home, 'temporary');
  await mkdir(temporary);
  const child = depositor.start(upload, { TMPDIR: temporary });
  const ended = outcomeOf(child);
  await until(async () => (await depositsOf(service, depositor)).length === 1);
  child.kill('SIGHUP');
  const { err } = await ended;
  t.is(child.exitCode, 129, err);
  t.regex(err, /^Interrupted\. Run the same command again to resume\.$/m);
  t.deepEqual(await readdir(temporary), []);
});

test('temporary folders of processes that were killed are removed after a week', async (t) => {
  const { service, home } = t.context;
  const temporary = path.join(home, 'week');
  const [old, recent, other] = ['sword-deposit-tmp-aaaaaa', 'sword-deposit-tmp-bbbbbb', 'deposit-backup'];
  for (const name of [old, recent, other]) {
    await mkdir(path.join(temporary, name), { recursive: true });
    await writeFile(path.join(temporary, name, '1.tar.gz'), '');
  }
  const eightDaysAgo = Date.now() / 1000 - 8 * 24 * 3600;
  for (const name of [old, other]) await utimes(path.join(temporary, name), eightDaysAgo, eightDaysAgo);
  const depositor = await newDepositor(service, home);
  const { code, err } = await depositor.run(['upload', 'paint', '--partial'], { env: { TMPDIR: temporary } });
  t.is(code, 0, err);
  t.deepEqual((await readdir(temporary)).toSorted(), [other, recent]);
});

test('a current folder that was removed is reported in a sentence', async (t) => {
  const { service, home } = t.context;
  const depositor = await newDepositor(service, home);
  const removed = path.join(home, 'removed');
  await mkdir(removed);
  const child = depositor.start(['upload', '.', '--partial', '--password-stdin'], {}, { cwd: removed });
  await rmdir(removed);
  child.stdin?.end('secret');
  const { code, err } = await outcomeOf(child);
  t.is(code, 1, err);
  t.regex(err, /^\. cannot be read: .*no such file or directory.*\.$/m);
});
