import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { UsersClient } from '@eventstore/db-client/generated/users_grpc_pb.js';
import usersMessages from '@eventstore/db-client/generated/users_pb.js';
import type { ExecutionContext } from 'ava';
import { tlsFiles } from '../../../testing/service/tls-files.ts';
import { createGroup, RulesConsumer } from './consumer.ts';
import { grpcClient, notes, type RulesServer, readAll, rule, rulesServer } from './server.ts';

const ADMIN = { password: 'changeit', groups: ['$admins'] };

/** Rules about users, which a server knows only with TLS. */
export function userRules(): void {
  rule('users', 'only a user in $ops creates groups; others use existing ones', async (t) => {
    const server = await serverWithUsers(t);
    const [operator, user] = [await addUser(server, ['$ops']), await addUser(server, [])];
    await allowReadingAll(server, user, operator);
    const denied = { message: /PERMISSION_DENIED/ };
    const group = server.own('group');
    await t.throwsAsync(createGroup(as(server, user), group), denied);
    await createGroup(as(server, operator), group);
    await server.append(server.own('stream'), 3);
    const consumer = await RulesConsumer.connect(t, as(server, user), group);
    await consumer.has(3);
    t.is(
      (await as(server, user).client.getPersistentSubscriptionToAllInfo(group, as(server, user).options))
        .groupName,
      group,
    );
    await t.throwsAsync(as(server, user).restartGroups(), denied);
    await t.throwsAsync(
      server.client.deletePersistentSubscriptionToAll(group, as(server, user).options),
      denied,
    );
    await server.client.deletePersistentSubscriptionToAll(group, as(server, operator).options);
  });

  rule('users', 'a user named in the $acl of $all reads it, and may append', async (t) => {
    const server = await serverWithUsers(t);
    const user = await addUser(server, []);
    const denied = { message: /PERMISSION_DENIED/ };
    await server.append(server.own('stream'));
    await t.throwsAsync(readAll(as(server, user)), denied);
    await allowReadingAll(server, user);
    t.true((await readAll(as(server, user))).some(({ streamId }) => streamId === server.own('stream')));
    const options = { ...as(server, user).options, expectedRevision: 0n };
    t.true((await server.client.appendToStream(server.own('stream'), notes(1), options)).success);
    await t.throwsAsync(readAll(as(server, user), '$persistentSubscriptionConfig'), denied);
  });

  rule('users', 'a password that is wrong is refused', async (t) => {
    const server = await serverWithUsers(t);
    const stranger = as(server, { username: 'admin', password: randomUUID() });
    await t.throwsAsync(readAll(stranger, server.own('stream')), { message: /UNAUTHENTICATED/ });
  });
}

type Credentials = RulesServer['options']['credentials'];

async function serverWithUsers(t: ExecutionContext): Promise<RulesServer> {
  const tls = await tlsFiles();
  t.teardown(() => rm(tls.folder, { recursive: true, force: true }));
  return rulesServer(t, { tls, users: { admin: ADMIN } });
}

function as(server: RulesServer, credentials: Credentials): RulesServer {
  const options = { ...server.options, credentials };
  const restartGroups = () => server.client.restartPersistentSubscriptionSubsystem(options);
  return { ...server, options, restartGroups };
}

async function addUser(server: RulesServer, groups: readonly string[]): Promise<Credentials> {
  const credentials = { username: `u${randomUUID().slice(0, 8)}`, password: randomUUID() };
  const options = new usersMessages.CreateReq.Options()
    .setLoginName(credentials.username)
    .setFullName('A user of the tests')
    .setPassword(credentials.password)
    .setGroupsList([...groups]);
  const users = await grpcClient(server, UsersClient);
  await new Promise<void>((resolve, reject) =>
    users.client.create(new usersMessages.CreateReq().setOptions(options), ...users.call, (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  return credentials;
}

async function allowReadingAll(
  { client, options }: RulesServer,
  ...users: readonly Credentials[]
): Promise<void> {
  const readRoles = ['$admins', ...users.map(({ username }) => username)];
  await client.setStreamMetadata('$all', { acl: { readRoles } }, options);
}
