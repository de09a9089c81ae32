import { setTimeout } from 'node:timers/promises';
import { EventStoreDBClient, NotLeaderError } from '@eventstore/db-client';
import type { ExecutionContext } from 'ava';
import type { EventStoreDbDouble } from '../../../testing/eventstoredb-double/eventstoredb-double.ts';
import { untilAppended } from './appends.ts';
import { createGroup, RulesConsumer } from './consumer.ts';
import { callOptions, notes, type RulesServer, rule, rulesDouble } from './server.ts';

const SOON = { electionMs: 50, staleMs: 300 };

/** Rules about changes of the leader, which no client can cause. */
export function clusterRules(): void {
  rule('double', 'when the leader is killed another node leads within 0.3 to 4 seconds', async (t) => {
    const { server, double } = await rulesDouble(t, { nodes: 3 });
    await server.append(server.own('stream'));
    const former = double.cluster.leader;
    const begun = performance.now();
    const elected = double.clusterFaults.killLeader();
    await untilAppended(() => server.append(server.own('stream')));
    const seconds = (performance.now() - begun) / 1000;
    await elected;
    t.true(seconds > 0.25 && seconds < 8, `${seconds} s`); // the client looks for the leader ten times, then from the beginning
    t.not(double.cluster.leader, former);
  });

  rule('double', 'with one of three nodes nothing leads until another is back', async (t) => {
    const { server, double } = await rulesDouble(t, { nodes: 3, times: SOON });
    const [id] = await server.append(server.own('stream'));
    await double.clusterFaults.killLeader();
    await double.clusterFaults.killLeader();
    t.is(double.cluster.leader, undefined);
    await double.listen();
    await untilAppended(() => server.append(server.own('stream'), 1, 0n));
    t.is((await untilAppended(() => idsOf(server.another(), server)))[0], id);
  });

  rule('double', 'a node that does not lead refuses calls for the leader, and names it', async (t) => {
    const { server, double } = await rulesDouble(t, { nodes: 3 });
    const [leader = 0, follower = 0] = double.ports;
    await server.append(server.own('stream'));
    const error = await t.throwsAsync(idsOf(clientAt(t, follower), server), { instanceOf: NotLeaderError });
    t.is(error.leader.port, leader);
    const { requiresLeader: _, ...anyNode } = callOptions(server.connectionString);
    t.is((await idsOf(clientAt(t, follower), server, anyNode)).length, 1, 'other clients read there');
    const consumer = clientAt(t, follower).subscribeToPersistentSubscriptionToAll('group', anyNode);
    const refused = await new Promise((resolve) => consumer.once('error', resolve));
    t.true(refused instanceof NotLeaderError, 'a group needs the leader');
  });

  rule('double', 'the client library finds the leader from the address of a follower alone', async (t) => {
    const { server, double } = await rulesDouble(t, { nodes: 3 });
    const [, follower = 0] = double.ports;
    for (const preference of ['', '&nodePreference=follower']) {
      const client = clientAt(t, follower, preference);
      const append = () =>
        client.appendToStream(server.own(`stream${preference}`), notes(1), {
          ...server.options,
          expectedRevision: 'no_stream',
        });
      t.true((await untilAppended(append)).success);
    }
  });

  rule(
    'double',
    'a partitioned leader answers leader reads with old data until it detects the partition',
    async (t) => {
      const { server, double } = await rulesDouble(t, { nodes: 3, times: SOON });
      const [former = 0, next = 0] = double.ports;
      const [old, other] = [clientAt(t, former), clientAt(t, next)];
      const early = await server.append(server.own('stream'));
      await idsOf(old, server);
      const healed = double.clusterFaults.partition();
      const late = notes(21);
      const options = { ...server.options, expectedRevision: 0n };
      await untilAppended(() => other.appendToStream(server.own('stream'), late, options));
      const begun = performance.now();
      t.deepEqual(await idsOf(old, server), early, 'a lag of 21 events');
      t.is((await idsOf(other, server)).length, 22);
      while ((await idsOf(old, server).catch(() => early)).length < 22) await setTimeout(10);
      const noticed = performance.now() - begun;
      t.true(noticed > 150 && noticed < 2000, `${noticed} ms`);
      await healed;
    },
  );

  rule(
    'double',
    'a partitioned leader refuses appends after events that its reads do not return',
    async (t) => {
      const { server, double } = await rulesDouble(t, { nodes: 3, times: SOON });
      const old = clientAt(t, double.port);
      await server.append(server.own('stream'));
      await idsOf(old, server);
      const healed = double.clusterFaults.partition();
      const [lost, refused] = [notes(1), notes(1)];
      const options = { ...server.options, expectedRevision: 0n };
      const unanswered = old
        .appendToStream(server.own('stream'), lost, options)
        .catch((error: Error) => error);
      await setTimeout(30);
      const error = await t.throwsAsync<Error & { type?: string; actualVersion?: bigint }>(
        old.appendToStream(server.own('stream'), refused, options),
      );
      t.deepEqual([error?.type, error?.actualVersion], ['wrong-expected-version', 1n]);
      t.is((await idsOf(old, server)).length, 1, 'no read returns it');
      await healed;
      t.true((await unanswered) instanceof Error, 'the accepted events are truncated');
      t.is((await untilAppended(() => idsOf(server.another(), server))).length, 1);
    },
  );

  rule('double', 'a leader that resumes from a pause answers leader reads with old data', async (t) => {
    const { server, double } = await rulesDouble(t, { nodes: 3, times: { electionMs: 100, staleMs: 470 } });
    const [former = 0, next = 0] = double.ports;
    const [old, other] = [clientAt(t, former), clientAt(t, next)];
    const early = await server.append(server.own('stream'));
    await idsOf(old, server);
    const healed = double.clusterFaults.pauseLeader({ ms: 400 });
    const begun = performance.now();
    const reading = idsOf(old, server);
    const options = { ...server.options, expectedRevision: 0n };
    await untilAppended(() => other.appendToStream(server.own('stream'), notes(3), options));
    t.deepEqual(await reading, early);
    t.true(performance.now() - begun >= 350, 'it answered after it resumed');
    t.is((await idsOf(other, server)).length, 4);
    await healed;
  });

  rule(
    'double',
    'a new leader pushes again what was done since the last checkpoint, to any consumer',
    async (t) => {
      const { server, double } = await rulesDouble(t, { nodes: 3, times: SOON, tickMs: 60_000 });
      const group = server.own('group');
      await createGroup(server, group);
      const [one, other] = [await connect(t, server, group, double), await connect(t, server, group, double)];
      const ids = await server.append(server.own('stream'), 40);
      while (one.received.length + other.received.length < 40) await setTimeout(10);
      await setTimeout(100); // acknowledged
      await double.clusterFaults.killLeader();
      const later = [await connect(t, server, group, double), await connect(t, server, group, double)];
      while (later.reduce((sum, { received }) => sum + received.length, 0) < 40) await setTimeout(10);
      t.deepEqual(later.flatMap((consumer) => consumer.ids).toSorted(), ids.toSorted());
      t.notDeepEqual(
        later.map((consumer) => consumer.ids),
        [one.ids, other.ids],
      );
    },
  );

  for (const [what, prefix, lost] of [
    ['without a filter nothing', undefined, 0],
    ['with a filter every event', 'own', 20],
  ] as const) {
    rule('double', `${what} is lost when the leader is killed while no consumer is connected`, async (t) => {
      const { server, double } = await rulesDouble(t, { nodes: 3, times: SOON });
      const group = server.own('group');
      await createGroup(server, group, {}, prefix && server.own(prefix));
      await setTimeout(300);
      const ids = await server.append(server.own('own'), 20);
      await server.append(server.own('other'), 20);
      await setTimeout(500);
      await double.clusterFaults.killLeader();
      const consumer = await connect(t, server, group, double);
      await setTimeout(500);
      t.is(ids.filter((id) => !consumer.ids.includes(id)).length, lost);
    });
  }
}

export function clientAt(t: ExecutionContext, port: number, more = ''): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false${more}`);
  t.teardown(() => client.dispose());
  return client;
}

export async function idsOf(
  client: EventStoreDBClient,
  server: RulesServer,
  options: object = server.options,
): Promise<string[]> {
  const ids: string[] = [];
  for await (const { event } of client.readStream(server.own('stream'), options))
    if (event) ids.push(event.id);
  return ids;
}

/** Tries until a node leads. */
async function connect(
  t: ExecutionContext,
  server: RulesServer,
  group: string,
  double: EventStoreDbDouble,
): Promise<RulesConsumer> {
  while (!double.cluster.leader) await setTimeout(10);
  return untilAppended(() => RulesConsumer.connect(t, server, group));
}
