import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { Administration } from '../src/administration.ts';
import type { Config } from '../src/config.ts';
import { readConfig } from '../src/config.ts';
import { sealAfter } from '../src/event-log/hash-chain.ts';
import { SqliteEventLog } from '../src/event-log/sqlite/sqlite-event-log.ts';
import { startService } from '../src/service.ts';
import { tarOf, zipOf } from './support/archive-builders.ts';
import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  final,
  formOf,
  formType,
  helloEntry,
  partial,
} from './support/deposit-bodies.ts';
import { DistributedNodes } from './support/distributed-nodes.ts';
import { keptLines, type Line } from './support/kept-lines.ts';
import { deposit, notify, temporaryKey } from './support/notified-service.ts';
import { RawConnection } from './support/raw-connection.ts';
import { RunningService, until } from './support/running-service.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { WebhookReceiver } from './support/webhook-receiver.ts';

const root = path.join(import.meta.dirname, '..');
const MAIN = path.join(root, 'src/main.ts');

type Package = { readonly scripts: { readonly start: string } };

/** A service whose lines are kept. */
async function logged(t: ExecutionContext, overrides: Partial<Config> = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'deposit-'));
  const { logger, lines } = keptLines();
  const service = await RunningService.startIn(folder, overrides, logger);
  t.teardown(() => service[Symbol.asyncDispose]());
  const line = async (message: string): Promise<Line> => {
    await until(async () => lines.some(({ msg }) => msg === message));
    return lines.find(({ msg }) => msg === message) as Line; // it was waited for
  };
  return { service, lines, line };
}

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

test('a write that the store does not take leaves a line with engine and cause, under the id of its request', async (t) => {
  const { service, lines, line } = await logged(t);
  const alice = await service.register('alice', { collections: ['software'] });
  const incoming = path.join(service.folder, 'archives', 'incoming');
  await rename(incoming, `${incoming}-away`);
  const large = zipOf([{ name: 'noise', data: randomBytes(200_000) }]); // small ones are rows of a table
  const answer = await alice.post('/1/software/', large, { ...archiveHeaders(), ...final });
  t.is(answer.status, 503);
  await answer.text();
  const told = await line('unavailable');
  t.like(told, { level: 'warn', method: 'POST', path: '/1/software/', code: 'ARCHIVE_STORE_UNAVAILABLE' });
  t.is(told['requestId'], answer.headers.get('x-request-id'));
  t.regex(JSON.stringify(told['err']), /ENOENT.*archives\/incoming/);
  await rename(`${incoming}-away`, incoming);
  t.notRegex(JSON.stringify(lines), /Basic |authorization/i);
});

test('an unexpected error is told with the id of its request', async (t) => {
  const { service, line } = await logged(t);
  const alice = await service.register('alice', { collections: ['software'] });
  await alice.post('/1/software/', formOf([archivePart(), entryPart()]), { ...formType, ...final });
  await alice.waitFor('/1/software/1/status/', 'done');
  for await (const { sha256 } of service.service.store.list()) await service.service.store.remove(sha256);
  const answer = await alice.get('/1/software/1/media/');
  t.is(answer.status, 500);
  const told = await line('unexpected error');
  t.like(told, { level: 'error', path: '/1/software/1/media/' });
  t.is(told['requestId'], answer.headers.get('x-request-id'));
});

test('a client that goes before its entry is read is no unexpected error', async (t) => {
  const { service, lines } = await logged(t);
  const alice = await service.register('alice', { collections: ['software'] });
  const created = await alice.post('/1/software/', helloEntry, { ...entryHeaders(), ...partial });
  const edit = new URL(created.headers.get('location') ?? '').pathname;
  using connection = await RawConnection.to(service.url);
  const coming = 'Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n';
  await connection.send(
    `POST ${edit} HTTP/1.1\r\nHost: x\r\nAuthorization: ${alice.authorization}\r\n${coming}\r\n`,
  );
  t.is((await connection.answers(1)).status, 100);
  connection.reset();
  const ended = (): boolean => lines.some(({ msg, path }) => msg === 'request' && path === edit);
  await until(async () => ended());
  await until(async () => (await alice.get('/1/servicedocument/')).status === 200);
  t.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [],
  );
});

test('a store that holds nothing beside a log with deposits is told at the start', async (t) => {
  const { service, lines } = await logged(t);
  const alice = await service.register('alice', { collections: ['software'] });
  await alice.post('/1/software/', zipOf([{ name: 'a', data: 'a' }]), { ...archiveHeaders(), ...partial });
  await service.stop();
  await service.startAgain();
  const told = (): Line[] => lines.filter(({ msg }) => msg === 'the archive store is empty');
  t.deepEqual(told(), []);
  await service.stop();
  await rm(path.join(service.folder, 'archives'), { recursive: true });
  await service.startAgain();
  t.deepEqual(
    told().map(({ level }) => level),
    ['error'],
  );
  t.regex(String(told()[0]?.['reason']), /^The event log has deposit-1, .* bring the archives back\.$/);
});

test('what killed processes left on its way into the store goes at a start, once it is a day old', async (t) => {
  const { service, lines } = await logged(t);
  await service.stop();
  const incoming = path.join(service.folder, 'archives', 'incoming');
  const long = Date.now() / 1000 - 25 * 3600;
  for (const name of ['old', 'young']) await writeFile(path.join(incoming, name), 'cut off');
  await utimes(path.join(incoming, 'old'), long, long);
  await service.startAgain();
  t.deepEqual(await readdir(incoming), ['young']);
  t.like(
    lines.find(({ msg }) => msg === 'temporary archives of a killed process removed'),
    { files: 1 },
  );
});

test('a store that is damaged is none that holds nothing, and what can be read of it is served', async (t) => {
  const { service, lines } = await logged(t);
  const alice = await service.register('alice', { collections: ['software'] });
  await alice.post('/1/software/', zipOf([{ name: 'a', data: 'a' }]), { ...archiveHeaders(), ...partial });
  await service.stop();
  const file = path.join(service.folder, 'archives', 'small.sqlite');
  const bytes = await readFile(file);
  const pageSize = bytes.readUInt16BE(16);
  await writeFile(file, bytes.fill(0xee, pageSize, 2 * pageSize)); // where its table begins
  await service.startAgain();
  t.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [],
  );
});

test('a check that was aborted is told with its archive and why', async (t) => {
  const { archiveLimits } = readConfig({});
  const { service, line } = await logged(t, {
    archiveLimits: { ...archiveLimits, wallTime: 1, wallBytesPerMs: 1e9 },
  });
  const alice = await service.register('alice', { collections: ['software'] });
  const slow = gzipSync(tarOf([{ name: 'slow/zeros', data: Buffer.alloc(40 * 1024 ** 2) }]), { level: 1 });
  const part = archivePart(slow, 'slow.tar.gz', 'application/x-tar');
  await alice.post('/1/software/', formOf([part, entryPart()]), { ...formType, ...final });
  await alice.waitFor('/1/software/1/status/', 'rejected');
  const told = await line('check of an archive aborted');
  t.is(told.level, 'warn');
  t.regex(JSON.stringify(told['archives']), /^\["[0-9a-f]{64}"\]$/);
  t.regex(JSON.stringify(told['err']), /It took more than \d+ ms/);
});

test('held notifications that cannot be looked at are told with client and deposit', async (t) => {
  const keyFile = await temporaryKey(t);
  const { webhooks } = readConfig({});
  const hasty = { ...webhooks, keyFile, allowPrivate: true, firstPause: 20, longestPause: 200 };
  const { service, line } = await logged(t, { webhooks: hasty });
  const alice = await service.register('alice', { collections: ['software'] });
  await using receiver = await WebhookReceiver.start();
  await receiver.down();
  await notify(service, 'alice', receiver, keyFile);
  const id = await deposit(alice, 'software');
  const { log } = service.service;
  const stream = `notifications-${id}`;
  await until(async () => (await Array.fromAsync(log.readStream(stream))).length > 0);
  // Of a later release, say: no node that runs this one can go on with it.
  const last = (await Array.fromAsync(log.readStream(stream, { backwards: true, limit: 1 })))[0];
  if (!last) return t.fail();
  const event = { id: randomUUID(), type: 'NotificationFolded', data: {}, metadata: { schemaVersion: 1 } };
  const append = (revision: number) =>
    log.append(stream, revision, sealAfter(stream, revision, null, [event]));
  for (let revision = last.revision; ; revision += 1) {
    const isIn = await append(revision).then(
      () => true,
      () => false, // another try was recorded meanwhile
    );
    if (isIn) break;
  }
  t.like(await line('held notifications not delivered'), { level: 'warn', client: 'alice', depositId: id });
});

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
  // As npm does; its signals go to this shell, and with a terminal the service gets each of them twice.
  const { child, ended, out, err } = started(
    t,
    ['-c', scripts.start],
    { DEPOSIT_DATA_DIR: folder, PATH },
    'sh',
  );
  // At once, but not so that the system makes one of them; what comes when all is over would still end the process.
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
      await new Administration(log, rosa).collection({ type: 'OpenCollection', collection: 'software' });
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

for (const role of ['http', 'reactors'] as const) {
  test(`a node with the role ${role} that cannot build its views has failed`, async (t) => {
    await using nodes = await DistributedNodes.start({ callTimeout: 300, patience: 500 });
    const { eventLog, archiveStore } = nodes.enginesAt();
    nodes.double.stop();
    const config = readConfig({ DEPOSIT_PORT: '0', DEPOSIT_DATA_DIR: await temporaryFolder(t) });
    const { logger } = keptLines();
    await using service = await startService(
      { ...config, eventLog, archiveStore, roles: [role] },
      { logger },
    );
    await t.throwsAsync(service.failed, { code: 'EVENT_LOG_UNAVAILABLE' });
    await t.throwsAsync(service.ready, { code: 'EVENT_LOG_UNAVAILABLE' });
  });
}
