import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  mkdir,
  readdir,
  readFile,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { assertOwnFolder } from '../../src/service/backends/own-folder.ts';
import { lockDataFolder } from '../../src/service/operator-port/data-directory-lock.ts';
import { OperatorServer } from '../../src/service/operator-port/operator-server.ts';
import { startService } from '../../src/service/service.ts';
import { FILES_OF_NODE } from '../../src/tools/files.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { EventStoreDbDouble } from '../../testing/eventstoredb-double/eventstoredb-double.ts';
import { makeReadOnly, mountedFolder } from '../../testing/processes/mounted-folder.ts';
import { jsonLines, runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import type { Line } from '../../testing/service/kept-lines.ts';
import { RunningService } from '../../testing/service/running-service.ts';

const root = path.join(import.meta.dirname, '../..');
const MAIN = path.join(root, 'src/main.ts');

type Package = { readonly scripts: { readonly start: string } };

function started(
  t: ExecutionContext,
  args: readonly string[],
  env: Record<string, string>,
  command = process.execPath,
) {
  const child = spawn(command, command === process.execPath ? [MAIN, ...args] : args, {
    cwd: root,
    env: { ...process.env, DEPOSIT_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, ended: once(child, 'exit'), out: text(child.stdout), err: text(child.stderr) };
}

/** Returns an environment in which Node reports another version of itself. */
function nodeOfVersion(version: string): Record<string, string> {
  const claim = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  return {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(claim)}`,
    PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
  };
}

test('an older Node ends the start with a message', async (t) => {
  const { scripts } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as Package;
  for (const version of ['20.1.0', '24.18.0', '25.9.0']) {
    const { ended, err } = started(t, ['-c', scripts.start], nodeOfVersion(version), 'sh');
    t.deepEqual(await ended, [2, null]);
    const [start = ''] = (await err).split(':');
    t.is(start, `The service needs Node 26 or newer, this is ${version}`);
  }
});

test('an older Node ends each command with a message where the project did not install its own', async (t) => {
  const copy = path.join(await temporaryFolder(t), 'node_modules/source-deposit-service');
  for (const name of ['bin', 'scripts/history.ts', 'src/service/process', 'package.json'])
    await cp(path.join(root, name), path.join(copy, name), { recursive: true });
  const program = path.join(copy, 'bin/deposit-service.js');
  const { ended, err } = started(t, [program, 'history', '1'], nodeOfVersion('24.18.0'), 'node');
  t.deepEqual(await ended, [2, null]);
  t.regex(await err, /^The service needs Node 26 or newer, this is 24\.18\.0: .*\n$/);
});

test('a service started by npm prints its start, address and stop, and messages for people on stderr', async (t) => {
  const folder = await temporaryFolder(t);
  const { scripts } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as Package;
  const PATH = `${path.dirname(process.execPath)}:${process.env['PATH']}`;
  // npm does the same; its signals go to this shell, and with a terminal the service gets each of them twice.
  const { child, ended, out, err } = started(
    t,
    ['-c', scripts.start],
    { DEPOSIT_DATA_DIR: folder, PATH },
    'sh',
  );
  // At once, but not so that the system merges them; one that comes after the end would still end the process.
  const twice = (): void => {
    child.kill('SIGTERM');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    child.kill('SIGTERM');
  };
  const heard = async (stream: Readable, said: string): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    stream.on('data', (chunk: Buffer) => chunk.includes(said) && resolve());
    await promise;
  };
  void Promise.all([heard(child.stdout, '"msg":"ready"'), heard(child.stderr, 'listens at')]).then(twice);
  t.deepEqual(await ended, [0, null]);
  const lines = jsonLines<Line>(await out);
  const [start, ready, stopping, stop] = lines.filter(({ msg }) => msg !== 'event' && msg !== 'request');
  t.like(start, {
    level: 'info',
    msg: 'start',
    pid: child.pid,
    roles: ['http', 'reactors'],
    eventLog: 'sqlite',
    archiveStore: 'file',
    dataDir: folder,
  });
  t.regex(String(start?.['version']), /^\d+\.\d+\.\d+/);
  t.is(ready?.msg, 'ready');
  t.regex(String(ready?.['url']), /^http:\/\/127\.0\.0\.1:\d+$/);
  t.like(stopping, { msg: 'stopping', signal: 'SIGTERM' });
  t.like(stop, { msg: 'stop', exitCode: 0 });
  const said = await err;
  t.regex(said, /listens at http:/);
  const password = /shown only now: +(\S+)/.exec(said)?.[1] ?? '';
  t.true(password.length > 10);
  t.false((await out).includes(password));
});

test('a service continues after the reader of its messages for people has gone, and stops in order by SIGHUP', async (t) => {
  const folder = await temporaryFolder(t);
  const { child, ended, err } = started(t, [], { DEPOSIT_DATA_DIR: folder });
  child.stderr.destroy();
  await t.throwsAsync(err);
  const welcomed = Promise.withResolvers<void>(); // the last event of a first start follows the first message
  child.stdout.on('data', (chunk: Buffer) => chunk.includes('CollectionGranted') && welcomed.resolve());
  await Promise.race([welcomed.promise, ended]);
  child.kill('SIGHUP'); // as a terminal sends it that closes, together with both outputs
  t.deepEqual(await ended, [0, null]);
});

test('an invalid argument exits with 2 and a message', async (t) => {
  const { ended, err } = started(t, ['--what'], { DEPOSIT_DATA_DIR: await temporaryFolder(t) });
  t.deepEqual(await ended, [2, null]);
  t.regex(await err, /^Unknown option '--what'/);
  t.notRegex(await err, /\n +at /);
});

test('a service whose store is unavailable at the start exits with 1, with a message and a log line', async (t) => {
  const { ended, out, err } = started(t, [], {
    DEPOSIT_DATA_DIR: await temporaryFolder(t),
    DEPOSIT_ARCHIVE_STORE: 's3://127.0.0.1:1/bucket?tls=false',
    DEPOSIT_S3_ACCESS_KEY: 'hunter2-access',
    DEPOSIT_S3_SECRET_KEY: 'hunter2-secret',
  });
  t.deepEqual(await ended, [1, null]);
  t.regex(await err, /^The archive store cannot .*ECONNREFUSED\.\n$/);
  const lines = (await out).trimEnd().split('\n');
  t.like(JSON.parse(lines.at(-1) ?? ''), {
    level: 'error',
    msg: 'the service cannot continue',
    code: 'ARCHIVE_STORE_UNAVAILABLE',
  });
  t.notRegex(await out, /"msg":"ready"|hunter2/);
});

test('a data folder that cannot be locked exits with 1 and a message, with a corrupt lock with 2', async (t) => {
  const folder = await temporaryFolder(t);
  const lock = path.join(folder, 'service.lock');
  const start = async (exitCode: number, code: string): Promise<string> => {
    const { ended, out, err } = started(t, [], { DEPOSIT_DATA_DIR: folder });
    t.deepEqual(await ended, [exitCode, null]);
    t.like(JSON.parse((await out).trimEnd().split('\n').at(-1) ?? ''), { level: 'error', code });
    return await err;
  };
  await mkdir(lock);
  const why = await start(1, 'CANNOT_LOCK');
  t.regex(why, /^\S+service\.lock cannot be locked: unable to open database file\.\n$/);
  await rmdir(lock);
  await writeFile(lock, 'hello');
  t.regex(await start(2, 'LOCK_DAMAGED'), /file is not a database\. Remove it when nothing runs on /);
});

test('a start waits for a command that holds the data folder for a moment', async (t) => {
  const folder = await temporaryFolder(t);
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  {
    using _lock = lockDataFolder(config);
    const { ended, err } = started(t, [], { DEPOSIT_DATA_DIR: folder });
    t.deepEqual(await ended, [2, null]);
    t.regex(await err, /or a command has locked it: try again in a moment/);
  }
  const lock = lockDataFolder(config);
  const { child, ended, out } = started(t, [], { DEPOSIT_DATA_DIR: folder });
  child.stdout.once('data', () => void setTimeout(500).then(() => lock[Symbol.dispose]()));
  while ((await stat(path.join(folder, 'operator.json')).catch(() => undefined)) === undefined) {
    t.is(child.exitCode, null);
    await setTimeout(20);
  }
  child.kill();
  t.deepEqual(await ended, [0, null], await out);
});

test('an embedded log is locked for its service against services and commands with another data folder', async (t) => {
  await using service = await RunningService.start();
  const [other, folder] = [await temporaryFolder(t), await temporaryFolder(t)];
  const file = path.join(service.folder, 'event-log.sqlite');
  const copy = `sqlite:${folder}/copy.sqlite`;
  t.is((await runScript(other, 'migrate', ['--from', `sqlite:${file}`, '--to', copy])).code, 0);
  const env = {
    DEPOSIT_EVENT_LOG: `sqlite:${file}`,
    DEPOSIT_ARCHIVE_STORE: `file:${service.folder}/archives`,
  };
  const inUse =
    /^A service or another command uses the event log \S+\.sqlite: stop it, wait .* DEPOSIT_DATA_DIR /;
  await symlink(file, path.join(folder, 'link.sqlite'));
  for (const log of [file, path.join(folder, 'link.sqlite')]) {
    const { ended, err } = started(t, [], {
      ...env,
      DEPOSIT_DATA_DIR: other,
      DEPOSIT_EVENT_LOG: `sqlite:${log}`,
    });
    t.deepEqual(await ended, [2, null]);
    t.regex(await err, inUse);
  }
  for (const [command = '', ...args] of [
    ['bind'],
    ['gc', '--older-than', '0s'],
    ['migrate', '--from', copy, '--to', `sqlite:${file}`],
  ]) {
    const { code, err } = await runScript(other, command, args, { env });
    t.is(code, 1, err);
    t.regex(err, inUse);
  }
  const added = await runScript(other, 'client', ['add', 'eve'], { env, input: 'a secret of eve\n' });
  t.is(added.code, 0, added.err);
});

test('the lock of an embedded log does not create its folder, where a disk may be mounted later', async (t) => {
  const folder = await temporaryFolder(t);
  const missing = path.join(folder, 'missing');
  const env = { DEPOSIT_DATA_DIR: folder, DEPOSIT_EVENT_LOG: `sqlite:${missing}/log.sqlite` };
  t.deepEqual(await started(t, [], env).ended, [1, null]);
  t.false(existsSync(missing));
});

test('compiled code is cached only in a private folder, never in the temporary folder', async (t) => {
  const folder = await temporaryFolder(t);
  const TMPDIR = path.join(folder, 'tmp');
  const planted = path.join(TMPDIR, 'node-compile-cache');
  await mkdir(planted, { recursive: true });
  const startIn = async (place: string): Promise<string> => {
    const DEPOSIT_DATA_DIR = path.join(folder, place, 'data');
    const env = { DEPOSIT_DATA_DIR, TMPDIR, DEPOSIT_PORT: 'wrong', NODE_COMPILE_CACHE: '' };
    t.deepEqual(await started(t, [], env).ended, [2, null]); // after its modules were loaded
    return path.join(DEPOSIT_DATA_DIR, 'compile-cache');
  };
  const cache = await startIn('private');
  t.is((await stat(cache)).mode & 0o777, 0o700);
  t.true((await readdir(cache)).length > 0);
  // A user who may write to a folder above could replace the cache.
  await mkdir(path.join(folder, 'shared'));
  await chmod(path.join(folder, 'shared'), 0o777);
  t.deepEqual(await readdir(await startIn('shared')), []);
  // A folder that was there is closed before it is used.
  await mkdir(path.join(folder, 'open/data/compile-cache'), { recursive: true });
  await chmod(path.join(folder, 'open/data/compile-cache'), 0o755);
  t.is((await stat(await startIn('open'))).mode & 0o777, 0o700);
  t.deepEqual(await readdir(planted), []);
});

/** Resolves to the names in a folder, also below, that users besides its owner have access to. */
async function openPlaces(folder: string): Promise<string[]> {
  const names = ['', ...(await readdir(folder, { recursive: true }))];
  const modes = await Promise.all(
    // A service writes files under temporary names, and removes them: one may be gone after it was listed.
    names.map((name) =>
      stat(path.join(folder, name)).then(
        ({ mode }) => mode,
        (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? 0 : Promise.reject(error)),
      ),
    ),
  );
  return names.filter((_, index) => ((modes[index] ?? 0) & 0o077) !== 0);
}

test('services and commands make an accessible data folder and its contents private', async (t) => {
  process.umask(0o022);
  const folder = await temporaryFolder(t);
  const closed = await RunningService.startIn(folder);
  await closed.register('alice', { collections: ['software'] });
  await closed.stop();
  const log = path.join(folder, 'event-log.sqlite');
  const small = path.join(folder, 'archives/small.sqlite');
  for (const place of [folder, log, small, path.join(folder, 'archives'), path.join(folder, 'checkpoints')])
    await chmod(place, 0o755);
  t.is((await runScript(folder, 'client', ['passwd', 'alice'])).code, 0);
  t.is((await stat(log)).mode & 0o077, 0, 'a command closes the log');
  const { child, ended, out } = started(t, [], { DEPOSIT_DATA_DIR: folder });
  while ((await stat(path.join(folder, 'operator.json')).catch(() => undefined)) === undefined)
    await setTimeout(20);
  t.deepEqual(await openPlaces(folder), []);
  child.kill();
  t.deepEqual(await ended, [0, null], await out);
});

test('a folder with files of other programs is refused, and keeps its access and contents', async (t) => {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o755);
  await writeFile(path.join(folder, 'letters.txt'), 'of another program', { mode: 0o644 });
  const data = path.join(folder, 'data');
  const faults: [Record<string, string>, RegExp][] = [
    [{ DEPOSIT_DATA_DIR: folder }, /is no data folder: it has other files, such as letters\.txt\./],
    [
      { DEPOSIT_DATA_DIR: data, DEPOSIT_ARCHIVE_STORE: `file:${folder}` },
      /is no archive store: .* such as (?:compile-cache|data)\./,
    ],
    [{ DEPOSIT_DATA_DIR: data, DEPOSIT_EVENT_LOG: `sqlite:${folder}/letters.txt` }, /letters\.txt/],
  ];
  for (const [settings, message] of faults) {
    const { ended, err } = started(t, [], settings);
    t.deepEqual(await ended, [2, null], await err);
    t.regex(await err, message);
  }
  const restored = await runScript(folder, 'restore', [data, '--latest']);
  t.is(restored.code, 1);
  t.regex(restored.err, /is no data folder: it has other files, such as (?:compile-cache|data)\./);
  t.is((await stat(folder)).mode & 0o777, 0o755);
  t.is((await stat(path.join(folder, 'letters.txt'))).mode & 0o777, 0o644);
  const made = (await readdir(folder)).filter((name) => name !== 'compile-cache');
  t.deepEqual(made.toSorted(), ['data', 'letters.txt', 'letters.txt.lock']);
});

test('an open folder with what commands made in it, or with places for volumes, is one of the service', async (t) => {
  for (const names of [
    ['anchor-state.json', 'anchoring.lock'],
    ['views', 'uploads', 'lost+found'],
  ]) {
    const folder = await temporaryFolder(t);
    for (const name of names) await mkdir(path.join(folder, name));
    await chmod(folder, 0o755);
    assertOwnFolder('data folder', folder);
  }
  const apt = await temporaryFolder(t);
  await mkdir(path.join(apt, 'archives'));
  await writeFile(path.join(apt, 'pkgcache.bin'), '');
  await chmod(apt, 0o755);
  t.throws(() => assertOwnFolder('data folder', apt), {
    code: 'FOLDER_NOT_OWN',
    message: new RegExp(`If this one is, take it from other users: chmod 700 ${apt}$`),
  });
  await chmod(apt, 0o700);
  assertOwnFolder('data folder', apt);
});

const asRoot = process.getuid?.() === 0 ? test : test.skip;
asRoot('what another user owns is refused by services and by commands that write', async (t) => {
  const folder = await temporaryFolder(t);
  await (await RunningService.startIn(folder)).stop();
  for (const name of ['', 'event-log.sqlite', 'keys', 'archives/small.sqlite']) {
    const place = path.join(folder, name);
    await mkdir(place, { recursive: true }).catch(() => undefined);
    await chown(place, 54_321, 54_321);
    const { ended, err } = started(t, [], { DEPOSIT_DATA_DIR: folder });
    t.deepEqual(await ended, [2, null], name);
    t.true(
      (await err).startsWith('Permission denied: ') && (await err).includes(` cannot write to ${place}. `),
      await err,
    );
    await chown(place, 0, 0);
  }
  const empty = await temporaryFolder(t);
  await chown(empty, 54_321, 54_321);
  for (const args of [
    ['restore', folder, '--latest'],
    ['import', MAIN],
  ] as const) {
    const [name, ...rest] = args;
    const { code, err } = await runScript(empty, name, rest);
    t.is(code, 1, err);
    t.true(err.startsWith('Permission denied: ') && err.includes(` cannot write to ${empty}. `), err);
  }
  t.deepEqual(await readdir(empty), [], 'the service could not read what root makes');
  await chown(path.join(folder, 'event-log.sqlite'), 54_321, 54_321);
  const command = await runScript(folder, 'client', ['add', 'eve'], { input: 'a secret of eve\n' });
  t.is(command.code, 1);
  t.regex(
    command.err,
    /cannot write to .*event-log\.sqlite\. Run the command as the service user, or chown the path to /,
  );
  const lock = path.join(folder, 'event-log.sqlite.lock');
  await rm(lock);
  t.is((await runScript(folder, 'bind', [])).code, 1);
  t.false(existsSync(lock), 'its owner could not open a new one');
  await rm(path.join(folder, 'event-log.sqlite.head'));
  t.is((await runScript(folder, 'client', ['add', 'eve'], { input: 'a secret of eve\n' })).code, 1);
  t.false(existsSync(path.join(folder, 'event-log.sqlite.head')), 'its owner could not read a new one');
});

asRoot('a start by another user leaves no compile cache in the data folder', async (t) => {
  const folder = await temporaryFolder(t);
  const DEPOSIT_DATA_DIR = path.join(folder, 'data');
  await mkdir(DEPOSIT_DATA_DIR, { mode: 0o700 });
  await chown(DEPOSIT_DATA_DIR, 4242, 4242);
  const { ended, err } = started(t, [], { DEPOSIT_DATA_DIR, NODE_COMPILE_CACHE: '' });
  t.deepEqual(await ended, [2, null], await err);
  t.regex(await err, /Permission denied/);
  t.deepEqual(await readdir(DEPOSIT_DATA_DIR), []);
});

test('a read-only file system is named by services and by commands that write', async (t) => {
  const folder = await mountedFolder(t, '64m');
  if (folder === undefined) return t.pass('this user may not mount a file system');
  await (await RunningService.startIn(folder)).stop();
  await chmod(`${folder}/event-log.sqlite.head`, 0o600); // a service makes it so, a test with another umask not
  await makeReadOnly(folder);
  const { ended, err } = started(t, [], { DEPOSIT_DATA_DIR: folder });
  t.deepEqual(await ended, [2, null]);
  t.is((await err).trimEnd(), `${folder} is on a read-only file system. Mount it to be writable.`);
  const source = await temporaryFolder(t);
  await (await RunningService.startIn(source)).stop();
  const [log, archives] = [`${folder}/event-log.sqlite`, `${folder}/archives`];
  for (const [place, data, command, ...args] of [
    [log, folder, 'client', 'add', 'eve'],
    [archives, folder, 'gc', '--remove'],
    [log, folder, 'restore', '--latest', source],
    [log, folder, 'rebuild', '--all'],
    [archives, source, 'backup', archives, '--init'],
    [
      folder,
      source,
      'migrate',
      '--from',
      `sqlite:${source}/event-log.sqlite`,
      '--to',
      `sqlite:${folder}/new`,
    ],
  ] as const) {
    const ran = await runScript(data, command, args, { input: 'a secret of eve\n' });
    t.is(ran.code, 1, command);
    t.is(ran.err, `${place} is on a read-only file system. Mount it to be writable.\n`, command);
  }
});

test('a service that gets SIGTERM while its program is loaded exits with 0', async (t) => {
  const hooks = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name.endsWith('/process.ts')) process.kill(process.pid, 'SIGTERM');
      return next(name, context);
    } });`;
  const preload = path.join(await temporaryFolder(t), 'kill-early.mjs');
  await writeFile(preload, hooks);
  const env = { DEPOSIT_DATA_DIR: await temporaryFolder(t) };
  t.deepEqual(await started(t, ['--import', preload, MAIN], env, 'node').ended, [0, null]);
});

test('a service that gets SIGTERM just before it replaces its process exits with 0', async (t) => {
  const preload = `const { execve, env, kill, pid } = process;
    Object.defineProperty(process, 'execve', { get() {
      if (!env.KILLED) kill(pid, 'SIGTERM');
      env.KILLED = 'once';
      return execve;
    } });`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, MAIN];
  const { ended, out } = started(t, args, { DEPOSIT_DATA_DIR: await temporaryFolder(t) }, 'node');
  t.deepEqual(await ended, [0, null]);
  t.is(await out, '');
});

test('the heap of the main thread has its options, and threads keep their own limit', async (t) => {
  const allocating = `const v8 = require('node:v8');
    let held = [];
    for (let i = 0; i < 2e6; i += 1) if (held.push({ i }) > 100_000) held = [];
    const found = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    require('node:worker_threads').parentPort.postMessage(found.space_size / 1024 ** 2);`;
  const hooks = `import { registerHooks } from 'node:module';
    import { Worker } from 'node:worker_threads';
    registerHooks({ resolve(name, context, next) {
      if (!name.endsWith('/process.ts')) return next(name, context);
      process.removeAllListeners('SIGTERM');
      const limited = new Worker(${JSON.stringify(allocating)}, { eval: true, resourceLimits: { maxYoungGenerationSizeMb: 3 } });
      limited.on('message', (megabytes) => {
        process.stdout.write([...process.execArgv.slice(0, 2), megabytes < 4].join(' '));
        process.exit(0);
      });
      return next('data:text/javascript,export const main = () => new Promise(() => undefined)', context);
    } });`;
  const preload = path.join(await temporaryFolder(t), 'print-options.mjs');
  await writeFile(preload, hooks);
  const env = { DEPOSIT_DATA_DIR: await temporaryFolder(t) };
  const out = await started(t, ['--import', preload, MAIN], env, 'node').out;
  t.is(out, '--max-semi-space-size=16 --heap-growing-percent=50 true');
});

test('a service that gets SIGTERM while it waits for its log exits with 0, and was never ready', async (t) => {
  const { child, ended, out, err } = started(t, [], {
    DEPOSIT_DATA_DIR: await temporaryFolder(t),
    DEPOSIT_EVENT_LOG: 'esdb://127.0.0.1:1?tls=false',
  });
  child.stdout.on('data', (chunk: Buffer) => chunk.includes('"msg":"start"') && child.kill('SIGTERM'));
  t.deepEqual(await ended, [0, null]);
  t.deepEqual(
    jsonLines<Line>(await out).map(({ msg }) => msg),
    ['start', 'stopping', 'stop'],
  );
  t.is(await err, '');
});

test('a service that stops while its views catch up is never ready, and waits for nothing that needs them', async (t) => {
  await using double = await EventStoreDbDouble.start();
  double.faults.set('subscribe', { kind: 'hang' }, Number.POSITIVE_INFINITY);
  const settings = { DEPOSIT_DATA_DIR: await temporaryFolder(t), DEPOSIT_PORT: '0' };
  const config = readConfig({ ...settings, DEPOSIT_EVENT_LOG: double.connectionString });
  const service = await startService(config, { logger: silentLogger });
  let isStopped = false;
  const never = t.throwsAsync(service.ready, { message: 'The service is stopping.' });
  const stopping = service[Symbol.asyncDispose]().then(() => void (isStopped = true));
  await never;
  t.false(isStopped, 'the views end later');
  await stopping;
});

test('data of a newer release exit with 2 and a message, since a restart does not help', async (t) => {
  const rosa = { kind: 'operator', name: 'rosa' } as const;
  const newer = [
    ['PRAGMA user_version = 9', 'LOG_FORMAT_UNKNOWN', /an event log of format 9, .* start the release/],
    [
      `UPDATE events SET metadata = json_set(metadata, '$.schemaVersion', 9)`,
      'UNREADABLE_EVENT',
      /^A CollectionOpened of schema version 9 cannot be read by this release: start/,
    ],
  ] as const;
  for (const [sql, code, sentence] of newer) {
    const folder = await temporaryFolder(t);
    const file = path.join(folder, 'event-log.sqlite');
    {
      await using log = await SqliteEventLog.open({ file });
      await new AdminCommands(log, rosa).collection({ type: 'OpenCollection', collection: 'software' });
    }
    {
      using database = new DatabaseSync(file);
      database.exec(sql);
    }
    const { ended, out, err } = started(t, [], { DEPOSIT_DATA_DIR: folder });
    t.deepEqual(await ended, [2, null]);
    t.regex(await err, sentence);
    t.is((await err).trimEnd().split('\n').length, 1);
    t.like(JSON.parse((await out).trimEnd().split('\n').at(-1) ?? ''), { level: 'error', code });
  }
});

test('an operator port closes even if the disk with operator.json is read-only', async (t) => {
  const dataDir = await temporaryFolder(t);
  const server = await OperatorServer.listen({ host: '127.0.0.1', port: 0, dataDir, routes: {} });
  const { url } = server;
  const rmSync = () => {
    throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
  };
  await runInWorld({ files: { ...FILES_OF_NODE, rmSync } }, () => server[Symbol.asyncDispose]());
  await t.throwsAsync(fetch(url), { message: 'fetch failed' });
});

test('an operator.json that a full disk does not take is named', async (t) => {
  const dataDir = await temporaryFolder(t);
  const full = { code: 'ENOSPC', errno: -28, syscall: 'write' };
  const writeFileSync = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), full); // Node names no file
  };
  const listening = runInWorld({ files: { ...FILES_OF_NODE, writeFileSync } }, () =>
    OperatorServer.listen({ host: '127.0.0.1', port: 0, dataDir, routes: {} }),
  );
  await t.throwsAsync(listening, { code: 'ENOSPC' });
  t.like(await listening.catch((error: unknown) => error), { path: path.join(dataDir, 'operator.json.new') });
});

test('the operator port answers GET and HEAD of /metrics without a token, with a query, too', async (t) => {
  const dataDir = await temporaryFolder(t);
  const metrics = async () => ({ type: 'text/plain; version=0.0.4', text: 'up 1\n' });
  await using server = await OperatorServer.listen({
    host: '127.0.0.1',
    port: 0,
    dataDir,
    routes: {},
    metrics,
  });
  for (const [method, path, status, text] of [
    ['GET', '/metrics', 200, 'up 1\n'],
    ['GET', '/metrics?target=deposits', 200, 'up 1\n'],
    ['HEAD', '/metrics', 200, ''],
    ['GET', '/metricsx', 401, '{"error":"The token is not that of operator.json."}'],
  ] as const) {
    const response = await fetch(`${server.url}${path}`, { method });
    t.deepEqual([response.status, await response.text()], [status, text], `${method} ${path}`);
  }
});
