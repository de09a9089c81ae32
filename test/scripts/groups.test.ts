import { setTimeout } from 'node:timers/promises';
import { EventStoreDBClient, persistentSubscriptionToAllSettingsFromDefaults } from '@eventstore/db-client';
import test, { type ExecutionContext } from 'ava';
import { GROUP } from '../../src/event-log/eventstoredb/consumer-groups/group.ts';
import { RECEIVERS } from '../../src/reactors/reactor-names.ts';
import type { Logger } from '../../src/tools/logger.ts';
import { EventStoreDbDouble } from '../../testing/eventstoredb-double/eventstoredb-double.ts';
import { type Ran, runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { tlsFiles } from '../../testing/service/tls-files.ts';

const USERS = {
  admin: { password: 'changeit', groups: ['$admins'] },
  service: { password: 'changeit', groups: [] },
};

type Server = { readonly double: EventStoreDbDouble; readonly url: (user: string) => string };

async function serverWithUsers(t: ExecutionContext): Promise<Server> {
  const tls = await tlsFiles();
  const double = await EventStoreDbDouble.start({ tls, users: USERS, tickMs: 50 });
  t.teardown(() => double[Symbol.asyncDispose]());
  // No name of a host in a certificate is an IP address.
  const url = (user: string) =>
    `esdb://${user}:changeit@localhost:${double.port}?tls=true&tlsCAFile=${tls.cert}`;
  return { double, url };
}

async function groups(t: ExecutionContext, url: string, ...args: readonly string[]): Promise<Ran> {
  return runScript(await temporaryFolder(t), 'groups', args, { env: { DEPOSIT_EVENT_LOG: url } });
}

/** Makes the groups of an older release that begin after these positions. */
async function makeRetired(t: ExecutionContext, url: string, after: bigint): Promise<EventStoreDBClient> {
  const client = EventStoreDBClient.connectionString(url);
  t.teardown(() => client.dispose());
  for (const name of RECEIVERS) {
    const startFrom = { commit: after, prepare: after };
    await client.createPersistentSubscriptionToAll(
      name,
      persistentSubscriptionToAllSettingsFromDefaults({ startFrom }),
    );
  }
  return client;
}

const names = ({ double }: Server): string[] => double.groups.list().map(({ name }) => name);

test('an administrator creates the group for a service without permission, once', async (t) => {
  const server = await serverWithUsers(t);
  const refused = await groups(t, server.url('service'), 'create');
  t.is(refused.code, 1);
  t.regex(refused.err, /^This user cannot administer persistent subscriptions .* \$ops or \$admins\.$/m);
  t.deepEqual(names(server), []);
  const created = await groups(t, server.url('admin'), 'create', '--json');
  t.is(created.code, 0, created.err);
  t.deepEqual(JSON.parse(created.out), { created: true });
  t.deepEqual(names(server), [GROUP]);
  const again = await groups(t, server.url('admin'), 'create');
  t.is(again.code, 0);
  t.regex(again.out, /already exists/);
});

test('groups of an older release are deleted when they have no consumer', async (t) => {
  const server = await serverWithUsers(t);
  const client = await makeRetired(t, server.url('admin'), 0n);
  const consumer = client.subscribeToPersistentSubscriptionToAll('checker', {
    credentials: { username: 'admin', password: 'changeit' },
  });
  await new Promise((resolve) => consumer.once('confirmation', resolve));
  t.is((await groups(t, server.url('admin'), 'create')).code, 0);

  const denied = await groups(t, server.url('service'), 'delete-retired', '--unused-for', '0s');
  t.is(denied.code, 1);
  t.regex(denied.err, /cannot administer/);
  t.is(names(server).length, RECEIVERS.length + 1);

  const first = await groups(t, server.url('admin'), 'delete-retired', '--unused-for', '1s', '--json');
  t.is(first.code, 1, first.err);
  const others = RECEIVERS.filter((name) => name !== 'checker');
  t.deepEqual(JSON.parse(first.out), { deleted: others, in_use: ['checker'] });
  t.deepEqual(names(server).toSorted(), ['checker', GROUP]);

  await consumer.unsubscribe();
  const second = await groups(t, server.url('admin'), 'delete-retired', '--unused-for', '0s');
  t.is(second.code, 0, second.err);
  t.is(second.out, 'The group checker was deleted.\n');
  t.deepEqual(names(server), [GROUP]);
  t.regex(
    (await groups(t, server.url('admin'), 'delete-retired')).out,
    /^No consumer groups of an older release found/,
  );
});

test('a missing server and wrong usage are reported', async (t) => {
  const embedded = await runScript(await temporaryFolder(t), 'groups', ['create']);
  t.is(embedded.code, 1);
  t.regex(embedded.err, /^The event log is embedded, which has no groups/);
  for (const args of [
    ['make'],
    ['create', '--unused-for', '1s'],
    ['delete-retired', '--unused-for', 'soon'],
  ]) {
    const { code, err } = await runScript(await temporaryFolder(t), 'groups', args);
    t.is(code, 2, err);
  }
  t.is((await runScript(await temporaryFolder(t), 'groups', [])).code, 2);
  t.is((await runScript(await temporaryFolder(t), 'groups', ['--help'])).code, 0);
  const away = await groups(t, 'esdb://127.0.0.1:9?tls=false', 'create');
  t.is(away.code, 1);
  t.regex(away.err, /^Creating the group reactors failed: /);
});

test('a service starts although its user may not read metadata of streams, and warns', async (t) => {
  const { double, url } = await serverWithUsers(t);
  const admin = EventStoreDBClient.connectionString(url('admin'));
  t.teardown(() => admin.dispose());
  const readRoles = ['$admins', 'service'];
  await admin.setStreamMetadata('$all', { acl: { readRoles } });
  await admin.setStreamMetadata('copy-unfinished', { acl: { metaReadRoles: ['$admins'] } });
  t.is((await groups(t, url('admin'), 'create')).code, 0);
  const warnings: unknown[] = [];
  const logger = { ...noLogger, warn: (...line: readonly unknown[]) => warnings.push(line.at(-1)) };
  const eventLog = { kind: 'eventstoredb', connectionString: url('service') } as const;
  const folder = await temporaryFolder(t);
  await using _service = await RunningService.startIn(folder, { eventLog }, logger as unknown as Logger);
  t.deepEqual(warnings, ['whether a copy into the event log is unfinished cannot be read']);
  t.true(double.groups.list().length > 0);
});

test('a service whose user may not create the missing group says so once, until an operator creates it', async (t) => {
  const { url } = await serverWithUsers(t);
  const admin = EventStoreDBClient.connectionString(url('admin'));
  t.teardown(() => admin.dispose());
  await admin.setStreamMetadata('$all', { acl: { readRoles: ['$admins', 'service'] } });
  const warnings: unknown[] = [];
  const logger = { ...noLogger, warn: (...line: readonly unknown[]) => warnings.push(line) };
  const connectionString = url('service');
  const eventLog = { kind: 'eventstoredb', connectionString, longestPause: 50 } as const;
  const folder = await temporaryFolder(t);
  await using service = await RunningService.startIn(folder, { eventLog }, logger as unknown as Logger);
  const missing =
    'The subscription of the reactors failed: the group of the reactors does not exist: run "deposit-service groups create" as a user in $ops.';
  const readiness = async () => (await fetch(`${service.url}/health/ready`)).text();
  await until(async () => (await readiness()).includes('groups create'));
  await setTimeout(300);
  t.deepEqual(warnings, [[{ reason: missing }, 'no events reach the reactors']]);
  t.is((await groups(t, url('admin'), 'create')).code, 0);
  await until(async () => (await fetch(`${service.url}/health/ready`)).ok);
  t.is(warnings.length, 1);
});

const noLogger = Object.fromEntries(
  ['debug', 'info', 'error', 'fatal', 'trace'].map((level) => [level, () => undefined]),
);
