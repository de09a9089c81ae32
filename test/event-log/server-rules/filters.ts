import { setTimeout } from 'node:timers/promises';
import { checkpointAt, createGroup, lastPosition, RulesConsumer } from './consumer.ts';
import { accelerated, type RulesServer, rule, rulesServer } from './server.ts';

/** Rules about groups with a filter, whose checkpoints are wrong. */
export function filterRules(): void {
  rule(
    'both',
    'with a filter, events that it leaves out move the checkpoint past events that wait',
    async (t) => {
      const server = await rulesServer(t);
      const [group, own] = [server.own('group'), server.own('own')];
      await createGroup(server, group, {}, own);
      await setTimeout(accelerated(1000)); // it is live
      const waiting = await server.append(own, 3);
      await server.append(server.own('other'), 30);
      await checkpointAt(server, group, await endOf(server));
      await server.restartGroups();
      await setTimeout(accelerated(1000));
      const later = await server.append(own, 2);
      const consumer = await RulesConsumer.connect(t, server, group);
      await consumer.has(2);
      t.deepEqual(consumer.ids, later);
      t.is(consumer.ids.filter((id) => waiting.includes(id)).length, 0, '3 of 3 were lost');
    },
  );

  rule('both', 'with a filter, the first event that matches is dropped when a group is loaded', async (t) => {
    const server = await rulesServer(t);
    const [group, own] = [server.own('group'), server.own('own')];
    await createGroup(server, group, {}, own);
    await setTimeout(accelerated(1000));
    await server.append(server.own('other'), 30);
    await checkpointAt(server, group, await endOf(server));
    const [dropped, ...others] = await server.append(own, 3);
    await server.restartGroups();
    const consumer = await RulesConsumer.connect(t, server, group);
    await consumer.has(2);
    await setTimeout(accelerated(1000));
    t.deepEqual(consumer.ids, others);
    t.false(consumer.ids.includes(dropped ?? ''));
  });

  rule('both', 'with a filter, an event in work can be taken for one behind the checkpoint', async (t) => {
    const server = await rulesServer(t, { pushDelayMs: 5 });
    const [group, own] = [server.own('group'), server.own('own')];
    await createGroup(server, group, { historyBufferSize: 2000, liveBufferSize: 2000 }, own);
    const consumer = await RulesConsumer.connect(t, server, group, () => false);
    let lost: readonly string[] = [];
    for (let round = 0; lost.length === 0 && round < 8; round += 1) {
      const ids = await appendAmongOthers(server, own);
      await consumer.has(ids.length);
      await setTimeout(accelerated(3500));
      await server.restartGroups();
      const later = await RulesConsumer.connect(t, server, group, () => false);
      await setTimeout(accelerated(3000));
      lost = ids.filter((id) => !later.ids.includes(id));
      await later.acknowledge(ids);
      await later.disconnect();
    }
    t.true(lost.length > 0, 'of each hundred, 1 or 2 are lost');
  });

  rule('both', 'without a filter, events that others leave out lose nothing in the same cases', async (t) => {
    const server = await rulesServer(t, { pushDelayMs: 5 });
    const [group, own] = [server.own('group'), server.own('own')];
    await createGroup(server, group, { historyBufferSize: 2000, liveBufferSize: 2000 });
    const isOther = (stream: string) => !stream.startsWith(own);
    const acknowledgeOthers = ({ event }: { event?: { streamId: string } }) => isOther(event?.streamId ?? '');
    const early = await server.append(own, 3);
    await server.append(server.own('other'), 30);
    const consumer = await RulesConsumer.connect(t, server, group, acknowledgeOthers);
    const ids = [...early, ...(await appendAmongOthers(server, own))];
    await consumer.has(ids.length * 2);
    await setTimeout(accelerated(3500));
    await server.restartGroups();
    const later = await RulesConsumer.connect(t, server, group, acknowledgeOthers);
    await later.has(ids.length);
    await setTimeout(accelerated(3000));
    t.deepEqual(later.ids.filter((id) => ids.includes(id)).sort(), ids.toSorted());
  });
}

/** Appends a hundred events, and as many to another stream at the same time. */
async function appendAmongOthers(server: RulesServer, own: string): Promise<string[]> {
  const ids: string[] = [];
  const writing = async (stream: string, into: string[]) => {
    for (let count = 0; count < 25; count += 1) into.push(...(await server.append(stream)));
  };
  await Promise.all(
    [0, 1, 2, 3].flatMap((number) => [
      writing(`${own}-${number}`, ids),
      writing(server.own(`other-${number}`), []),
    ]),
  );
  return ids;
}

async function endOf(server: RulesServer): Promise<bigint> {
  const last = await lastPosition(server);
  return typeof last === 'string' ? 0n : last.commit;
}
