import { readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { notifications } from '../../../src/domain/aggregates.ts';
import { final, partial } from '../../../testing/http/deposit-bodies.ts';
import type { TestClient } from '../../../testing/http/test-client.ts';
import { runScript } from '../../../testing/processes/run-script.ts';
import { until } from '../../../testing/processes/until.ts';
import { Exposition } from '../../../testing/service/exposition.ts';
import { fullViews } from '../../../testing/service/full-views.ts';
import { deposit, notifiedService, notify, WAY } from '../../../testing/service/notified-service.ts';
import type { RunningService } from '../../../testing/service/running-service.ts';
import { WebhookReceiver } from '../../../testing/service/webhook-receiver.ts';

type Context = { service: RunningService; keyFile: string; alice: TestClient; bob: TestClient };
const test = anyTest as TestFn<Context>;

test.before(async (t) => {
  const { service, keyFile } = await notifiedService();
  const alice = await service.register('alice', { collections: ['software'] });
  const bob = await service.register('bob', { collections: ['software'] });
  t.context = { service, keyFile, alice, bob };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

/** Starts a new receiver for a client that runs during the test. */
async function receiverOf(t: ExecutionContext<Context>, { name }: TestClient): Promise<WebhookReceiver> {
  const { service, keyFile } = t.context;
  const receiver = await WebhookReceiver.start();
  await notify(service, name, receiver, keyFile);
  t.teardown(async () => {
    await service.administration.client({ type: 'RemoveWebhook', client: name });
    await receiver.down();
  });
  return receiver;
}

/** Creates a collection that no other test deposits in. */
async function collectionFor({ service, alice }: Context, collection: string): Promise<string> {
  await service.administration.grant('alice', collection);
  await until(async () => (await alice.get(`/1/${collection}/notifications/`)).ok);
  return collection;
}

/** Resolves to the client's list of notifications that were not delivered. */
async function undelivered(client: TestClient, collection: string) {
  const answer = await client.get(`/1/${collection}/notifications/`);
  return (await answer.json()) as {
    webhook: { url: string } | null;
    deposits: Undelivered[];
  };
}

type Undelivered = {
  deposit_id: number;
  reason: string;
  next_try: string | null;
  waiting: unknown[];
  given_up: unknown[];
};

function isOf(id: number): (found: Undelivered) => boolean {
  return ({ deposit_id }) => deposit_id === id;
}

test.serial(
  'a client is notified of every status change of its deposits, signed, in order, once',
  async (t) => {
    const { alice } = t.context;
    const receiver = await receiverOf(t, alice);
    const ids = await Promise.all([1, 2, 3].map(() => deposit(alice, 'software')));
    await until(async () => receiver.taken.length >= 15);
    for (const id of ids) t.deepEqual(receiver.statusesOf(id), WAY);
    t.is(receiver.received.length, 15);
    t.true(receiver.received.every(({ isSigned }) => isSigned));
    t.is(new Set(receiver.received.map(({ id }) => id)).size, 15);
    t.regex(receiver.received[0]?.headers['user-agent'] ?? '', /^source-deposit-service\//);

    const [id] = ids;
    const last = receiver.taken.findLast((one) => one.deposit === id);
    const status = await alice.get(`/1/software/${id}/status/`, { Accept: 'application/json' });
    const facts = (await status.json()) as Record<string, unknown>;
    t.is(last?.body.type, 'deposit.status');
    for (const name of ['deposit_ref_id', 'deposit_ref_id_context', 'deposit_status_detail']) {
      t.truthy(facts[name]);
      t.is(last?.body.data[name], facts[name]);
    }
  },
);

test.serial('the deletion of a deposit is notified', async (t) => {
  const { alice } = t.context;
  const receiver = await receiverOf(t, alice);
  const id = await deposit(alice, 'software', partial);
  await alice.delete(`/1/software/${id}/metadata/`);
  await until(async () => receiver.statusesOf(id).length === 2);
  t.deepEqual(receiver.statusesOf(id), ['partial', 'gone']);
  t.is(receiver.taken.at(-1)?.body.type, 'deposit.deleted');
});

test.serial('notifications for a receiver that is down are sent when it is back, in order', async (t) => {
  const { alice } = t.context;
  const receiver = await receiverOf(t, alice);
  const collection = await collectionFor(t.context, 'down');
  const before = await deposit(alice, collection);
  await until(async () => receiver.statusesOf(before).length === 5);
  await receiver.down();
  const during = await Promise.all([deposit(alice, collection), deposit(alice, collection)]);
  for (const id of during) await alice.waitFor(`/1/${collection}/${id}/status/`, 'done');
  await until(async () => (await undelivered(alice, collection)).deposits.length === 2);
  const { webhook, deposits } = await undelivered(alice, collection);
  t.is(webhook?.url, receiver.url);
  t.true(deposits.every(({ reason }) => /ECONNREFUSED|Earlier notifications/.test(reason)));
  await receiver.up();
  await until(async () => during.every((id) => receiver.statusesOf(id).length === 5));
  for (const id of [before, ...during]) t.deepEqual(receiver.statusesOf(id), WAY);
  t.true(receiver.taken.every(({ isSigned }) => isSigned));
  await until(async () => (await undelivered(alice, collection)).deposits.length === 0);
});

test.serial('a receiver that never answers delays no other', async (t) => {
  const { alice, bob } = t.context;
  const [receiver, silent] = [await receiverOf(t, alice), await receiverOf(t, bob)];
  silent.manners = () => 'silent';
  for (let count = 0; count < 10; count += 1) await deposit(bob, 'software', partial);
  await until(async () => silent.received.length >= 8);
  const id = await deposit(alice, 'software');
  await until(async () => receiver.statusesOf(id).length === 5);
  t.deepEqual(receiver.statusesOf(id), WAY);
  t.is(silent.received.length, 8, 'and no more are sent there concurrently');
});

test.serial(
  'pending notifications wait while the disk is full for their view, and continue when space is free',
  async (t) => {
    const { alice, service } = t.context;
    const receiver = await receiverOf(t, alice);
    const collection = await collectionFor(t.context, 'full');
    receiver.manners = () => 500;
    const id = await deposit(alice, collection, partial);
    await until(async () => (await undelivered(alice, collection)).deposits.length === 1);
    {
      using _full = fullViews(path.join(service.folder, 'views', 'views.1.sqlite'));
      const before = receiver.received.length;
      await setTimeout(3000);
      t.true(receiver.received.length - before <= 2, 'those that were due when the disk was full');
      receiver.manners = () => 204;
      await setTimeout(1000);
      t.deepEqual(receiver.statusesOf(id), []);
    }
    await until(async () => receiver.statusesOf(id).length === 1);
  },
);

test.serial('a deposit whose notifications are refused delays no other one of its client', async (t) => {
  const { alice } = t.context;
  const receiver = await receiverOf(t, alice);
  const collection = await collectionFor(t.context, 'refused');
  const refused = await deposit(alice, collection, partial);
  await until(async () => receiver.statusesOf(refused).length === 1);
  let isMended = false;
  receiver.manners = ({ deposit: id }) => (id === refused && !isMended ? 500 : 204);
  await alice.post(`/1/${collection}/${refused}/metadata/`, null, final);
  const other = await deposit(alice, collection);
  await until(async () => receiver.statusesOf(other).length === 5);
  t.deepEqual(receiver.statusesOf(other), WAY);
  await until(async () => (await undelivered(alice, collection)).deposits[0]?.waiting.length === 4);
  const [found] = (await undelivered(alice, collection)).deposits;
  t.like(found, { deposit_id: refused, given_up: [] });
  t.regex(found?.reason ?? '', /answered 500/, 'which the later ones wait for, too');
  isMended = true;
  await until(async () => receiver.statusesOf(refused).length === 5);
  t.deepEqual(receiver.statusesOf(refused), WAY);
});

test.serial(
  'a receiver with Retry-After is not contacted for that time, from its first refusal on',
  async (t) => {
    const { alice } = t.context;
    const receiver = await receiverOf(t, alice);
    const collection = await collectionFor(t.context, 'later');
    receiver.manners = () => 503;
    const begun = Date.now();
    const minutes: Readonly<Record<string, number>> = {
      '1800': 30,
      '1000000': 60,
      [new Date(begun + 1_800_000).toUTCString()]: 30,
    };
    for (const [retryAfter, expected] of Object.entries(minutes)) {
      receiver.retryAfter = retryAfter;
      const id = await deposit(alice, collection, partial);
      await until(async () => (await undelivered(alice, collection)).deposits.some(isOf(id)));
      const nextTry = (await undelivered(alice, collection)).deposits.find(isOf(id))?.next_try ?? '';
      t.true(Date.parse(nextTry) >= begun + expected * 60_000 - 1000, `${retryAfter}: ${nextTry}`);
      t.true(Date.parse(nextTry) <= Date.now() + expected * 60_000, `${retryAfter}: ${nextTry}`);
      t.is(receiver.received.filter((one) => one.deposit === id).length, 1);
    }
  },
);

test.serial(
  'a client is not notified of what it may not read: disabled, or of a revoked collection',
  async (t) => {
    const { service } = t.context;
    const carol = await service.register('carol', { collections: ['software', 'revoked'] });
    const receiver = await receiverOf(t, carol);
    const notified = await deposit(carol, 'software', partial);
    const [ofDisabled, held] = [
      await deposit(carol, 'software', partial),
      await deposit(carol, 'software', partial),
    ];
    const ofRevoked = await deposit(carol, 'revoked', partial);
    await until(async () => receiver.taken.length === 4);
    const remove = (depositId: number) =>
      service.administration.deposit(depositId, { type: 'DeleteDeposit', depositId, reason: 'Test.' });
    const isDone = async () => {
      const standing = await Exposition.of(service.folder);
      return standing.value('deposit_reactor_lag_events', { reactor: 'notifier' }) === 0;
    };
    await service.administration.client({ type: 'RevokeCollection', client: 'carol', collection: 'revoked' });
    await remove(ofRevoked);
    await receiver.down();
    await remove(held);
    const left = async () => Array.fromAsync(service.service.log.readStream(`notifications-${held}`));
    await until(async () => (await left()).length > 0);
    await service.administration.client({ type: 'DisableClient', client: 'carol' });
    await remove(ofDisabled);
    await receiver.up();
    await until(async () => (await left()).at(-1)?.type === 'NotificationsGivenUp');
    t.is((await left()).at(-1)?.data['reason'], 'The client is disabled.');
    await until(isDone);
    await service.administration.client({ type: 'EnableClient', client: 'carol' });
    await remove(notified);
    await until(async () => receiver.statusesOf(notified).length === 2);
    for (const id of [ofRevoked, ofDisabled, held]) {
      t.deepEqual(receiver.statusesOf(id, receiver.received), ['partial']);
    }
  },
);

test.serial('a notification scheduled far ahead by a fast clock is sent now', async (t) => {
  const { alice, service } = t.context;
  const id = await deposit(alice, 'software', partial); // before the webhook was set, so this event is not notified
  const receiver = await receiverOf(t, alice);
  const [created] = await Array.fromAsync(service.service.log.readStream(`deposit-${id}`));
  const nextYear = new Date(Date.now() + 365 * 86_400_000).toISOString();
  await service.administration.notifications({
    type: 'HoldNotification',
    depositId: id,
    client: 'alice',
    collection: 'software',
    eventId: created?.id ?? '',
    revision: 0,
    reason: 'Nobody answers.',
    heldAt: nextYear,
    nextTryAt: nextYear,
  });
  await until(async () => receiver.taken.length === 1);
  t.deepEqual(receiver.statusesOf(id), ['partial']);
});

test.serial('redirects are not followed', async (t) => {
  const { alice } = t.context;
  const receiver = await receiverOf(t, alice);
  const collection = await collectionFor(t.context, 'elsewhere');
  receiver.manners = () => 302;
  await deposit(alice, collection, partial);
  await until(async () => (await undelivered(alice, collection)).deposits.length === 1);
  const [found] = (await undelivered(alice, collection)).deposits;
  t.regex(found?.reason ?? '', /redirect 302: set the webhook to its target/);
});

test.serial("a client is notified of events from its webhook's setting until its removal", async (t) => {
  const { alice, service } = t.context;
  const collection = await collectionFor(t.context, 'sometimes');
  const before = await deposit(alice, collection, partial);
  const receiver = await receiverOf(t, alice);
  await alice.post(`/1/${collection}/${before}/metadata/`, null, final);
  await until(async () => receiver.statusesOf(before).length === 4);
  t.deepEqual(receiver.statusesOf(before), WAY.slice(1));
  await receiver.down();
  const held = await deposit(alice, collection, partial);
  await until(async () => (await undelivered(alice, collection)).deposits.length === 1);
  await service.administration.client({ type: 'RemoveWebhook', client: 'alice' });
  await until(async () => (await undelivered(alice, collection)).deposits[0]?.given_up.length === 1);
  t.like(await undelivered(alice, collection), {
    webhook: null,
    deposits: [{ deposit_id: held, reason: 'The client no longer has a webhook.', waiting: [] }],
  });
  await receiver.up();
  const after = await deposit(alice, collection);
  await alice.waitFor(`/1/${collection}/${after}/status/`, 'done');
  t.deepEqual(receiver.statusesOf(after), []);
  t.deepEqual(receiver.statusesOf(held), []);
});

test.serial(
  'the secret is stored only encrypted, and without its key nothing is sent until the key is back',
  async (t) => {
    const { service, keyFile } = t.context;
    let alice = t.context.alice.at(service.url);
    const receiver = await receiverOf(t, alice);
    const events = JSON.stringify(await Array.fromAsync(service.service.log.readAll()));
    t.true(events.includes('WebhookSet'));
    const bytes = Buffer.from(receiver.secret.slice('whsec_'.length), 'base64');
    for (const clear of [receiver.secret, receiver.secret.slice(6), bytes.toString(), bytes.toString('hex')])
      t.false(events.includes(clear));
    t.regex(await readFile(keyFile, 'utf8'), /^[A-Za-z0-9+/]{43}=\n$/);

    await service.stop();
    await rename(keyFile, `${keyFile}.away`);
    await service.startAgain();
    alice = alice.at(service.url);
    const collection = await collectionFor({ ...t.context, alice }, 'keyless');
    const id = await deposit(alice, collection, partial);
    await until(async () => (await undelivered(alice, collection)).deposits.length === 1);
    const [found] = (await undelivered(alice, collection)).deposits;
    t.regex(found?.reason ?? '', /^The key of webhooks, .*webhook\.key, is missing\.$/);
    await rename(`${keyFile}.away`, keyFile);
    await until(async () => receiver.statusesOf(id).length === 1);
    t.true(receiver.taken.every(({ isSigned }) => isSigned));
  },
);

test.serial(
  'notifications survive a restart: pending and recent ones are sent by the next service',
  async (t) => {
    const { service } = t.context;
    let alice = t.context.alice.at(service.url);
    const receiver = await receiverOf(t, alice);
    const first = await deposit(alice, 'software');
    await until(async () => receiver.statusesOf(first).length === 5);
    await receiver.down();
    const second = await deposit(alice, 'software');
    await alice.waitFor(`/1/software/${second}/status/`, 'done');
    const third = await deposit(alice, 'software');
    await service.stop();
    await receiver.up();
    await service.startAgain();
    alice = alice.at(service.url);
    await until(async () => [second, third].every((id) => receiver.statusesOf(id).length === 5));
    for (const id of [first, second, third]) t.deepEqual(receiver.statusesOf(id), WAY);
    t.true(receiver.taken.every(({ isSigned }) => isSigned));
  },
);

test.serial(
  'a service that stops awaits responses of receivers: no notification in progress is sent twice',
  async (t) => {
    const { service } = t.context;
    const [alice, bob] = [t.context.alice.at(service.url), t.context.bob.at(service.url)];
    const [slow, slower] = [await receiverOf(t, alice), await receiverOf(t, bob)];
    [slow.delay, slower.delay] = [200, 400];
    const [first, second] = [await deposit(alice, 'software'), await deposit(bob, 'software')];
    await until(async () => slow.received.length > 1 && slower.received.length > 0);
    await service.stop();
    await service.startAgain();
    [slow.delay, slower.delay] = [0, 0];
    await until(async () => slow.taken.length >= 5 && slower.taken.length >= 5);
    for (const [receiver, id] of [[slow, first] as const, [slower, second] as const]) {
      t.deepEqual(
        receiver.received.map(({ status }) => status),
        WAY,
      );
      t.deepEqual(receiver.statusesOf(id), WAY);
    }
  },
);

test.serial(
  'a notification not accepted for too long is given up and listed, and an operator can retry it',
  async (t) => {
    const { service, keyFile } = await notifiedService({ giveUpAfter: 4000 });
    await using _ = service;
    await using receiver = await WebhookReceiver.start();
    receiver.manners = () => 503;
    const alice = await service.register('alice', { collections: ['software'] });
    await notify(service, 'alice', receiver, keyFile);
    const id = await deposit(alice, 'software', partial);
    await until(async () => (await undelivered(alice, 'software')).deposits[0]?.given_up.length === 1);
    const tries = receiver.received.length;
    t.true(tries > 1);
    const client = (...args: string[]) => runScript(service.folder, 'client', ['webhook', 'alice', ...args]);
    const [notified, listed] = await Promise.all([client('--failures'), client('--failures', '--json')]);
    t.is(
      notified.out,
      `deposit ${id}: 1 expired. Not delivered within 0 hours. The receiver answered 503.\n`,
    );
    t.like(JSON.parse(listed.out), { deposit_id: id, held: [], given_up: [{ revision: 0 }] });
    t.is(receiver.received.length, tries, 'no further attempt is made');
    const metrics = await Exposition.of(service.folder);
    t.is(metrics.value('deposit_notifications_total', { outcome: 'too_old' }), 1, 'an alert needs it');
    receiver.manners = () => 204;
    const retried = await client('--retry', String(id));
    t.is(retried.out, `deposit ${id}: 1 notification is tried now.\n`, retried.err);
    await until(async () => receiver.statusesOf(id).length === 1);
    await until(async () => (await undelivered(alice, 'software')).deposits.length === 0);
    t.is((await client('--retry', String(id))).code, 1);
  },
);

test.serial(
  'each retry that an operator requests probes a paused receiver once, whatever clock it comes from, and none later',
  async (t) => {
    const { service, keyFile } = await notifiedService({ firstPause: 600_000, longestPause: 600_000 });
    await using _ = service;
    const receiver = await WebhookReceiver.start();
    const alice = await service.register('alice', { collections: ['software'] });
    await notify(service, 'alice', receiver, keyFile);
    await receiver.down();
    const ids = [await deposit(alice, 'software', partial), await deposit(alice, 'software', partial)];
    await until(async () => (await undelivered(alice, 'software')).deposits.length === 2);
    const tries = async (): Promise<number> => {
      const streams = ids.map((id) =>
        Array.fromAsync(service.service.log.readStream(`${notifications.prefix}${id}`)),
      );
      return (await Promise.all(streams)).flat().filter(({ type }) => type === 'DeliveryFailed').length;
    };
    t.is(await tries(), 0, 'the receiver is paused');
    for (const [index, now] of ['2999-01-01T00:00:00.000Z', new Date().toISOString()].entries()) {
      await service.administration.notifications({ type: 'Requeue', depositId: ids[index] ?? 0, now });
      await until(async () => (await tries()) === index + 1);
    }
    await service.stop();
    await service.startAgain();
    await until(async () => (await tries()) > 2);
    await setTimeout(2000);
    t.true((await tries()) <= 4, 'both were tried before the receiver was paused again');
  },
);
