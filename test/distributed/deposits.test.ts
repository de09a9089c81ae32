import test from 'ava';
import {
  archivePart,
  entryPart,
  final,
  formOf,
  formType,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { ALL_HELD, DistributedNodes } from '../../testing/service/distributed-nodes.ts';

test('two HTTP nodes and two worker nodes share the work: each deposit is loaded once and visible on both', async (t) => {
  await using nodes = await DistributedNodes.start();
  const one = await nodes.add(['http']);
  const other = await nodes.add(['http']);
  await nodes.add(['reactors']);
  await nodes.add(['reactors']);
  const alice = await nodes.register(one, other);
  const depositor = nodes.depositorOver(alice, one, other);
  const turns = Array.from({ length: 40 }, (_, turn) => turn).values();
  const write = async (): Promise<void> => {
    for (const turn of turns) await depositor.deposit(turn);
  };
  await Promise.all([write(), write(), write(), write(), write(), write()]);
  t.is(depositor.acknowledged.size, 40);
  t.deepEqual(await nodes.outcome(depositor, one, other), ALL_HELD);
  t.is(depositor.unavailable, 0);
  t.is(nodes.double.groups.get('reactors')?.consumers, 2);
});

test('a node whose views are behind answers every deposit with its current state', async (t) => {
  await using nodes = await DistributedNodes.start();
  const [one, other] = [await nodes.add(['http']), await nodes.add(['http'])];
  const alice = await nodes.register(one, other);
  const depositor = nodes.depositorOver(alice, one, other);
  const form = new Uint8Array(formOf([archivePart(), entryPart()]));
  const old = await alice.post('/1/software/', form, { ...formType, ...partial });
  await depositor.deposit(1); // through the other, whose views then have the old one, too
  nodes.double.dropSubscriptions('silence');

  const depositing = Promise.all([2, 3, 4, 5].map((turn) => depositor.deposit(turn)));
  const completed = await alice.post(`${other.url}/1/software/1/metadata/`, null, final);
  t.deepEqual([old.status, completed.status], [201, 200]);
  t.regex(await completed.text(), /<deposit_status>deposited</);
  t.is(await depositor.status(one.url, '1'), 'deposited');
  await depositing;
  t.deepEqual([depositor.falseMissing, depositor.unavailable, depositor.faults], [0, 0, []]);
});
