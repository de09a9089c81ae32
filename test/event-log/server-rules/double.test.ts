import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { binaryEvent, EventStoreDBClient } from '@eventstore/db-client';
import test, { type ExecutionContext } from 'ava';
import { TcpFaultProxy } from '../../../drills/engines/tcp-fault-proxy.ts';
import { EventStoreDbDouble } from '../../../testing/eventstoredb-double/eventstoredb-double.ts';
import { writeDump } from '../../../testing/eventstoredb-double/storage/log-dump.ts';
import type { StoredEvent } from '../../../testing/eventstoredb-double/storage/stored-events.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { until } from '../../../testing/processes/until.ts';
import { untilAppended } from './appends.ts';
import { notes } from './server.ts';

const MAIN = path.join(import.meta.dirname, '../../../testing/eventstoredb-double/main.ts');
/** Other systems have no other address without configuration. */
const onLinux = process.platform === 'linux' ? test : test.skip;
const OPTIONS = { credentials: { username: 'ignored', password: 'ignored' }, requiresLeader: true };

test('a dump has every event, and a log loaded from it is the same', async (t) => {
  const file = path.join(await temporaryFolder(t), 'dump.ndjson');
  await using double = await EventStoreDbDouble.start();
  const client = clientOf(t, double);
  const binary = binaryEvent({ type: 'Bytes', data: Buffer.from([0xff, 0x00, 0xfe]) });
  await client.appendToStream('notes', [...notes(3), binary], OPTIONS);
  await client.deleteStream('notes', OPTIONS);
  await client.appendToStream('notes', notes(2), OPTIONS);
  await writeDump(double.log, file);

  await using other = await EventStoreDbDouble.start({ load: file });
  t.deepEqual(other.log.all.map(plain), double.log.all.map(plain));
  t.deepEqual(
    other.log.stream('notes').map(({ revision }) => revision),
    [4, 5],
  );
});

onLinux(
  'nodes are named at the address that the client used, so that proxies there are not bypassed',
  async (t) => {
    await using double = await EventStoreDbDouble.start({ nodes: 3 });
    const host = '127.0.0.9'; // another address of this machine
    await using opened = new AsyncDisposableStack();
    for (const port of double.ports) opened.use(await TcpFaultProxy.to(port, { host, port }));
    const client = EventStoreDBClient.connectionString(double.connectionString.replaceAll('127.0.0.1', host));
    t.teardown(() => client.dispose());
    await client.appendToStream('notes', notes(1), OPTIONS);
    await double.clusterFaults.killLeader({ electionMs: 0, returnMs: 0 });
    await until(() => client.appendToStream('notes', notes(1), OPTIONS).then(Boolean, () => false));
    await opened.disposeAsync();
    await t.throwsAsync(client.appendToStream('notes', notes(1), { ...OPTIONS, deadline: 2000 }));
  },
);

test('a dump needs only streams, types and data', async (t) => {
  const file = path.join(await temporaryFolder(t), 'dump.ndjson');
  const lines = [1, 2].map((number) => JSON.stringify({ stream: 'notes', type: 'Noted', data: { number } }));
  await writeFile(file, `${lines.join('\n')}\n`);
  await using double = await EventStoreDbDouble.start({ load: file });
  const stored = double.log.stream('notes');
  t.deepEqual(
    stored.map(({ revision, type }) => [revision, type]),
    [
      [0, 'Noted'],
      [1, 'Noted'],
    ],
  );
  t.deepEqual(
    stored.map(({ data }) => Buffer.from(data).toString()),
    ['{"number":1}', '{"number":2}'],
  );
});

test('a log in a file continues after a restart, and so do its groups', async (t) => {
  const file = path.join(await temporaryFolder(t), 'log.sqlite');
  const first = await EventStoreDbDouble.start({ file });
  await clientOf(t, first).appendToStream('notes', notes(2), OPTIONS);
  first.groups.create('group', { ...SETTINGS });
  const before = first.log.all.map(plain);
  await first[Symbol.asyncDispose]();

  await using second = await EventStoreDbDouble.start({ file });
  t.deepEqual(second.log.all.map(plain), before);
  t.is(second.groups.get('group')?.settings.maxRetryCount, 7);
  const { nextExpectedRevision } = await clientOf(t, second).appendToStream('notes', notes(1), OPTIONS);
  t.is(nextExpectedRevision, 2n);
});

test('the double accepts commands in its own process and answers each', async (t) => {
  const dump = path.join(await temporaryFolder(t), 'dump.ndjson');
  const child = spawn(process.execPath, [MAIN, '--nodes', '3', '--election-ms', '50', '--stale-ms', '100'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<string> => (await lines.next()).value ?? '';
  const ports = (await answer()).split(' ');
  t.is(ports.length, 3);
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const client = EventStoreDBClient.connectionString(`esdb://${hosts}?tls=false`);
  t.teardown(() => client.dispose());
  const commands = [
    'gossip 3 off',
    'gossip 3 on',
    'kill-leader',
    'listen',
    'partition',
    'lose-quorum 50 keep',
    'pause 20',
    'restart',
    'restart-subsystem',
    'drop silent end',
    'scavenge',
    '{"call":"append","fault":{"kind":"delay","milliseconds":1}}',
    'clear',
  ];
  for (const command of commands) {
    child.stdin.write(`${command}\n`);
    t.is(await answer(), `done ${command}`);
    const events = notes(1);
    await untilAppended(() =>
      client.appendToStream(command, events, { ...OPTIONS, expectedRevision: 'no_stream' }),
    );
  }
  child.stdin.write('nonsense\n');
  t.regex(await answer(), /^failed nonsense: /);
  child.stdin.write(`dump ${dump}\n`);
  t.is(await answer(), `done dump ${dump}`);
  const dumped = (await readFile(dump, 'utf8')).trim().split('\n');
  t.deepEqual(new Set(dumped.map((line) => (JSON.parse(line) as StoredEvent).stream)), new Set(commands));
  child.stdin.end();
  t.deepEqual(await once(child, 'exit'), [0, null]);
});

const SETTINGS = {
  startFrom: 0n,
  messageTimeout: 30_000,
  maxRetryCount: 7,
  checkPointAfter: 2000,
  minCheckPointCount: 1,
  maxCheckPointCount: 1000,
  bufferSize: 500,
  liveBufferSize: 500,
  readBatchSize: 20,
  maxSubscriberCount: 0,
  strategy: 'RoundRobin',
  resolveLinkTos: false,
  extraStatistics: false,
} as const;

function clientOf(t: ExecutionContext, { connectionString }: EventStoreDbDouble): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(connectionString);
  t.teardown(() => client.dispose());
  return client;
}

function plain({ data, metadata, ...event }: StoredEvent) {
  return {
    ...event,
    data: Buffer.from(data).toString('hex'),
    metadata: Buffer.from(metadata).toString('hex'),
  };
}
