import test from 'ava';
import { EventStoreDbDouble } from '../../testing/eventstoredb-double/eventstoredb-double.ts';
import { mustPass } from '../../testing/processes/run-script.ts';
import { until } from '../../testing/processes/until.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';
import { deposit, notify, temporaryKey, WAY } from '../../testing/service/notified-service.ts';
import { WebhookReceiver } from '../../testing/service/webhook-receiver.ts';

const DEPOSITS = 5;

test('a log that was moved to EventStoreDB gets no events about finished work', async (t) => {
  await using receiver = await WebhookReceiver.start();
  const keyFile = await temporaryKey(t);
  const webhooks = {
    keyFile,
    allowPrivate: true,
    giveUpAfter: 72 * 3_600_000,
    firstPause: 20,
    longestPause: 200,
  };
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http', 'reactors'], { webhooks });
  const alice = await nodes.register(node);
  await notify(node, 'alice', receiver, keyFile);
  for (let number = 0; number < DEPOSITS; number += 1) await deposit(alice, 'software');
  const isNotified = async () => receiver.taken.length === DEPOSITS * WAY.length;
  await until(isNotified);
  await node.stop();

  await using moved = await EventStoreDbDouble.start({ compresses: false });
  const places = ['--from', nodes.double.connectionString, '--to', moved.connectionString];
  await mustPass(node.folder, 'migrate', places);
  const eventLog = { kind: 'eventstoredb', connectionString: moved.connectionString } as const;
  const next = await nodes.add(['http', 'reactors'], { eventLog, webhooks });
  await until(async () => {
    const group = moved.groups.get('reactors');
    return group !== undefined && group.status === 'Live' && group.unacknowledged === 0;
  });
  const added = await Array.fromAsync(
    next.service.log.readAll({ streamPrefixes: ['attempts-'] }),
    ({ stream }) => stream,
  );
  t.deepEqual(added, []);
  t.true(await isNotified(), 'no notification is sent again');
});
