import type { ExecutionContext } from 'ava';
import { jsonLines } from '../../testing/processes/run-script.ts';
import { deposit } from '../../testing/service/notified-service.ts';
import type { Notified } from './expected.ts';
import { settled } from './settled.ts';
import type { Context, Test } from './upgrade-contract.ts';

/** Deposits about which an operator has to decide first. */
const LEFT = ['parked-notifier', 'given-up'];

/** Tests that notifications are delivered. A receiver may get one again, with the same id. */
export function testNotifications(test: Test): void {
  test.serial('every due or pending notification is delivered, in the order of its deposit', async (t) => {
    t.timeout(120_000);
    const { receivers, expected } = t.context.upgraded;
    const clients = new Set(
      expected.receivers.map(({ client }) => client).filter((name) => name !== 'frank'),
    );
    const theirs = expected.deposits.filter(
      ({ client, label }) => clients.has(client) && !LEFT.includes(label),
    );
    t.true(theirs.length > 9);
    for (const { client, depositId, label } of theirs) {
      const wanted = ascending(receivers.wantedOf(client, depositId));
      t.true(wanted.length > 0, label);
      const revisions = () => receivers.acceptedOf(client, depositId).map(({ revision }) => revision);
      await settled(() => wanted.every((revision) => revisions().includes(revision)));
      t.deepEqual(revisions(), wanted, label);
    }
  });

  test.serial('every notification has the id of its event and the signature of its client', async (t) => {
    const { upgraded } = t.context;
    const { receivers, expected } = upgraded;
    const received = expected.receivers.flatMap(({ client }) => receivers.receivedBy(client));
    t.true(received.length > 30);
    for (const { id, deposit: depositId, revision, isSigned } of received) {
      const events = await Array.fromAsync(upgraded.service.service.log.readStream(`deposit-${depositId}`));
      t.is(id, events[revision]?.id ?? 'the id of an event');
      t.true(isSigned);
    }
  });

  test.serial('a disabled client gets no notification', (t) => {
    t.deepEqual(t.context.upgraded.receivers.receivedBy('frank'), []);
  });

  test.serial('expired notifications are listed, and delivered when an operator retries them', async (t) => {
    const { upgraded } = t.context;
    const { client, depositId } = upgraded.deposit('given-up');
    const revisions = () => upgraded.receivers.acceptedOf(client, depositId).map(({ revision }) => revision);
    t.deepEqual(revisions(), []);
    const wanted = givenUp(t, depositId);
    const listed = await upgraded.run('client', 'webhook', client, '--failures', '--json');
    const found = jsonLines<Listed>(listed.out).find((one) => one.deposit_id === depositId);
    t.deepEqual(
      found?.given_up.map(({ revision }) => revision),
      wanted,
    );
    const retried = await upgraded.run('client', 'webhook', client, '--retry', String(depositId));
    t.is(retried.code, 0, retried.err);
    await settled(() => revisions().length === wanted.length);
    t.deepEqual(revisions(), wanted);
  });

  test.serial('a deposit created after the upgrade is notified, too', async (t) => {
    const { upgraded } = t.context;
    const id = await deposit(upgraded.client('bob'), 'software');
    t.true(id > upgraded.expected.deposits.length);
    const statuses = () => upgraded.receivers.acceptedOf('bob', id).map(({ status }) => status);
    await settled(() => statuses().length === 5);
    t.deepEqual(statuses(), ['partial', 'deposited', 'verified', 'loading', 'done']);
  });
}

function ascending(notified: readonly Notified[]): readonly number[] {
  return notified.map(({ revision }) => revision).toSorted((a, b) => a - b);
}

type Listed = { readonly deposit_id: number; readonly given_up: readonly { readonly revision: number }[] };

function givenUp(t: ExecutionContext<Context>, depositId: number): number[] {
  const found = t.context.upgraded.expected.undelivered.find((one) => one.depositId === depositId);
  return [...(found?.givenUp ?? [])];
}
