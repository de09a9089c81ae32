import path from 'node:path';
import test from 'ava';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { until } from '../../../testing/processes/until.ts';
import { DistributedNodes } from '../../../testing/service/distributed-nodes.ts';
import { notify } from '../../../testing/service/notified-service.ts';
import { WebhookReceiver } from '../../../testing/service/webhook-receiver.ts';

test('several nodes share the notifications, also when one stops while the receiver is down', async (t) => {
  const folder = await temporaryFolder(t);
  const keyFile = path.join(folder, 'webhook.key');
  const pauses = { firstPause: 20, longestPause: 200, giveUpAfter: 3_600_000 };
  const webhooks = { keyFile, allowPrivate: true, ...pauses };
  await using nodes = await DistributedNodes.start();
  await using receiver = await WebhookReceiver.start();
  const http = await nodes.add(['http'], { webhooks });
  const leaving = await nodes.add(['reactors'], { webhooks });
  await nodes.add(['reactors'], { webhooks });
  const alice = await nodes.register(http);
  await notify(http, 'alice', receiver, keyFile);
  await until(async () => nodes.double.groups.get('reactors')?.consumers === 2);

  const depositor = nodes.depositorOver(alice, http);
  const deposit = (turns: readonly number[]) => Promise.all(turns.map((turn) => depositor.deposit(turn)));
  const done = async () => {
    for (const id of depositor.acknowledged.keys()) await depositor.finalStatus(http.url, id, Infinity);
  };
  await deposit([0, 1, 2, 3, 4, 5]);
  await done();
  await until(async () => receiver.taken.length >= 30);
  t.is(receiver.received.length, 30, 'each is sent by one node');
  await receiver.down();
  await deposit([6, 7, 8, 9, 10, 11]);
  await leaving.stop();
  await deposit([12, 13]);
  await receiver.up();
  await done();
  const ids = [...depositor.acknowledged.keys()].map(Number);
  const way = ['partial', 'deposited', 'verified', 'loading', 'done'];
  await until(async () => ids.every((id) => receiver.statusesOf(id).length === 5));
  for (const id of ids) t.deepEqual(receiver.statusesOf(id), way, `deposit ${id}`);
  t.true(receiver.received.every(({ isSigned }) => isSigned));
});
