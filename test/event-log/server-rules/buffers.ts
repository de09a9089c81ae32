import { setTimeout } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { eventually } from '../log-on-double.ts';
import { createGroup, PINNED, ROUND_ROBIN, RulesConsumer, statsOf } from './consumer.ts';
import { accelerated, type RulesServer, readAll, rule, rulesServer } from './server.ts';

const [STREAMS, EACH] = [8, 250];

/** A group has settled when nothing changed from one look to the next, this many times. */
const QUIET_ROUNDS = 5;

/** Rules about what a group reads ahead, repeats and reports. */
export function bufferRules(): void {
  rule(
    'both',
    'a group that is behind stops for all once its history buffer waits for a consumer that is full',
    async (t) => {
      const server = await rulesServer(t);
      const group = server.own('group');
      await server.append(server.own('first'));
      const startFrom = (await readAll(server, server.own('first')))[0]?.position;
      await fill(server);
      await createGroup(server, group, { consumerStrategyName: PINNED, ...(startFrom && { startFrom }) });
      const { full, free } = await fullAndFree(t, server, group);
      t.false(isComplete(free), `${free.received.length} of ${STREAMS * EACH}, then no more`);
      const buffered = await bufferedEvents(server, group);
      t.true(buffered >= 400 && buffered <= 600, `${buffered} of 500 events are buffered`);
      await full.disconnect();
      await eventually(() => free.streams.size >= STREAMS && isComplete(free));
      t.pass('the remaining consumer receives everything');
    },
  );

  rule('both', 'a group that is live does not stop for a consumer that is full', async (t) => {
    const server = await rulesServer(t);
    const group = server.own('group');
    await createGroup(server, group, { consumerStrategyName: PINNED });
    await setTimeout(accelerated(1000));
    const connected = fullAndFree(t, server, group, () => fill(server));
    const { free } = await connected;
    t.true(isComplete(free));
  });

  rule('both', 'retryCount is raised by every lost connection of a consumer', async (t) => {
    const server = await rulesServer(t);
    const group = server.own('group');
    await createGroup(server, group, { maxRetryCount: 1_000_000 });
    const [id = ''] = await server.append(server.own('stream'));
    const counts: number[] = [];
    for (let lost = 0; lost < 20; lost += 1) {
      const consumer = await RulesConsumer.connect(t, server, group, () => false);
      await consumer.has(1);
      counts.push(consumer.received[0]?.retryCount ?? -1);
      await consumer.disconnect();
      await setTimeout(accelerated(200));
    }
    t.true((counts.at(-1) ?? 0) >= 17, counts.join());
    const last = await RulesConsumer.connect(t, server, group, () => false);
    await last.has(1);
    await last.refuse(id);
    await last.has(2);
    t.is(
      last.received[1]?.retryCount,
      (last.received[0]?.retryCount ?? 0) + 1,
      'a refusal has the same effect',
    );
    t.is((await statsOf(server, group)).parkedMessageCount, 0n);
  });

  rule(
    'both',
    'an event whose time-out is over is pushed again, and parked when its retries are used up',
    async (t) => {
      const server = await rulesServer(t);
      const group = server.own('group');
      await createGroup(server, group, { messageTimeout: accelerated(1000), maxRetryCount: 2 });
      await server.append(server.own('stream'));
      const consumer = await RulesConsumer.connect(t, server, group, () => false);
      await consumer.has(3);
      while ((await statsOf(server, group)).parkedMessageCount === 0n) await setTimeout(10);
      t.deepEqual(
        consumer.received.map(({ retryCount }) => retryCount),
        [0, 1, 2],
      );
      await server.client.replayParkedMessagesToAll(group, server.options);
      await consumer.has(4);
      t.is(consumer.received[3]?.retryCount, 0);
    },
  );

  rule('both', 'groups that are idle add no event', async (t) => {
    const server = await rulesServer(t);
    const names = Array.from({ length: 6 }, (_, number) => server.own(`group-${number}`));
    for (const name of names) {
      await createGroup(server, name, { consumerStrategyName: ROUND_ROBIN });
      await RulesConsumer.connect(t, server, name);
      await RulesConsumer.connect(t, server, name);
    }
    await server.append(server.own('stream'), 20);
    await setTimeout(accelerated(8000));
    const before = await readAll(server);
    await setTimeout(accelerated(40_000));
    t.deepEqual((await readAll(server)).length, before.length);
  });

  rule('both', 'every group is pushed every event', async (t) => {
    const server = await rulesServer(t);
    const consumers: RulesConsumer[] = [];
    for (const number of [1, 2, 3, 4]) {
      await createGroup(server, server.own(`group-${number}`));
      consumers.push(await RulesConsumer.connect(t, server, server.own(`group-${number}`)));
    }
    const ids = await server.append(server.own('stream'), 20);
    for (const consumer of consumers) await consumer.has(20);
    for (const consumer of consumers) t.deepEqual(consumer.ids, ids);
  });

  rule('both', 'information about a group names its consumers, its buffers and its settings', async (t) => {
    const server = await rulesServer(t);
    const { client, options } = server;
    const group = server.own('group');
    await createGroup(server, group, { consumerStrategyName: PINNED, historyBufferSize: 700 });
    const consumer = await RulesConsumer.connect(t, server, group, () => false, 7);
    await server.append(server.own('stream'), 10);
    await consumer.has(7);
    const { settings, connections, stats, ...rest } = await client.getPersistentSubscriptionToAllInfo(
      group,
      options,
    );
    t.like(rest, { eventSource: '$all', groupName: group, status: 'Live' });
    t.like(settings, {
      consumerStrategyName: 'Pinned',
      historyBufferSize: 700,
      readBatchSize: 20,
      maxRetryCount: 1_000_000,
    });
    t.is(connections.length, 1);
    t.like(connections[0], { inFlightMessages: 7, availableSlots: 0 });
    t.is(stats.outstandingMessagesCount, 7);
    t.is(stats.readBufferCount + stats.retryBufferCount, 3);
    const last = (await readAll(server, server.own('stream'))).at(-1);
    t.is(stats.lastKnownEventPosition?.commit, last?.position.commit);
    const all = await client.listPersistentSubscriptionsToAll(options);
    t.true(all.some(({ groupName }) => groupName === group));
  });

  rule('both', 'the live buffer of a live group has its last events, also acknowledged ones', async (t) => {
    const server = await rulesServer(t);
    const group = server.own('group');
    await createGroup(server, group);
    await setTimeout(accelerated(1000));
    const consumer = await RulesConsumer.connect(t, server, group);
    await server.append(server.own('stream'), 10);
    await consumer.has(10);
    await setTimeout(accelerated(1000));
    const { liveBufferCount, outstandingMessagesCount, readBufferCount } = await statsOf(server, group);
    t.deepEqual([outstandingMessagesCount, readBufferCount], [0, 0]);
    t.true(liveBufferCount >= 10n);
  });
}

/** Connects a consumer that is full with one event, and one with room, which gets what it can. */
async function fullAndFree(
  t: ExecutionContext,
  server: RulesServer,
  group: string,
  fill: () => Promise<void> = () => Promise.resolve(),
): Promise<{ readonly full: RulesConsumer; readonly free: RulesConsumer }> {
  const full = await RulesConsumer.connect(t, server, group, () => false, 1);
  const free = await RulesConsumer.connect(t, server, group);
  await fill();
  await full.has(1);
  const standing = async () => `${free.received.length} ${await bufferedEvents(server, group)}`;
  let seen = '';
  let quietRounds = 0;
  while (quietRounds < QUIET_ROUNDS) {
    await setTimeout(accelerated(1000));
    const now = await standing();
    quietRounds = now === seen ? quietRounds + 1 : 0;
    seen = now;
  }
  return { full, free };
}

async function bufferedEvents(server: RulesServer, group: string): Promise<number> {
  const { readBufferCount, retryBufferCount } = await statsOf(server, group);
  return readBufferCount + retryBufferCount;
}

/** Returns whether it got all events of each stream of which it got any. On a slow machine some come twice. */
function isComplete(consumer: RulesConsumer): boolean {
  const events = new Map<string, Set<string>>();
  for (const { event } of consumer.received) {
    if (event && event.streamId !== '')
      events.set(event.streamId, (events.get(event.streamId) ?? new Set()).add(event.id));
  }
  const streams = [...events].filter(([name]) => !name.endsWith('-first'));
  return streams.length > 1 && streams.every(([, ids]) => ids.size === EACH);
}

/** Appends to the streams in turns, so that each waits for its consumer all the time. */
async function fill(server: RulesServer): Promise<void> {
  for (let batch = 0; batch < EACH / 10; batch += 1)
    for (let stream = 0; stream < STREAMS; stream += 1) await server.append(server.own(`s${stream}`), 10);
}
