import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { OperatorServer } from '../../src/service/operator-port/operator-server.ts';
import { FILES_OF_NODE } from '../../src/tools/files.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import type { Line } from '../../testing/service/kept-lines.ts';

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

test('an older Node ends the start with a sentence', async (t) => {
  const { scripts } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as Package;
  const older =
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })";
  const env = {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(older)}`,
    PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
  };
  const { ended, err } = started(t, ['-c', scripts.start], env, 'sh');
  t.deepEqual(await ended, [2, null]);
  t.regex(await err, /^The service needs Node 24 or newer, this is 20\.1\.0: .*\n$/);
});

test('a service that npm has started tells what starts, where it is ready and that it stops; what is for a person is on standard error', async (t) => {
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
  const lines = (await out)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
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
  const password = /password (\S+) \(shown only now\)/.exec(said)?.[1] ?? '';
  t.true(password.length > 10);
  t.false((await out).includes(password));
});

test('a wrong argument ends with 2 and a sentence', async (t) => {
  const { ended, err } = started(t, ['--what'], { DEPOSIT_DATA_DIR: await temporaryFolder(t) });
  t.deepEqual(await ended, [2, null]);
  t.regex(await err, /^Unknown option '--what'/);
  t.notRegex(await err, /\n +at /);
});

test('a service whose store is away when it starts ends with 1: a sentence for a person, a line for the log', async (t) => {
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
    msg: 'the service cannot go on',
    code: 'ARCHIVE_STORE_UNAVAILABLE',
  });
  t.notRegex(await out, /"msg":"ready"|hunter2/);
});

test('a data folder that cannot be locked ends with 1 and a sentence, where its lock is damaged with 2', async (t) => {
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

test('a service that is told to stop while its program is being loaded ends with 0', async (t) => {
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

test('a service that is told to stop while it waits for its log ends with 0, and has never been ready', async (t) => {
  const { child, ended, out, err } = started(t, [], {
    DEPOSIT_DATA_DIR: await temporaryFolder(t),
    DEPOSIT_EVENT_LOG: 'esdb://127.0.0.1:1?tls=false',
  });
  child.stdout.on('data', (chunk: Buffer) => chunk.includes('"msg":"start"') && child.kill('SIGTERM'));
  t.deepEqual(await ended, [0, null]);
  t.deepEqual(
    (await out)
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Line).msg),
    ['start', 'stopping', 'stop'],
  );
  t.is(await err, '');
});

test('what a newer release wrote ends with 2 and a sentence: no restart mends it', async (t) => {
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

test('an operator port closes although the disk with operator.json became read-only', async (t) => {
  const dataDir = await temporaryFolder(t);
  const server = await OperatorServer.listen({ host: '127.0.0.1', port: 0, dataDir, routes: {} });
  const { url } = server;
  const rmSync = () => {
    throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
  };
  await runInWorld({ files: { ...FILES_OF_NODE, rmSync } }, () => server[Symbol.asyncDispose]());
  await t.throwsAsync(fetch(url), { message: 'fetch failed' });
});
