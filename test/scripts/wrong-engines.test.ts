import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import test from 'ava';
import type { Config } from '../../src/config/config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { assertEnginesOfService, openServiceStore } from '../../src/operations/command/service-engines.ts';
import { printHistory } from '../../src/operations/history/print-history.ts';
import { enginePlaces } from '../../src/service/backends/engine-places.ts';
import { openStoreAudit } from '../../src/service/backends/open-audits.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { openStore } from '../../src/service/backends/open-store.ts';
import { ControlClient as OperatedService } from '../../src/service/operator-port/control-client.ts';
import { lockLog } from '../../src/service/operator-port/data-directory-lock.ts';
import { identityOf } from '../../src/service/operator-port/directory-id.ts';
import { OperatorServer } from '../../src/service/operator-port/operator-server.ts';
import { makeDoneDeposit } from '../../testing/http/made-deposits.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { S3Server } from '../../testing/s3/s3-server.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';
import { RunningService } from '../../testing/service/running-service.ts';

/** Makes a service whose log is not in its data folder, with a deposit and an object that no event names. */
async function serviceWithLogElsewhere(file: string): Promise<RunningService> {
  const service = await RunningService.start({ eventLog: { kind: 'sqlite', file } });
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDoneDeposit(alice);
  await service.service.store.put(Readable.from([Buffer.from('no event names this')]));
  return service;
}

async function objectsOf(service: RunningService): Promise<number> {
  return (await Array.fromAsync(service.service.store.list())).length;
}

test('objects in the format of a newer release are refused by commands that read them, and status says so', async (t) => {
  const log = path.join(await temporaryFolder(t), 'log.sqlite');
  await using service = await serviceWithLogElsewhere(log);
  const [backup, target] = [await temporaryFolder(t), await temporaryFolder(t)];
  const env = { DEPOSIT_EVENT_LOG: `sqlite:${log}` };
  t.is((await runScript(service.folder, 'backup', [backup, '--init'], { env })).code, 0);
  await service.stop();
  for (const folder of [service.folder, backup]) {
    using database = new DatabaseSync(path.join(folder, 'archives', 'small.sqlite'));
    database.exec('PRAGMA user_version = 7');
  }
  const sentence = /small\.sqlite has objects in format 7, this release reads format 0: start the release/;
  for (const [folder, command, ...args] of [
    [service.folder, 'gc'],
    [service.folder, 'backup', backup],
    [target, 'restore', backup],
    [
      service.folder,
      'migrate',
      '--from',
      `file:${service.folder}/archives`,
      '--to',
      `file:${target}/archives`,
    ],
  ] as const) {
    const ran = await runScript(folder, command, args, folder === target ? {} : { env });
    t.deepEqual([ran.code, ran.out], [1, ''], command);
    t.regex(ran.err, sentence, command);
  }
  t.deepEqual(
    readdirSync(target).filter((name) => /^(event-log\.sqlite(?!\.lock)|archives)/.test(name)),
    [],
  );
  t.regex((await runScript(service.folder, 'status', [], { env })).out, sentence);
});

test('commands without the address of the log do nothing, with and without a running service', async (t) => {
  const elsewhere = await temporaryFolder(t);
  const file = path.join(elsewhere, 'log.sqlite');
  await using service = await serviceWithLogElsewhere(file);
  const objects = await objectsOf(service);
  const backup = path.join(elsewhere, 'backup');
  const commands = [
    ['gc', '--remove', '--older-than', '0s'],
    ['backup', '--init', backup],
    ['client', 'add', 'bob'],
    ['rebuild', '--all'],
    ['export'],
  ] as const;
  const inDataFolder = path.join(service.folder, 'event-log.sqlite');
  const eachIsRefused = async (because: RegExp): Promise<void> => {
    const ran = await Promise.all(commands.map(([name, ...args]) => runScript(service.folder, name, args)));
    for (const [index, { code, err }] of ran.entries()) {
      t.is(code, 1, commands[index]?.[0]);
      t.regex(err, because);
      t.notRegex(err, /\n\s+at /, 'a message, no stack');
    }
    t.false(existsSync(inDataFolder));
    t.false(existsSync(path.join(backup, 'backup.json')));
  };
  const otherLog = /works on sqlite:.*log\.sqlite, this command would work on sqlite:.*event-log\.sqlite/;
  await eachIsRefused(otherLog);
  const untold = readConfig({ DEPOSIT_DATA_DIR: service.folder });
  const unheard = { say: () => t.fail(), warn: () => t.fail() };
  await t.throwsAsync(printHistory(['1'], untold, unheard), { message: otherLog });
  const verified = await runScript(service.folder, 'verify', ['--all']);
  t.deepEqual([verified.code, verified.out], [1, ''], 'no finding, since it is another log');
  t.regex(verified.err, otherLog);
  await service.stop();
  await eachIsRefused(/^No event log at .*event-log\.sqlite\. /);
  await service.startAgain();
  t.is(await objectsOf(service), objects);

  const expected = { env: { DEPOSIT_EVENT_LOG: `sqlite:${file}` } };
  t.is((await runScript(service.folder, 'client', ['list'], expected)).out, 'alice: software\n');
});

test('commands open existing engines; only those meant to create one may do so', (t) => {
  const scripts = path.join(import.meta.dirname, '../../scripts');
  const names = readdirSync(scripts).filter((name) => name.endsWith('.ts'));
  const makers = names.filter((name) =>
    /\bopen(Log|Store)\((?!.*(?:readOnly|mustExist): true)/.test(
      readFileSync(path.join(scripts, name), 'utf8'),
    ),
  );
  t.deepEqual(makers.toSorted(), ['backup.ts', 'bind.ts', 'import.ts', 'migrate.ts', 'restore.ts']);
});

test('a log or a store of another service is detected before anything is removed', async (t) => {
  const elsewhere = await temporaryFolder(t);
  const file = path.join(elsewhere, 'log.sqlite');
  await using service = await serviceWithLogElsewhere(file);
  const objects = await objectsOf(service);
  // The state that older commands left there, or the log before a move to another engine.
  const other = { kind: 'sqlite', file: path.join(service.folder, 'event-log.sqlite') } as const;
  await (await openLog({ eventLog: other }))[Symbol.asyncDispose]();
  const gc = (env: Record<string, string> = {}) =>
    runScript(service.folder, 'gc', ['--remove', '--older-than', '0s'], { env });
  t.regex((await gc()).err, /works on sqlite:.*log\.sqlite, this command would/);
  const log = { DEPOSIT_EVENT_LOG: `sqlite:${file}` };
  const wrongStore = await gc({ ...log, DEPOSIT_ARCHIVE_STORE: `file:${elsewhere}` });
  t.regex(wrongStore.err, /works on file:.*archives, this command would work on file:/);
  await service.stop();
  const empty = await gc();
  t.is(empty.code, 1);
  t.regex(empty.err, /^The event log belongs to no archive store yet, but the archive store has the id /);
  await rm(path.join(service.folder, 'archives/store-id')); // as in a store of an older release
  t.regex((await gc()).err, /^The event log is empty, so it does not belong to these objects/);
  const noStore = await gc({ ...log, DEPOSIT_ARCHIVE_STORE: `file:${elsewhere}/nowhere` });
  t.regex(noStore.err, /^No archive store at .*nowhere/);
  t.false(existsSync(path.join(elsewhere, 'nowhere')));
  await service.startAgain();
  t.is(await objectsOf(service), objects);
});

test('recent objects are removed only if no service can be about to name them', async (t) => {
  await using service = await RunningService.start();
  const young = ['--remove', '--older-than', '0s'];
  const operatorFile = path.join(service.folder, 'operator.json');
  await rename(operatorFile, `${operatorFile}.away`);
  const silent = await runScript(service.folder, 'gc', young);
  t.is(silent.code, 1, 'a service that cannot be queried may be running');
  t.regex(silent.err, /Another service runs on the data folder/);
  t.is((await runScript(service.folder, 'gc', ['--remove'])).code, 1, 'and its log is unknown');
  await rename(`${operatorFile}.away`, operatorFile);
  t.is((await runScript(service.folder, 'gc', ['--remove'])).code, 0);
  await service.stop();
  t.is((await runScript(service.folder, 'gc', young)).code, 0);
  const file = path.join(await temporaryFolder(t), 'log.sqlite');
  await (await openLog({ eventLog: { kind: 'sqlite', file } }))[Symbol.asyncDispose]();
  const env = { DEPOSIT_EVENT_LOG: `sqlite:${file}` };
  const elsewhere = await runScript(service.folder, 'gc', young, { env });
  t.is(elsewhere.code, 1);
  t.regex(elsewhere.err, /^The event log /, 'no service has this log: it is locked');
  using _used = lockLog(file);
  const used = await runScript(service.folder, 'gc', young, { env });
  t.regex(used.err, /^A service or another command uses the event log /);
  const old = await runScript(service.folder, 'gc', [], { env });
  t.notRegex(old.err, /uses the event log/, 'objects of an hour ago are safe while it is used');
  await service.startAgain();
});

test('a copy of the folder of a running service does not belong to that service', async (t) => {
  await using service = await RunningService.start();
  const copy = path.join(await temporaryFolder(t), 'copy');
  const isWritten = (file: string): boolean => file.endsWith('.new'); // and then renamed
  await cp(service.folder, copy, { recursive: true, filter: (file) => !isWritten(file) });
  t.true(existsSync(path.join(copy, 'operator.json')));
  t.is(await OperatedService.find(copy), undefined);
  t.is(
    await assertEnginesOfService(readConfig({ DEPOSIT_DATA_DIR: copy }), 'eventLog', 'archiveStore'),
    undefined,
  );
  t.truthy(await OperatedService.find(service.folder));
});

test('a service that ends while it is queried is reported in a sentence', async (t) => {
  await using service = await RunningService.start();
  const found = await OperatedService.find(service.folder);
  await service.stop();
  await t.throwsAsync(async () => found?.adopt({ views: 2 }), {
    code: 'SERVICE_GONE',
    message:
      /^The service named in .*operator\.json ended before it answered http.*: run the command again\.$/,
  });
  t.is(await OperatedService.find(service.folder), undefined);
});

test('a service that does not answer in time is not considered stopped', async (t) => {
  const folder = await temporaryFolder(t);
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  t.teardown(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo; // it listens on TCP
  const url = `http://127.0.0.1:${port}`;
  await writeFile(path.join(folder, 'operator.json'), JSON.stringify({ url, token: '', pid: 1 }));
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  await (await openLog(config))[Symbol.asyncDispose]();
  const [found, note, removed, ...looks] = await Promise.all([
    t.throwsAsync(OperatedService.find(folder), { code: 'SERVICE_SILENT' }),
    assertEnginesOfService(config, 'eventLog'),
    runScript(folder, 'gc', ['--remove']),
    runScript(folder, 'client', ['list', '--json']),
    runScript(folder, 'collection', ['list', '--json']),
    runScript(folder, 'parked', ['list', '--json']),
  ]);
  t.regex(
    found?.message ?? '',
    /operator\.json does not answer: nothing was received from http:.* for 5 s\./,
  );
  t.regex(note ?? '', /^Whether a service runs on .*, could not be asked: The service named in /);
  t.deepEqual([removed.code, removed.err], [1, `${found?.message}\n`]);
  for (const { code, out, err } of looks)
    t.deepEqual([code, out, err], [0, '', `${note}\n`], 'commands that only read continue');
});

test('a service in an unknown state is not considered stopped', async (t) => {
  const folder = await temporaryFolder(t);
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  await (await openLog(config))[Symbol.asyncDispose]();
  const routes = { 'GET /state': () => Promise.reject(new Error('no room')) };
  await using faulty = await OperatorServer.listen({ host: '127.0.0.1', port: 0, dataDir: folder, routes });
  const expected = { code: 'OPERATOR_REFUSED', message: 'The running service answered: no room' };
  await t.throwsAsync(OperatedService.find(folder), expected);
  t.is(
    await assertEnginesOfService(config, 'eventLog'),
    `Whether a service runs on ${folder}, and on what, could not be asked: ${expected.message}`,
  );
  const file = path.join(folder, 'operator.json');
  await writeFile(file, JSON.stringify({ url: faulty.url, token: 'of an earlier one', pid: 1 }));
  t.is(await OperatedService.find(folder), undefined, 'another token belongs to another service');
  await rm(file);
  await mkdir(file);
  await t.throwsAsync(OperatedService.find(folder), { code: 'EISDIR' });
  await rm(file, { recursive: true });
  t.is(await OperatedService.find(folder), undefined);
});

test('an invalid operator file is reported in a sentence, by commands that write and by those that read', async (t) => {
  const folder = await temporaryFolder(t);
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  await (await openLog(config))[Symbol.asyncDispose]();
  await mkdir(path.join(folder, 'archives'));
  const file = path.join(folder, 'operator.json');
  const whole = JSON.stringify({ url: 'http://127.0.0.1:1', token: 'secret', pid: 1 });
  const expected = `${file} names no reachable service: start the service, which writes the file again, or remove the file if no service runs on the folder.`;
  for (const text of [
    '',
    'hello',
    whole.slice(0, 40),
    'null',
    '[]',
    '"x"',
    '{}',
    '{"url":"no url","token":"x"}',
  ]) {
    await writeFile(file, text);
    await t.throwsAsync(
      OperatedService.find(folder),
      { code: 'OPERATOR_FILE_DAMAGED', message: expected },
      text,
    );
  }
  const [retried, looked, status] = await Promise.all([
    runScript(folder, 'retry', ['1']),
    runScript(folder, 'parked', ['list', '--json']),
    runScript(folder, 'status', ['--json']),
  ]);
  t.deepEqual([retried.code, retried.err], [1, `${expected}\n`]);
  t.deepEqual([looked.code, looked.out], [0, '']);
  t.true(looked.err.endsWith(`could not be asked: ${expected}\n`), looked.err);
  t.deepEqual([status.code, JSON.parse(status.out).silence], [0, expected]);
});

test('a command on a data folder that was moved away under its service says what to do', async (t) => {
  await using service = await RunningService.start();
  const moved = path.join(await temporaryFolder(t), 'moved');
  await rename(service.folder, moved);
  const [retried, status] = await Promise.all([
    runScript(moved, 'retry', ['1']),
    runScript(moved, 'status', ['--json']),
  ]);
  await rename(moved, service.folder);
  const expected = `The running service answered: The data folder ${service.folder} was moved or deleted while it was in use. Bring it back, or stop the service before you move it.`;
  t.deepEqual([retried.code, retried.err], [1, `${expected}\n`]);
  t.deepEqual([status.code, JSON.parse(status.out).silence], [0, expected]);
});

test.serial('a service that cannot publish its operator port does not start to listen', async (t) => {
  const dataDir = await temporaryFolder(t);
  await mkdir(path.join(dataDir, 'operator.json'));
  const listening = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
  const before = listening();
  const options = { host: '127.0.0.1', port: 0, dataDir, routes: {} };
  await t.throwsAsync(OperatorServer.listen(options), { code: 'EISDIR' });
  await until(async () => listening() === before);
});

test('a command queries the service once', async (t) => {
  const folder = await temporaryFolder(t);
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  await (await openLog(config))[Symbol.asyncDispose]();
  await (await openStore(config))[Symbol.asyncDispose]();
  const state = { engines: enginePlaces(config), dataFolder: identityOf(folder) };
  let asked = 0;
  const tell = (): Promise<unknown> => Promise.resolve(++asked && state);
  const routes = { 'GET /state': tell };
  await using _service = await OperatorServer.listen({ host: '127.0.0.1', port: 0, dataDir: folder, routes });
  for (const [command, ...args] of [
    ['gc'],
    ['rebuild', '--all', '--check'],
    ['backup', '--init', await temporaryFolder(t)],
  ]) {
    asked = 0;
    await runScript(folder, command ?? '', args);
    t.is(asked, 1, command);
  }
});

test('a missing bucket is not created by commands that expect objects in it', async (t) => {
  await using s3 = await S3Server.start();
  const config = readConfig({
    DEPOSIT_DATA_DIR: await temporaryFolder(t),
    ...s3.settings('mistyped'),
  });
  for (const open of [openServiceStore, existingStore, auditedStore]) {
    await t.throwsAsync(open(config), { message: /cannot use the bucket mistyped .* does not exist/ });
  }
  t.is(s3.buckets.size, 0);
});

function existingStore(config: Config) {
  return openStore(config, { mustExist: true });
}

function auditedStore({ archiveStore, dataDir }: Config) {
  return openStoreAudit(archiveStore, dataDir);
}

test('gc refuses a mistyped data folder, and creates none', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http']);
  const mistyped = path.join(node.folder, 'mistyped');
  const { code, err } = await runScript(mistyped, 'gc', [], { env: nodes.settings });
  t.is(code, 1);
  t.regex(err, /^No data folder at .*mistyped\. /);
  t.false(existsSync(mistyped));
  t.is((await runScript(node.folder, 'gc', [], { env: nodes.settings })).code, 0);
});
