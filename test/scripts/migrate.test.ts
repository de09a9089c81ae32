import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import type { EventLogConfig } from '../../src/config/config.ts';
import type { EventLog, NewEvent } from '../../src/event-log/event-log.ts';
import { sealAfter } from '../../src/event-log/integrity/hash-chain.ts';
import type { StoredObject } from '../../src/object-store/object-store.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { openStore } from '../../src/service/backends/open-store.ts';
import { lockFile } from '../../src/tools/files/lock-file.ts';
import { EventStoreDbDouble } from '../../testing/eventstoredb-double/eventstoredb-double.ts';
import { archiveHeaders, helloZip, partial } from '../../testing/http/deposit-bodies.ts';
import { FaultProxy } from '../../testing/http/fault-proxy.ts';
import { makeDoneDeposit } from '../../testing/http/made-deposits.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { outcomeOf, type Ran, runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import type { S3Bucket } from '../../testing/s3/s3-bucket.ts';
import { S3Server } from '../../testing/s3/s3-server.ts';
import { RunningService } from '../../testing/service/running-service.ts';

/** Runs `migrate`; the data folder is among `env`, if it is needed. */
function migrate(from: string, to: string, more: readonly string[] = [], env = {}): Promise<Ran> {
  const script = path.join(import.meta.dirname, '../../scripts/migrate.ts');
  const args = [script, '--from', from, '--to', to, ...more];
  return outcomeOf(spawn(process.execPath, args, { env: { ...process.env, ...env } }));
}

/** Resolves to everything that a client is shown of its deposits. */
async function documents(client: TestClient, deposits: number): Promise<string[]> {
  const paths = ['/1/servicedocument/'];
  for (let id = 1; id <= deposits; id += 1) {
    for (const kind of ['status', 'content', 'metadata']) paths.push(`/1/software/${id}/${kind}/`);
  }
  return Promise.all(
    paths.map(async (target) => {
      const answer = await client.get(target);
      return `${target} ${answer.status} ${await answer.text()}`;
    }),
  );
}

async function eventsOf(log: EventLog) {
  return Array.fromAsync(log.readAll(), ({ position: _position, ...event }) => event);
}

test('a log is copied to EventStoreDB from a running service and back, and the service on it shows the same', async (t) => {
  await using engines = new AsyncDisposableStack();
  const baseUrl = 'https://deposits.example';
  const double = engines.use(await EventStoreDbDouble.start());
  const original = engines.use(await RunningService.start({ baseUrl }));
  const alice = await original.register('alice', { collections: ['software'] });
  await makeDoneDeposit(alice);
  await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial });
  const parked = {
    id: randomUUID(),
    type: 'EventParked',
    data: { reactor: 'x' },
    metadata: { schemaVersion: 1 },
  };
  await original.service.log.append('parked-x', 'none', sealAfter('parked-x', 'none', null, [parked]));

  const file = (folder: string, name: string) => `sqlite:${path.join(folder, name)}`;
  const embedded = file(original.folder, 'event-log.sqlite');
  const first = await migrate(embedded, double.connectionString);
  t.is(first.code, 0, first.err);
  t.regex(first.out, /^Copied (\d+) events\. All \1 are the same in both logs/);
  await makeDoneDeposit(alice);
  const shown = await documents(alice, 3);
  const events = await eventsOf(original.service.log);
  await original.stop();
  const second = await migrate(embedded, double.connectionString, ['--json']);
  const copied = events.length - Number(/\d+/.exec(first.out)?.[0]);
  t.true(copied > 0);
  t.deepEqual(JSON.parse(second.out), { events: events.length, copied, source_moved: false });

  const folder = await temporaryFolder(t);
  const back = await migrate(double.connectionString, file(folder, 'event-log.sqlite'));
  t.is(back.code, 0, back.err);
  {
    await using log = await openLog({
      eventLog: { kind: 'sqlite', file: path.join(folder, 'event-log.sqlite') },
    });
    t.deepEqual(await eventsOf(log), events);
  }
  const archiveStore = { kind: 'file', folder: path.join(original.folder, 'archives') } as const;
  const copy = engines.use(await RunningService.startIn(folder, { archiveStore, baseUrl }));
  t.deepEqual(await documents(new TestClient(copy.url, 'alice'), 3), shown);
});

test('no service starts on a log of which only a part was copied, until the same command has finished', async (t) => {
  await using double = await EventStoreDbDouble.start();
  await using original = await RunningService.start();
  await original.register('alice', { collections: ['software'] });
  await original.stop();
  const archiveStore = { kind: 'file', folder: path.join(original.folder, 'archives') } as const;
  const embedded = `sqlite:${path.join(original.folder, 'event-log.sqlite')}`;
  const startOn = async (folder: string, eventLog: EventLogConfig) => {
    await using started = await RunningService.startIn(folder, { archiveStore, eventLog });
    t.truthy(started.url);
  };
  const refused = {
    code: 'COPY_UNFINISHED',
    message: /^"deposit-service migrate" into .* is not finished: run the same command again/,
  };

  const { connectionString } = double;
  const shared = { kind: 'eventstoredb', connectionString } as const;
  double.faults.set('append', { kind: 'delay', milliseconds: 0 }, 3);
  double.faults.set('append', { kind: 'hang' }, Number.POSITIVE_INFINITY);
  const script = path.join(import.meta.dirname, '../../scripts/migrate.ts');
  const child = spawn(process.execPath, [script, '--from', embedded, '--to', connectionString]);
  const killed = once(child, 'exit');
  await until(async () => double.faults.seen('append') > 3);
  child.kill('SIGKILL');
  await killed;
  double.faults.clear();
  const folder = await temporaryFolder(t);
  await t.throwsAsync(startOn(folder, shared), refused);
  const onwards = await migrate(connectionString, `sqlite:${path.join(folder, 'copy.sqlite')}`);
  t.like(onwards, { code: 1 }, 'nor is the part copied on as a whole');
  t.regex(onwards.err, refused.message);
  const finished = await migrate(embedded, connectionString);
  t.is(finished.code, 0, finished.err);
  await startOn(folder, shared);

  {
    await using log = await openLog({ eventLog: { kind: 'sqlite', file: embedded.slice('sqlite:'.length) } });
    const [sealed] = sealAfter('x', 'none', null, [
      { id: randomUUID(), type: 'Altered', data: {}, metadata: { schemaVersion: 1 } },
    ]);
    await log.append('x', 'none', [{ ...(sealed as NewEvent), data: { altered: true } }]);
  }
  const target = { kind: 'sqlite', file: path.join(folder, 'event-log.sqlite') } as const;
  t.is((await migrate(embedded, `sqlite:${target.file}`)).code, 1, 'its hashes are not correct');
  await t.throwsAsync(startOn(folder, target), refused);
});

test('an export that gets SIGTERM while the log hangs leaves no file, and reports it', async (t) => {
  await using double = await EventStoreDbDouble.start();
  double.faults.set('read', { kind: 'hang' }, Number.POSITIVE_INFINITY);
  const folder = await temporaryFolder(t);
  const stopped = await runScript(folder, 'export', ['--output', path.join(folder, 'log.ndjson')], {
    env: { DEPOSIT_EVENT_LOG: double.connectionString },
    stopIn: folder,
  });
  t.like(stopped, { code: 1, err: 'Stopped; nothing was exported.\n' });
  t.deepEqual(await readdir(folder), []);
});

test('archives are copied to S3 and back; a corrupt one stops no other, and existing ones are skipped', async (t) => {
  await using s3 = await S3Server.start();
  const [folder, other] = [await temporaryFolder(t), await temporaryFolder(t)];
  const { DEPOSIT_ARCHIVE_STORE: bucket, ...settings } = s3.settings('archives');
  const keys = { ...settings, DEPOSIT_DATA_DIR: other };
  const store = (place: string) =>
    openStore({ archiveStore: { kind: 'file', folder: place }, dataDir: place });
  const bodies = [0, 10, 1000, 65_537, 3_000_000].map((length) => randomBytes(length));
  await using source = await store(folder);
  const stored = [];
  for (const body of bodies) stored.push(await source.put(Readable.from([body])));
  const { sha256 } = stored[3] as StoredObject;
  const object = path.join(folder, 'v1/sha256', sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  await writeFile(object, randomBytes(65_537));

  const noLog = await migrate(`file:${folder}`, bucket, [], keys);
  t.is(noLog.code, 1);
  t.regex(noLog.err, /^No event log at /);
  t.is(s3.buckets.size, 0, 'only objects compared with a log are copied');
  const eventLog = { kind: 'sqlite', file: path.join(other, 'event-log.sqlite') } as const;
  await (await openLog({ eventLog }))[Symbol.asyncDispose]();

  const broken = await migrate(`file:${folder}`, bucket, ['--json'], keys);
  t.is(broken.code, 0, broken.err);
  t.regex(broken.err, new RegExp(`^Not copied: ${sha256}\\. The object ${sha256} .* holds other bytes`, 'm'));
  t.like(JSON.parse(broken.out), { objects: 4, copied: 4, bytes: 3_001_010, source_moved: false });

  await source.put(Readable.from([bodies[3] as Buffer]));
  const there = s3.buckets.get('archives') as S3Bucket;
  await s3.damage(there, keyOf((stored[4] as StoredObject).sha256), (bytes) => bytes.fill(0, 7, 1000));
  const mended = await migrate(`file:${folder}`, bucket, ['--verify'], keys);
  t.is(mended.code, 0, mended.err);
  t.is(
    mended.out,
    'Copied 1 object. The target holds 5 of the source, 3,066,547 bytes. All were read again; 1 was corrupt and has been replaced.\n',
  );

  const back = path.join(other, 'archives');
  const elsewhere = { ...keys, DEPOSIT_DATA_DIR: folder };
  const log = ['--log', `sqlite:${eventLog.file}`];
  t.is((await migrate(bucket, `file:${back}`, log, elsewhere)).code, 0);
  await using target = await store(back);
  const listed = await Array.fromAsync(target.list(), ({ sha256, length }) => ({ sha256, length }));
  t.deepEqual(listed.sort(byName), stored.toSorted(byName));
  for (const [index, { sha256 }] of stored.entries()) {
    t.true((bodies[index] as Buffer).equals(await buffer((await target.get(sha256)).body)));
  }
});

test('archives are copied to S3 and back while it restarts', async (t) => {
  await using s3 = await S3Server.start();
  await using proxy = await FaultProxy.start(s3.port);
  const [folder, other] = [await temporaryFolder(t), await temporaryFolder(t)];
  const { DEPOSIT_ARCHIVE_STORE: bucket, ...settings } = s3.settings('archives', proxy.port);
  const keys = { ...settings, DEPOSIT_DATA_DIR: other };
  {
    await using source = await openStore({ archiveStore: { kind: 'file', folder }, dataDir: folder });
    for (const length of [10, 65_537, 3_000_000]) await source.put(Readable.from([randomBytes(length)]));
  }
  const file = path.join(other, 'log.sqlite');
  const log = ['--log', `sqlite:${file}`];
  await (await openLog({ eventLog: { kind: 'sqlite', file } }))[Symbol.asyncDispose]();
  let restarts = 0;
  const restart = async () => {
    restarts += 1;
    await proxy.refuse();
    void pause(1500).then(() => proxy.accept());
  };
  proxy.inject({ kind: 'after', event: restart }, /^PUT .*v1\//, 1);
  const there = await migrate(`file:${folder}`, bucket, log, keys);
  t.is(there.code, 0, there.err);
  proxy.inject({ kind: 'after', event: restart }, /^GET .*v1\//, 1);
  const back = await migrate(bucket, `file:${path.join(other, 'archives')}`, [...log, '--verify'], keys);
  t.is(back.code, 0, back.err);
  t.regex(back.out, /^Copied 3 objects\./);
  t.is(restarts, 2);
});

test('an impossible migration is refused with a message, and creates nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const log = `sqlite:${path.join(folder, 'log.sqlite')}`;
  const nowhere = path.join(folder, 'nowhere');
  await writeFile(path.join(folder, 'place'), `${log}\n`);
  using _copying = lockFile(path.join(folder, 'busy.sqlite.lock'), 'in use');
  await using _made = await openLog({ eventLog: { kind: 'sqlite', file: path.join(folder, 'log.sqlite') } });
  const cases: readonly (readonly [string, string, number, RegExp, ...string[]])[] = [
    [`sqlite:${nowhere}`, log, 1, /^No event log at .*nowhere\. --from must name an existing one\.$/m],
    [`file:${nowhere}`, `file:${nowhere}2`, 1, /^No archive store at \S+\. --from must /m, '--log', log],
    [`file:${nowhere}`, `file:${nowhere}2`, 1, /^No event log at \S+\. --log must /m, '--log', `${log}2`],
    [`file:${nowhere}`, `file:${nowhere}2`, 1, /^No event log at .* DEPOSIT_EVENT_LOG says where\.$/m],
    [log, `@${path.join(folder, 'place')}`, 2, /are the same place/],
    [log, `sqlite:${path.join(folder, 'busy.sqlite')}`, 1, /uses the event log .*busy\.sqlite: stop it/],
    [`file:${folder}`, 's3://127.0.0.1:1/archives', 1, /needs DEPOSIT_S3_ACCESS_KEY/],
  ];
  await Promise.all(
    cases.map(async ([from, to, code, message, ...more]) => {
      const ran = await migrate(from, to, more, { DEPOSIT_DATA_DIR: folder });
      t.is(ran.code, code, ran.err);
      t.regex(ran.err, message);
      t.notRegex(ran.err, /\n\s+at /, 'no stack for an error that a user can correct');
      t.is(ran.out, '');
    }),
  );
  t.false(existsSync(nowhere));
});

function byName(one: StoredObject, other: StoredObject): number {
  return one.sha256 < other.sha256 ? -1 : 1;
}

function keyOf(sha256: string): string {
  return `v1/sha256/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`;
}
