import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { AdminCommands } from '../../../src/deposits/admin-commands.ts';
import { handleCommand, newContext, readState } from '../../../src/deposits/command-handler.ts';
import { deposits, notifications } from '../../../src/domain/aggregates.ts';
import {
  type EventLog,
  EventLogUnavailable,
  type Position,
  type RecordedEvent,
} from '../../../src/event-log/event-log.ts';
import { chainHash, sealAfter } from '../../../src/event-log/integrity/hash-chain.ts';
import { CircuitBreaker } from '../../../src/modules/webhooks/circuit-breaker.ts';
import { Notifier } from '../../../src/modules/webhooks/notifier.ts';
import { PendingNotifications } from '../../../src/modules/webhooks/pending-notifications.ts';
import { RetryScheduler } from '../../../src/modules/webhooks/retry-scheduler.ts';
import type { Outcome } from '../../../src/modules/webhooks/webhook-client.ts';
import { WebhookKey } from '../../../src/modules/webhooks/webhook-key.ts';
import { WebhookSender } from '../../../src/modules/webhooks/webhook-sender.ts';
import { Webhooks } from '../../../src/modules/webhooks/webhooks.ts';
import { EventLogParking } from '../../../src/reactors/parking.ts';
import { Iris } from '../../../src/sword/iris.ts';
import { CLOCK_OF_NODE } from '../../../src/tools/clock.ts';
import { silentLogger } from '../../../src/tools/logger.ts';
import { runInWorld } from '../../../src/tools/outside-world.ts';
import type { ReachedByQueries } from '../../../src/views/view.ts';
import { ViewUnavailable } from '../../../src/views/view-unavailable.ts';
import { MemoryEventLog } from '../../../testing/event-log/memory-event-log.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { until } from '../../../testing/processes/until.ts';
import { secretCredential } from '../../../testing/service/secret-password.ts';

const SETTINGS = { firstPause: 10, longestPause: 100, allowPrivate: true, giveUpAfter: 3_600_000 };
const accepts = async (): Promise<Outcome> => ({ taken: true });
const silent = new AbortController().signal;

/** Returns a client with a webhook, a deposit of it with three status events, and a node that notifies of them. */
async function given(t: ExecutionContext, ageMs = 0, ageOfLastMs = ageMs) {
  const log = new MemoryEventLog();
  t.teardown(() => log[Symbol.asyncDispose]());
  const keyFile = path.join(await temporaryFolder(t), 'webhook.key');
  const administration = new AdminCommands(log, { kind: 'operator', name: 'test' });
  await administration.client({ type: 'RegisterClient', client: 'alice', credential: secretCredential });
  await administration.grant('alice', 'software');
  const secret = (await WebhookKey.make(keyFile)).seal('s'.repeat(32), 'alice');
  await administration.client({ type: 'SetWebhook', client: 'alice', url: 'https://alice.example/', secret });
  const events = await statusEvents(log, ageMs, ageOfLastMs);
  const sent: number[] = [];
  const receiver = { answer: accepts };
  const webhookClient = {
    post: async (_url: string, body: string): Promise<Outcome> => {
      sent.push((JSON.parse(body) as { data: { revision: number } }).data.revision);
      return receiver.answer();
    },
  };
  // Views without any event: the log is read.
  const behind = { position: undefined, passed: async () => false, isCurrent: () => false };
  const node = (
    from: EventLog = log,
    queries: ReachedByQueries = behind,
    shown?: Pick<DepositStatusView, 'client'> | Error,
  ) => {
    const projector = { queriesOf: () => queries, listen: () => () => undefined };
    const others = shown ? [{ since: '0' }] : []; // webhooks of other clients
    const view = { get: () => undefined, find: () => others, values: () => others.values() } as never;
    const webhooks = new Webhooks(from, projector, view);
    const renderContext = { iris: new Iris('https://deposit.example'), refIdAliases: false };
    const onKeyProblem = (): void => t.fail('the key exists');
    const sender = new WebhookSender({
      ...SETTINGS,
      keyFile,
      webhookClient,
      renderContext,
      onKeyProblem,
      logger: silentLogger,
    });
    const parts = { log: from, webhooks, sender, settings: SETTINGS };
    const statuses = {
      get: () => {
        if (shown instanceof Error) throw shown;
        return shown as DepositStatusView | undefined;
      },
    };
    const notifier = new Notifier({ ...parts, statuses, parking: new EventLogParking(from) });
    const deliveries = new PendingNotifications(parts);
    return { notifier, deliveries, sender, webhooks };
  };
  const recorded = async () => (await readState(log, notifications, 1)).state;
  return { log, events, sent, receiver, node, recorded, administration };
}

type Node = ReturnType<Awaited<ReturnType<typeof given>>['node']>;

/** Delivers what is held of the deposit to the webhook that alice had at an event. */
async function deliver(
  { deliveries, sender, webhooks }: Omit<Node, 'notifier'>,
  { position }: RecordedEvent,
): Promise<void> {
  const webhook = await webhooks.at('alice', position);
  if (!webhook) throw new Error('alice has no webhook.');
  await deliveries.deliver(1, webhook, sender.breakerOf(webhook), silent);
}

/** Returns a scheduler with these parts. By default every client has a webhook, and the queries are current. */
function schedulerWith(parts: Record<string, unknown>): RetryScheduler {
  return new RetryScheduler({
    sender: { breakerOf: () => new CircuitBreaker(SETTINGS) },
    webhooks: { current: (client: string) => ({ client }) },
    projector: { listen: () => () => undefined },
    queries: { isCurrent: () => true, passed: async () => true },
    logger: silentLogger,
    giveUpAfter: Infinity,
    ...parts,
  } as never);
}

async function statusEvents(
  log: EventLog,
  ageMs: number,
  ageOfLastMs: number,
): Promise<readonly [RecordedEvent, RecordedEvent, RecordedEvent]> {
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
  const occurredAt = ago(ageMs);
  const metadata = {
    schemaVersion: 1,
    occurredAt,
    actor: { kind: 'client', name: 'alice' },
    $correlationId: 'c',
  };
  const fields = { depositId: 1, client: 'alice', collection: 'software', createdAt: occurredAt, slug: null };
  const created = {
    ...fields,
    uuid: '6a1b4f0e-0000-4000-8000-000000000001',
    fallbackOrigin: 'https://alice.example/1',
  };
  const completed = { depositId: 1, completedAt: occurredAt, origin: 'https://alice.example/1' };
  const types = [
    ['DepositCreated', created, metadata],
    ['DepositCompleted', completed, metadata],
    ['ChecksRetried', { depositId: 1, attempt: 2 }, { ...metadata, occurredAt: ago(ageOfLastMs) }],
  ] as const;
  const events = types.map(([type, data, about]) => ({
    id: crypto.randomUUID(),
    type,
    data,
    metadata: about,
  }));
  const stream = `${deposits.prefix}1`;
  await log.append(stream, 'none', sealAfter(stream, 'none', chainHash(undefined), events));
  const [first, second, last] = await Array.fromAsync(log.readStream(stream));
  return [first, second, last] as [RecordedEvent, RecordedEvent, RecordedEvent];
}

test('each accepted notification is recorded by its revision, and not sent when its event is redelivered', async (t) => {
  const { events, sent, node, recorded } = await given(t);
  const { notifier } = node();
  for (const event of events) await notifier.react(event, silent);
  t.deepEqual(
    [sent, (await recorded()).settled],
    [
      [0, 1, 2],
      [0, 1, 2],
    ],
  );
  for (const event of events) await node().notifier.react(event, silent);
  t.deepEqual(sent, [0, 1, 2]);
});

test('an event that arrives before an earlier one waits for it, and both are sent in order', async (t) => {
  const { events, sent, node, recorded } = await given(t, 60_000);
  const [, , last] = events;
  const { notifier, ...parts } = node();
  await notifier.react(last, silent);
  t.deepEqual(sent, [], 'no part of it yet');
  t.deepEqual(
    (await recorded()).held.map(({ revision }) => revision),
    [0, 1, 2],
  );
  await deliver(parts, last);
  t.deepEqual(sent, [0, 1, 2]);
  for (const event of events) await notifier.react(event, silent);
  t.deepEqual(sent, [0, 1, 2], 'late ones are recorded');
});

test('views that are behind are waited for, and while no client has a webhook no stream is read', async (t) => {
  const { log, events, node } = await given(t);
  const [event] = events;
  let position: Position | undefined;
  const queries: ReachedByQueries = {
    get position() {
      return position;
    },
    passed: async (wanted) => {
      position = wanted; // without a webhook
      return true;
    },
    isCurrent: () => true,
  };
  const unread = Object.assign(Object.create(log) as EventLog, {
    readStream: (stream: string) => t.fail(`${stream} is read`),
  });
  const { notifier } = node(unread, queries);
  t.true(notifier.reactsTo(event), 'as there may be a webhook');
  t.is(await notifier.ownerOf(event), event.stream);
  await notifier.react(event, silent);
  t.false(notifier.reactsTo(event));
});

test('the owner of a deposit is read from its view, and from the log while the view does not have it or is damaged', async (t) => {
  const { log, events, node } = await given(t);
  const [, event] = events;
  const reads: string[] = [];
  const watched = Object.assign(Object.create(log) as EventLog, {
    readStream: (...about: Parameters<EventLog['readStream']>) => {
      reads.push(about[0]);
      return log.readStream(...about);
    },
  });
  t.is(await node(watched).notifier.ownerOf(event), 'alice');
  t.deepEqual(reads, [event.stream]);
  t.is(await node(watched, undefined, { client: 'bob' }).notifier.ownerOf(event), 'bob');
  t.deepEqual(reads, [event.stream], 'the view has it');
  const damaged = new ViewUnavailable('The view cannot be read.');
  t.is(await node(watched, undefined, damaged).notifier.ownerOf(event), 'alice');
});

test('no stream is read for a deposit of a client without a webhook, although others have one', async (t) => {
  const { log, events, node } = await given(t);
  const [event] = events;
  const queries = { position: event.position, passed: async () => true, isCurrent: () => true };
  const unread = Object.assign(Object.create(log) as EventLog, {
    readStream: (stream: string) => t.fail(`${stream} is read`),
  });
  const { notifier } = node(unread, queries, { client: 'bob' });
  t.true(notifier.reactsTo(event));
  t.false(await notifier.hasWork(event));
  await notifier.react(event, silent);
});

test('while another node may be sending the earlier notification, later ones are not attempted', async (t) => {
  const { events, sent, node, recorded } = await given(t);
  const [, second] = events;
  await node().notifier.react(second, silent);
  const { held, nextTryAt } = await recorded();
  t.deepEqual(
    held.map(({ revision }) => revision),
    [0, 1],
  );
  const wait = Date.parse(nextTryAt ?? '') - Date.now();
  t.true(wait > 5000 && wait <= 12_000, `${wait} ms`);
  await deliver(node(), second);
  t.deepEqual(sent, [], 'not before its time');
});

test('a notification that waits for an event of a node with a fast clock waits no longer than others', async (t) => {
  const { events, node, recorded } = await given(t, -600_000);
  const [, second] = events;
  await node().notifier.react(second, silent);
  const wait = Date.parse((await recorded()).nextTryAt ?? '') - Date.now();
  t.true(wait > 5000 && wait <= 12_000, `${wait} ms`);
});

test('a stale read of the deposit does not skip an event', async (t) => {
  const { log, events, sent, node } = await given(t);
  const stale = Object.create(log) as EventLog;
  stale.readStream = (stream, options) =>
    stream === 'deposit-1'
      ? log.readStream(stream, { ...options, limit: 2 })
      : log.readStream(stream, options);
  const [, , last] = events;
  await t.throwsAsync(node(stale).notifier.react(last, silent), {
    code: 'EVENT_LOG_UNAVAILABLE',
    message: /^Stale read of deposit-1: it ended at revision 1, but revision 2 is known\.$/,
  });
  t.deepEqual(sent, []);
});

test('a parked event waits for an operator, and blocks no other', async (t) => {
  const { log, events, sent, node } = await given(t, 60_000);
  const [first, second, last] = events;
  await node().notifier.react(first, silent);
  await new EventLogParking(log).park('notifier', second, new Error('It kills.'), 5);
  await node().notifier.react(last, silent);
  t.deepEqual(sent, [0, 2]);
  await node().notifier.react(second, silent);
  t.deepEqual(sent, [0, 2, 1], 'an operator requested it');
});

test('events while a client may not be notified are recorded as given up, and not sent later', async (t) => {
  const { events, sent, node, administration, recorded } = await given(t);
  const [first, second, last] = events;
  await node().notifier.react(first, silent);
  await administration.client({ type: 'DisableClient', client: 'alice' });
  await node().notifier.react(second, silent);
  await administration.client({ type: 'EnableClient', client: 'alice' });
  await node().notifier.react(last, silent);
  t.deepEqual(sent, [0, 2]);
  t.deepEqual([(await recorded()).settled, (await recorded()).givenUp], [[0, 1, 2], []]);
});

test('the time to record a claim is part of the claim: nothing is sent near its end', async (t) => {
  const { log, events, sent, receiver, node, recorded } = await given(t, 60_000);
  const [, , last] = events;
  await node().notifier.react(last, silent); // holds all three
  let elapsed = 0;
  const clock = {
    ...CLOCK_OF_NODE,
    now: () => CLOCK_OF_NODE.now() + elapsed,
    monotonic: () => CLOCK_OF_NODE.monotonic() + elapsed,
  };
  const append = log.append.bind(log);
  log.append = (stream, expected, claim) => {
    if (claim.some(({ type }) => type === 'DeliveryTried')) elapsed += 15_000;
    return append(stream, expected, claim);
  };
  receiver.answer = () => {
    elapsed += 6000;
    return accepts();
  };
  await runInWorld({ clock }, () => deliver(node(), last));
  t.deepEqual(sent, [0], 'the second one would begin 21 s after a claim of 30 s, and take up to 12 s');
  t.deepEqual((await recorded()).settled, [0]);
});

test('nothing is sent near the end of a claim, although its event was read slowly', async (t) => {
  const { log, events, sent, node, recorded } = await given(t, 60_000);
  const [, , last] = events;
  await node().notifier.react(last, silent); // holds all three
  let elapsed = 0;
  const clock = { ...CLOCK_OF_NODE, monotonic: () => CLOCK_OF_NODE.monotonic() + elapsed };
  const readStream = log.readStream.bind(log);
  log.readStream = (stream, options) => {
    if (stream === 'deposit-1') elapsed += 19_000;
    return readStream(stream, options);
  };
  await runInWorld({ clock }, () => deliver(node(), last));
  t.deepEqual(sent, [], 'the first one would begin 19 s after a claim of 30 s, and take up to 12 s');
  t.deepEqual((await recorded()).settled, []);
});

test('accepted notifications are recorded although the next event cannot be read', async (t) => {
  const { log, events, sent, node, recorded } = await given(t, 60_000);
  const [, , last] = events;
  await node().notifier.react(last, silent); // holds all three
  const readStream = log.readStream.bind(log);
  log.readStream = (stream, options) => {
    if (stream === 'deposit-1' && sent.length === 2) throw new EventLogUnavailable('The log is away.');
    return readStream(stream, options);
  };
  const parts = node();
  await deliver(parts, last);
  t.deepEqual((await recorded()).settled, [0, 1]);
  await t.throwsAsync(deliver(parts, last), { message: 'The log is away.' });
  t.deepEqual(sent, [0, 1]);
});

test('a client is not notified of an event before its webhook was set', async (t) => {
  const { log, node } = await given(t);
  const [registered] = await Array.fromAsync(log.readAll());
  t.is(await node().webhooks.at('alice', registered?.position ?? ''), undefined);
});

test('a client that changes its webhook is still notified of the events before the change', async (t) => {
  const { log, events, node, administration } = await given(t);
  const set = { type: 'SetWebhook', client: 'alice', url: 'https://new.example/' } as const;
  const [earlier] = (await Array.fromAsync(log.readStream('client-alice'))).filter(
    ({ type }) => type === 'WebhookSet',
  );
  await administration.client({ ...set, secret: earlier?.data['secret'] as never });
  const webhook = await node().webhooks.at('alice', events[0]?.position ?? '');
  t.is(webhook?.url, set.url);
});

test('an earlier event that is too old to be sent holds back no later one', async (t) => {
  const { events, sent, node, recorded } = await given(t, 2 * SETTINGS.giveUpAfter, 0);
  const [, , last] = events;
  await node().notifier.react(last, silent);
  t.deepEqual(sent, [2]);
  t.deepEqual((await recorded()).held, []);
});

test('a failure after an accepted notification is recorded with its reason', async (t) => {
  const { events, receiver, node, recorded } = await given(t, 60_000);
  const [, , last] = events;
  await node().notifier.react(last, silent);
  receiver.answer = async () => {
    receiver.answer = async () => ({ taken: false, reason: 'No.', isUnreachable: false, retryAfter: 0 });
    return { taken: true };
  };
  await deliver(node(), last);
  t.like(await recorded(), { settled: [0], reason: 'No.' });
});

test('only the notifications that have waited too long are given up', async (t) => {
  const { log, node, recorded } = await given(t);
  for (const [revision, age] of [2 * SETTINGS.giveUpAfter, 0].entries()) {
    const heldAt = new Date(Date.now() - age).toISOString();
    const about = { depositId: 1, client: 'alice', collection: 'software', eventId: `${revision}`, revision };
    const command = { type: 'HoldNotification', ...about, heldAt, reason: '', nextTryAt: null } as const;
    await handleCommand(log, notifications, 1, command, newContext({ kind: 'reactor', name: 'notifier' }));
  }
  const find = ({ upTo }: { upTo?: { field: string } }) =>
    upTo?.field === 'heldSince' ? [{ depositId: 1, reason: 'Not delivered within 1 hour. No.' }] : [];
  const scheduler = schedulerWith({
    deliveries: node().deliveries,
    undelivered: { counts: () => new Map([['alice', 1]]), find },
    giveUpAfter: SETTINGS.giveUpAfter,
  });
  scheduler.start();
  await until(async () => (await recorded()).givenUp.length > 0);
  await scheduler.stop();
  const { givenUp, held, reason } = await recorded();
  t.deepEqual([givenUp.map(({ revision }) => revision), held.map(({ revision }) => revision)], [[0], [1]]);
  t.is(reason, 'Not delivered within 1 hour. No.', 'that it expired before is not repeated');
});

test('a client that rests is looked at again once its receiver may be tried, or the clock was set back', async (t) => {
  let now = Date.now();
  const clock = { ...CLOCK_OF_NODE, now: () => now };
  const breaker = { permits: 0, tryAcquire: () => true, release: () => undefined };
  let [looks, due] = [0, [] as number[]];
  const begun: number[] = [];
  await runInWorld({ clock }, async () => {
    const scheduler = schedulerWith({
      deliveries: { deliver: async (id: number) => void (begun.push(id), (due = [])) },
      sender: { breakerOf: () => breaker },
      undelivered: {
        counts: () => (looks++, new Map([['alice', 1]])),
        find: ({ upTo }: { upTo?: unknown }) => (upTo ? due.map((depositId) => ({ depositId })) : []),
      },
    });
    scheduler.start();
    await until(async () => looks > 2); // it rests
    [breaker.permits, due] = [1, [1]];
    await until(async () => begun.length === 1);
    due = [2];
    now -= 3_600_000;
    await until(async () => begun.length === 2);
    await scheduler.stop();
  });
  t.deepEqual(begun, [1, 2]);
});

test('a stop aborts a delivery that takes longer, so that its outcome is recorded', async (t) => {
  const aborted = Promise.withResolvers<undefined>();
  let isBegun = false;
  const scheduler = schedulerWith({
    deliveries: {
      deliver: (...[, , , signal]: [number, unknown, unknown, AbortSignal]) => {
        isBegun = true;
        signal.addEventListener('abort', () => aborted.resolve(undefined));
        return aborted.promise;
      },
    },
    undelivered: {
      counts: () => new Map([['alice', 1]]),
      find: ({ upTo }: { upTo?: unknown }) => (upTo ? [{ depositId: 1 }] : []),
    },
  });
  scheduler.start();
  await until(async () => isBegun);
  await scheduler.stop();
  await t.notThrowsAsync(Promise.race([aborted.promise, Promise.reject(new Error('not aborted'))]));
});

test('a client is served although slow receivers of eight others use every place', async (t) => {
  const clients = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'last'];
  const waiting = new Map(
    clients.map((name, at) => [name, new Set(Array.from({ length: 50 }, (_, n) => 100 * at + n))]),
  );
  const underWay = new Map<number, () => void>();
  const deliver = (id: number) =>
    new Promise<undefined>((resolve) => {
      underWay.set(id, () => {
        underWay.delete(id);
        for (const ids of waiting.values()) ids.delete(id);
        resolve(undefined);
      });
    });
  const find = ({ equal, upTo, limit }: { equal: { waitingFor: string }; upTo?: unknown; limit: number }) =>
    [...(upTo ? (waiting.get(equal.waitingFor) ?? []) : [])]
      .slice(0, limit)
      .map((depositId) => ({ depositId }));
  const breakers = new Map(clients.map((name) => [name, new CircuitBreaker(SETTINGS)]));
  const scheduler = schedulerWith({
    deliveries: { deliver },
    sender: { breakerOf: ({ client }: { client: string }) => breakers.get(client) },
    undelivered: { counts: () => new Map([...waiting].map(([name, { size }]) => [name, size])), find },
  });
  scheduler.start();
  t.teardown(async () => {
    const stopped = scheduler.stop();
    for (const end of underWay.values()) end();
    await stopped;
  });
  for (let ended = 0; ended < 16; ended += 1) {
    await until(async () => underWay.size === 64);
    underWay.get(Math.min(...underWay.keys()))?.(); // one of the first client that has any
  }
  await until(async () => underWay.size === 64);
  const ofLast = [...underWay.keys()].filter((id) => id >= 800);
  t.true(ofLast.length > 1, `${ofLast.length} deliveries of the last client`);
});

test('clients of which nothing is due are looked at once, not for each delivery of others', async (t) => {
  const idle = Array.from({ length: 100 }, (_, number) => `idle-${number}`);
  const busy = Array.from({ length: 8 }, (_, number) => `busy-${number}`);
  const dueAt = new Date(Date.now() + 3_600_000).toISOString();
  const underWay: (() => void)[] = [];
  let [looks, sent] = [0, 0];
  type Query = { equal: { waitingFor: string }; upTo?: unknown; from?: { value: string }; limit: number };
  const find = ({ equal, upTo, from, limit }: Query) => {
    if (busy.includes(equal.waitingFor))
      return upTo ? Array.from({ length: limit }, () => ({ depositId: (sent += 1) })) : [];
    looks += 1;
    return from && from.value < dueAt ? [{ depositId: 0, dueAt }] : [];
  };
  const breakers = new Map([...idle, ...busy].map((name) => [name, new CircuitBreaker(SETTINGS)]));
  const scheduler = schedulerWith({
    deliveries: {
      deliver: () => new Promise<undefined>((resolve) => underWay.push(() => resolve(undefined))),
    },
    sender: { breakerOf: ({ client }: { client: string }) => breakers.get(client) },
    undelivered: { counts: () => new Map([...idle, ...busy].map((name) => [name, 1])), find },
  });
  scheduler.start();
  for (let ended = 0; ended < 16; ended += 1) {
    await until(async () => underWay.length === 64);
    underWay.shift()?.();
  }
  const stopped = scheduler.stop();
  for (const end of underWay) end();
  await stopped;
  t.true(looks <= 4 * idle.length, `${looks} queries about ${idle.length} clients`);
});

/** The part of a view in which one client has notifications. */
const ofAlice = { counts: () => new Map([['alice', 1]]), get: () => ({ client: 'alice' }) };

/** A projector, and a function that has its listener hear of an event of a stream. */
function heardProjector() {
  type Listener = (events: readonly { stream: string }[]) => void;
  let listener: Listener = () => undefined;
  const listen = (added: Listener) => {
    listener = added;
    return () => undefined;
  };
  return { projector: { listen }, hear: (stream: string) => listener([{ stream }]) };
}

test('a notification that queries do not find yet is looked for again once they do', async (t) => {
  const breaker = new CircuitBreaker(SETTINGS);
  const begun: number[] = [];
  const first = Promise.withResolvers<undefined>();
  let [due, isCurrent] = [[1], true];
  const { projector, hear } = heardProjector();
  const scheduler = schedulerWith({
    deliveries: {
      deliver: (depositId: number) => {
        begun.push(depositId);
        due = [];
        return depositId === 1 ? first.promise : Promise.resolve(undefined);
      },
    },
    sender: { breakerOf: () => breaker },
    projector,
    undelivered: {
      ...ofAlice,
      find: ({ upTo }: { upTo?: unknown }) => (upTo ? due.map((depositId) => ({ depositId })) : []),
    },
    queries: { isCurrent: () => isCurrent, passed: async () => true },
  });
  scheduler.start();
  await until(async () => begun.length === 1);
  isCurrent = false; // another notification is held, and a thread still writes that
  hear('notifications-2');
  first.resolve(undefined);
  await until(async () => breaker.isIdle);
  [due, isCurrent] = [[2], true];
  const since = performance.now();
  await until(async () => begun.length === 2);
  t.deepEqual(begun, [1, 2]);
  t.true(performance.now() - since < 8000, 'it does not wait for the end of a rest of ten seconds');
  await scheduler.stop();
});

test('a deposit that was notified does not rest because the next one could not be looked for', async (t) => {
  const [begun, logged]: [number[], unknown[]] = [[], []];
  let isAway = false;
  const { projector, hear } = heardProjector();
  const scheduler = schedulerWith({
    deliveries: {
      deliver: async (depositId: number) => {
        begun.push(depositId);
        isAway = begun.length === 1;
        hear('notifications-1'); // another notification of the deposit is held
      },
    },
    projector,
    undelivered: {
      ...ofAlice,
      find: ({ upTo }: { upTo?: { field: string } }) => {
        if (!isAway) return upTo?.field === 'dueAt' && begun.length < 2 ? [{ depositId: 1 }] : [];
        isAway = false;
        throw new ViewUnavailable('The view cannot be read.');
      },
    },
    logger: { ...silentLogger, warn: (facts: object) => logged.push(Object.keys(facts)) },
    giveUpAfter: SETTINGS.giveUpAfter,
  });
  const since = performance.now();
  scheduler.start();
  await until(async () => begun.length === 2);
  await scheduler.stop();
  t.true(performance.now() - since < 5000, 'it does not rest for ten seconds');
  t.deepEqual(logged, [['err']], 'the fault is not of a deposit');
});

test('notifications that cannot be read are logged once, not with each look at them', async (t) => {
  const logged: unknown[] = [];
  let looks = 0;
  const scheduler = schedulerWith({
    deliveries: {},
    undelivered: { counts: () => new Map() },
    queries: {
      isCurrent: () => {
        looks += 1;
        throw new Error('the disk cannot be read');
      },
    },
    logger: { ...silentLogger, warn: (facts: unknown) => logged.push(facts) },
  });
  scheduler.start();
  await until(async () => looks === 3);
  await scheduler.stop();
  t.is(logged.length, 1);
});
