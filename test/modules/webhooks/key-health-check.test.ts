import { readFile, rename, writeFile } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { readConfig } from '../../../src/config/read-config.ts';
import { ControlClient } from '../../../src/service/operator-port/control-client.ts';
import { runScript } from '../../../testing/processes/run-script.ts';
import { until } from '../../../testing/processes/until.ts';
import { keptLines } from '../../../testing/service/kept-lines.ts';
import { deposit, notify, temporaryKey, WAY } from '../../../testing/service/notified-service.ts';
import { RunningService } from '../../../testing/service/running-service.ts';
import { WebhookReceiver } from '../../../testing/service/webhook-receiver.ts';

/** Starts a service that notifies alice at once, and whose log lines are recorded. */
async function notifying(t: ExecutionContext, receiver: WebhookReceiver) {
  const keyFile = await temporaryKey(t);
  const webhooks = {
    ...readConfig({}).webhooks,
    keyFile,
    allowPrivate: true,
    firstPause: 20,
    longestPause: 100,
  };
  const { logger, lines } = keptLines();
  const service = await RunningService.start({ webhooks }, logger);
  t.teardown(() => service[Symbol.asyncDispose]());
  const alice = await service.register('alice', { collections: ['software'] });
  await notify(service, 'alice', receiver, keyFile);
  const ready = async () => {
    const answer = await fetch(`${service.url}/health/ready`, { headers: { Accept: 'application/json' } });
    return { status: answer.status, says: await answer.text() };
  };
  const linesOf = (message: string) => lines.filter(({ msg }) => msg === message);
  return { service, keyFile, alice, ready, linesOf };
}

/** Resolves to the output of `status` while the service runs. */
async function shown({ folder }: RunningService) {
  const { out } = await runScript(folder, 'status', []);
  const facts = JSON.parse((await runScript(folder, 'status', ['--json'])).out) as {
    notifications: { waiting: number; taken: number; key_problem: string | null };
    reactors: { name: string }[];
  };
  return { screen: out, ...facts };
}

test('a missing webhook key is reported once as an error, and by status until it is back; clients are served', async (t) => {
  await using receiver = await WebhookReceiver.start();
  const { service, keyFile, alice, ready, linesOf } = await notifying(t, receiver);
  await deposit(alice, 'software');
  await until(async () => receiver.taken.length === WAY.length);
  t.is((await ready()).status, 200);
  t.regex(
    (await shown(service)).screen,
    /^Notifications: 5 delivered, 0 failed attempts, 0 expired; 0 deposits waiting$/m,
  );

  await rename(keyFile, `${keyFile}.away`);
  await service.stop();
  await service.startAgain();
  const error = 'webhook secrets cannot be decrypted';
  await until(async () => linesOf(error).length === 1);
  t.is((await shown(service)).notifications.key_problem, `The key of webhooks, ${keyFile}, is missing.`);
  t.is((await ready()).status, 200);
  t.deepEqual(
    linesOf(error).map(({ level }) => level),
    ['error'],
    'before any client had a webhook',
  );
  await rename(`${keyFile}.away`, keyFile);
  await until(async () => linesOf('webhook secrets can be decrypted again').length === 1);
  t.is(linesOf(error).length, 1);
});

test('a changed webhook key is reported once, whatever the number of failed notifications', async (t) => {
  await using receiver = await WebhookReceiver.start();
  const { service, keyFile, alice, ready, linesOf } = await notifying(t, receiver);
  const key = await readFile(keyFile);
  await writeFile(keyFile, `${Buffer.alloc(32, 7).toString('base64')}\n`);
  await Promise.all([1, 2, 3].map(() => deposit(alice, 'software')));
  const control = await ControlClient.find(service.folder);
  const tries = async () => (await control?.state())?.notifications;
  await until(async () => (await tries())?.waiting === 3 && (await tries())?.keyProblem !== null);
  t.regex(
    (await tries())?.keyProblem ?? '',
    /^The webhook secret of alice was sealed with the key \w+, not with /,
  );
  const { status, says } = await ready();
  t.is(status, 200);
  t.notRegex(says, /alice/, 'the event has no credentials');
  const { screen, notifications, reactors } = await shown(service);
  t.regex(screen, /^ {2}some cannot be sent: The webhook secret of alice/m);
  t.regex(notifications.key_problem ?? '', /Restore that key or set the webhook again\.$/);
  t.true(reactors.some(({ name }) => name === 'notifier'));
  t.is(linesOf('webhook secrets cannot be decrypted').length, 1);
  t.is(linesOf('webhook secrets cannot be decrypted')[0]?.level, 'error');

  await writeFile(keyFile, key);
  await until(async () => linesOf('webhook secrets can be decrypted again').length === 1);
  await until(async () => receiver.taken.length === 3 * WAY.length);
  t.is((await tries())?.keyProblem, null);
});
