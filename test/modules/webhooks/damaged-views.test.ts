import { rm } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { parkedEvents } from '../../../src/reactors/parking.ts';
import { until } from '../../../testing/processes/until.ts';
import { deposit, notifiedService, notify, WAY } from '../../../testing/service/notified-service.ts';
import { WebhookReceiver } from '../../../testing/service/webhook-receiver.ts';
import { damageRootOf } from '../../../testing/views/damaged-view.ts';

test('while the view of webhooks is damaged, clients are notified all the same, and the service is not ready', async (t) => {
  await using receiver = await WebhookReceiver.start();
  const { service, keyFile } = await notifiedService();
  t.teardown(() => service[Symbol.asyncDispose]());
  const alice = await service.register('alice', { collections: ['software'] });
  const bob = await service.register('bob', { collections: ['software'] });
  await notify(service, 'alice', receiver, keyFile);
  await service.stop();
  damageRootOf(path.join(service.folder, 'views', 'views.1.sqlite'), 'client-webhooks');
  // As after a restore: the notifier looks in the view for the position to begin at.
  await rm(path.join(service.folder, 'checkpoints', 'notifier.json'));

  await service.startAgain();
  let failure: unknown;
  service.service.failed.catch((error: unknown) => (failure = error));
  const { log } = service.service;
  const other = await deposit(bob.at(service.url), 'software'); // of a client without a webhook
  const id = await deposit(alice.at(service.url), 'software');
  const parked = () => parkedEvents(log, 'notifier');
  const ended = async () => failure !== undefined || (await parked()).length > 0;
  await until(async () => receiver.taken.length === WAY.length || (await ended()));

  t.deepEqual([failure, await parked()], [undefined, []]);
  t.deepEqual(receiver.statusesOf(id), WAY);
  await bob.at(service.url).waitFor(`/1/software/${other}/status/`, 'done');
  t.is(receiver.received.length, WAY.length);
  const readiness = await fetch(`${service.url}/health/ready`);
  t.is(readiness.status, 503);
  t.regex(await readiness.text(), /the view client-webhooks in \S+ is corrupt/);
});
