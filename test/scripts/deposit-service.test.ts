import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { outcomeOf, type Ran } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const root = path.join(import.meta.dirname, '../..');
type Options = { readonly from?: string; readonly cwd?: string; readonly env?: NodeJS.ProcessEnv };

/** Runs the executable of operators, as npm and npx do. */
async function run(
  args: readonly string[],
  { from = root, cwd = root, env = {} }: Options = {},
): Promise<Ran> {
  const { INIT_CWD: _folder, npm_lifecycle_event: _script, ...inherited } = process.env;
  const file = path.join(from, 'bin/deposit-service.js');
  return outcomeOf(spawn(process.execPath, [file, ...args], { cwd, env: { ...inherited, ...env } }));
}

test('the executable lists its commands and prints its version, as each command does', async (t) => {
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const help = await run(['--help']);
  t.is(help.code, 0);
  t.regex(
    help.out,
    /^Usage: deposit-service COMMAND .*\n\nCommands: .*, deposit, deposits, .*\bstart, status\b/,
  );
  t.notRegex(help.out, /\bbench\b/, 'it is for developers');
  t.is((await run([])).code, 2);
  t.deepEqual(
    [(await run(['--version'])).out, (await run(['status', '--version'])).out],
    [`${version}\n`, `${version}\n`],
  );
  const unknown = await run(['nosuch']);
  t.deepEqual(
    [unknown.code, unknown.err],
    [2, 'Unknown command \'nosuch\'. "deposit-service --help" lists the commands.\n'],
  );
});

test("paths in arguments are relative to the user's folder, also if npm has changed the folder", async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(path.join(folder, 'backup'));
  const env = {
    npm_lifecycle_event: 'restore',
    INIT_CWD: folder,
    DEPOSIT_DATA_DIR: path.join(folder, 'data'),
  };
  const { code, err } = await run(['restore', 'backup'], { env });
  t.is(code, 1);
  t.true(err.includes(path.join(folder, 'backup')), err);
});

test('an option consumed by npm is named instead of being ignored', async (t) => {
  const env = { npm_lifecycle_event: 'deposits', npm_config_status: 'done' };
  const { code, err } = await run(['deposits'], { env });
  t.is(code, 2);
  t.is(err, 'npm read --status itself. Write -- before the options: npm run deposits -- --status done\n');
});

test('before the packages are installed each command explains how to install them', async (t) => {
  const folder = await temporaryFolder(t);
  for (const part of ['bin', 'scripts', 'package.json'])
    await cp(path.join(root, part), path.join(folder, part), { recursive: true });
  const { code, err } = await run(['status'], { from: folder });
  t.deepEqual([code, err], [2, `The project is not installed: run "npm ci" in ${folder} first.\n`]);
});

test('where the client is missing, as in the image, the executable has no command of it', async (t) => {
  const folder = await temporaryFolder(t);
  for (const part of ['bin', 'scripts', 'src', 'package.json'])
    await cp(path.join(root, part), path.join(folder, part), { recursive: true });
  const { out } = await run(['--help'], { from: folder });
  t.regex(out, /Commands: .*, demo, deposits, .*\bstart, status\b/);
  const { code, err } = await run(['deposit'], { from: folder });
  t.deepEqual(
    [code, err],
    [2, 'Unknown command \'deposit\'. "deposit-service --help" lists the commands.\n'],
  );
});

test('a command ended by a signal exits accordingly', async (t) => {
  const folder = await temporaryFolder(t);
  const child = spawn(process.execPath, [path.join(root, 'bin/deposit-service.js'), 'start'], {
    env: { ...process.env, DEPOSIT_DATA_DIR: path.join(folder, 'data'), DEPOSIT_PORT: '0' },
  });
  child.stderr.once('data', () => child.kill('SIGTERM')); // the service listens
  const { code, out } = await outcomeOf(child);
  t.is(code, 0, out);
  t.regex(out, /"signal":"SIGTERM"/);
});

/** A command that stops at a signal, and then needs its standard input to end. */
const STOPPABLE = `
  import { once } from 'node:events';
  import { runCommand, stopSignal } from '${path.join(root, 'src/operations/command/command.ts')}';
  import { say } from '${path.join(root, 'src/operations/command/output.ts')}';
  await runCommand('', async () => {
    const signal = stopSignal('Stopped.');
    const end = once(process.stdin.resume(), 'end');
    say('waits');
    await once(signal, 'abort');
    say('cleans up');
    await end;
    signal.throwIfAborted();
  }, { mayBeBare: true });
`;

test('a command that gets the signal of a terminal twice, as by npm, still stops in order', async (t) => {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', STOPPABLE]);
  const [ended, err] = [once(child, 'close'), text(child.stderr)];
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  for (const line of ['waits', 'cleans up']) {
    t.is((await lines.next()).value, line);
    child.kill('SIGINT');
  }
  child.stdin.on('error', () => undefined).end(); // an ended process has closed it
  t.deepEqual([await ended, await err], [[1, null], 'Stopped.\n']);
});
