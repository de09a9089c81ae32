import { rm } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { clientWebhooks } from '../../../projections/client-webhooks.ts';
import { AdminCommands } from '../../../src/deposits/admin-commands.ts';
import type { Position } from '../../../src/event-log/event-log.ts';
import { WebhookKey } from '../../../src/modules/webhooks/webhook-key.ts';
import { Webhooks } from '../../../src/modules/webhooks/webhooks.ts';
import { parkedEvents } from '../../../src/reactors/parking.ts';
import { Projector } from '../../../src/views/projector.ts';
import { SqliteViewStore } from '../../../src/views/store/sqlite-view-store.ts';
import { MemoryEventLog } from '../../../testing/event-log/memory-event-log.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { until } from '../../../testing/processes/until.ts';
import { fullViews } from '../../../testing/service/full-views.ts';
import { deposit, notifiedService, notify, WAY } from '../../../testing/service/notified-service.ts';
import { secretCredential } from '../../../testing/service/secret-password.ts';
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

test('a webhook that was set while the disk of the views was full is known once the disk has space', async (t) => {
  const folder = await temporaryFolder(t);
  await using log = new MemoryEventLog();
  using store = new SqliteViewStore(folder, 'memory');
  const projector = new Projector(log, store);
  const webhooks = new Webhooks(log, projector, projector.add(clientWebhooks));
  await projector.start((error) => t.fail(String(error)));
  const operator = new AdminCommands(log, { kind: 'operator', name: 'test' });
  const seen = async () => {
    const head = (await log.head()) as Position;
    await projector.passed(head, 5000);
    return head;
  };
  await operator.client({ type: 'RegisterClient', client: 'alice', credential: secretCredential });
  const earlier = await seen();
  t.false(webhooks.mayBeAnyAt(earlier));
  store.file.save(); // as happens within a second
  {
    using _full = fullViews(store.file.path);
    const secret = (await WebhookKey.make(path.join(folder, 'key'))).seal('s'.repeat(32), 'alice');
    await operator.client({ type: 'SetWebhook', client: 'alice', url: 'https://alice.example/', secret });
    await seen();
    webhooks.mayBeAnyAt(earlier); // of an event that is delivered late
  }
  const { name } = clientWebhooks;
  await until(async () => projector.queriesOf({ name }).isCurrent());
  t.true(webhooks.mayBeAnyAt(await seen()));
  await projector.stop();
});
