import { setTimeout } from 'node:timers/promises';
import { checkpointAt, createGroup, RulesConsumer, statsOf } from './consumer.ts';
import { accelerated, type RulesServer, readAll, rule, rulesServer } from './server.ts';

/** Rules about what a group finds when it is loaded from its checkpoint. */
export function checkpointRules(): void {
  rule(
    'both',
    'a checkpoint is one position, written at most every two seconds to a stream of its group',
    async (t) => {
      const server = await rulesServer(t);
      const group = server.own('group');
      await createGroup(server, group);
      await RulesConsumer.connect(t, server, group);
      const begun = performance.now();
      for (let count = 0; count < 60; count += 1) {
        await server.append(server.own('stream'));
        await setTimeout(accelerated(100));
      }
      const position = await positionOf(server, server.own('stream'), 59);
      t.is(await checkpointAt(server, group, position), position);
      const written = await readAll(server, `$persistentsubscription-$all::${group}-checkpoint`);
      const most = (performance.now() - begun) / accelerated(2000) + 1;
      t.true(written.length >= 2 && written.length <= most, `${written.length} of at most ${most}`);
      t.deepEqual(written.at(-1)?.data as unknown as string, `C:${position}/P:${position}`);
    },
  );

  rule('both', 'without a filter no checkpoint passes an event that was not acknowledged', async (t) => {
    const server = await rulesServer(t);
    const group = server.own('group');
    await createGroup(server, group);
    const unseen = await server.append(server.own('early'), 3);
    await server.append(server.own('other'), 30);
    await setTimeout(accelerated(3500));
    await server.restartGroups();
    const [held] = unseen;
    const consumer = await RulesConsumer.connect(t, server, group, ({ event }) => event?.id !== held);
    await consumer.has(33);
    t.deepEqual(consumer.ids.slice(0, 3), unseen);
    await setTimeout(accelerated(3500)); // all but the first one are acknowledged
    await server.restartGroups();
    const later = await RulesConsumer.connect(t, server, group);
    await later.has(1);
    t.is(later.ids[0], held);
  });

  rule(
    'both',
    'without a filter the event at the checkpoint is left out when a group is loaded, and no other',
    async (t) => {
      const server = await rulesServer(t);
      const group = server.own('group');
      await createGroup(server, group);
      const ids = await server.append(server.own('stream'), 10);
      const done = new Set(ids.slice(0, 5));
      const consumer = await RulesConsumer.connect(t, server, group, ({ event }) =>
        done.has(event?.id ?? ''),
      );
      await consumer.has(10);
      const position = await positionOf(server, server.own('stream'), 4);
      t.is(await checkpointAt(server, group, position), position);
      await server.restartGroups();
      const later = await RulesConsumer.connect(t, server, group);
      await later.has(5);
      await setTimeout(200);
      t.deepEqual(later.ids, ids.slice(5));
    },
  );

  rule('both', 'a group that is loaded drops its consumers, who have to connect again', async (t) => {
    const server = await rulesServer(t);
    const group = server.own('group');
    await createGroup(server, group);
    const consumer = await RulesConsumer.connect(t, server, group);
    await server.restartGroups();
    while (!consumer.isOver) await setTimeout(10);
    t.is(
      (await server.client.getPersistentSubscriptionToAllInfo(group, server.options)).connections.length,
      0,
    );
  });

  rule('both', 'a group that is deleted and created again reads from the beginning', async (t) => {
    const server = await rulesServer(t);
    const group = server.own('group');
    const ids = await server.append(server.own('stream'), 1);
    await createGroup(server, group);
    const startFrom = (await server.client.getPersistentSubscriptionToAllInfo(group, server.options)).settings
      .startFrom;
    ids.push(...(await server.append(server.own('stream'), 4)));
    const first = await RulesConsumer.connect(t, server, group);
    await first.has(5);
    await checkpointAt(server, group, await positionOf(server, server.own('stream'), 4));
    await server.client.deletePersistentSubscriptionToAll(group, server.options);
    await createGroup(server, group, startFrom === undefined ? {} : { startFrom });
    const second = await RulesConsumer.connect(t, server, group);
    await second.has(5);
    t.deepEqual(second.ids, ids);
    t.deepEqual(
      second.received.map(({ retryCount }) => retryCount),
      [0, 0, 0, 0, 0],
    );
  });

  rule('both', 'a group starts at its start position, not after it', async (t) => {
    const server = await rulesServer(t);
    const group = server.own('group');
    const ids = await server.append(server.own('stream'), 3);
    await createGroup(server, group); // at the last of the three
    const consumer = await RulesConsumer.connect(t, server, group);
    await consumer.has(1);
    await setTimeout(200);
    t.deepEqual(consumer.ids, ids.slice(2));
  });

  rule(
    'both',
    'a checkpoint is written only after as many acknowledged events as its lower bound',
    async (t) => {
      const server = await rulesServer(t);
      const group = server.own('group');
      await createGroup(server, group, { checkPointLowerBound: 10 });
      const consumer = await RulesConsumer.connect(t, server, group);
      await server.append(server.own('stream'), 8);
      await consumer.has(8);
      await setTimeout(accelerated(3500));
      t.is((await statsOf(server, group)).lastCheckpointedEventPosition, undefined);
      await server.append(server.own('stream'), 8);
      t.true((await checkpointAt(server, group, 0n)) > 0n);
    },
  );
}

async function positionOf(server: RulesServer, stream: string, revision: number): Promise<bigint> {
  const events = await readAll(server, stream);
  return events[revision]?.position.commit ?? -1n;
}
