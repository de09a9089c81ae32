import { setTimeout } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { checkpointAt, createGroup, PINNED, RulesConsumer } from './consumer.ts';
import { accelerated, type RulesServer, rule, rulesServer } from './server.ts';

const STREAMS = 12;

/** Rules about groups whose streams belong to one consumer each. */
export function pinnedRules(): void {
  rule(
    'both',
    'PINNED: the events of a stream go to one consumer as long as the consumers stay the same',
    async (t) => {
      const server = await rulesServer(t);
      const group = server.own('group');
      await createGroup(server, group, { consumerStrategyName: PINNED });
      const consumers = [
        await RulesConsumer.connect(t, server, group),
        await RulesConsumer.connect(t, server, group),
      ];
      for (let round = 0; round < 5; round += 1) await appendToEach(server);
      while (received(consumers) < 5 * STREAMS) await setTimeout(10);
      const [one, other] = consumers.map(({ streams }) => streams);
      t.deepEqual(one?.intersection(other ?? new Set()), new Set());
      t.true((one?.size ?? 0) > 0 && (other?.size ?? 0) > 0);
    },
  );

  rule(
    'both',
    'PINNED: each consumer that comes or goes moves streams, also with events in work',
    async (t) => {
      const server = await rulesServer(t);
      const group = server.own('group');
      await createGroup(server, group, { consumerStrategyName: PINNED });
      const hold = () => false;
      const consumers = [
        await RulesConsumer.connect(t, server, group, hold),
        await RulesConsumer.connect(t, server, group, hold),
      ];
      for (let round = 1; round <= 6; round += 1) {
        await appendToEach(server);
        while (received(consumers) < round * STREAMS) await setTimeout(10);
        const idle = await RulesConsumer.connect(t, server, group, hold);
        await setTimeout(accelerated(500));
        await idle.disconnect();
        await setTimeout(accelerated(500));
      }
      const [one, other] = consumers.map(({ streams }) => streams);
      const both = one?.intersection(other ?? new Set()) ?? new Set();
      t.true(both.size > 0, 'one idle consumer made 6 of 8 streams go to both');
    },
  );

  rule(
    'both',
    'PINNED counts events that wait for a full consumer: since 24.10.14, 26.0.3, 26.1.0',
    async (t) => {
      const server = await rulesServer(t);
      const lost = await lostBehindAFullConsumer(t, server);
      t.is(lost.length === 0, isFixed(await versionOf(server)), `${lost.length} lost`);
    },
  );

  for (const [version, isSafe] of VERSIONS) {
    rule(
      'double',
      `PINNED on ${version} ${isSafe ? 'counts' : 'does not count'} events that wait for a full consumer`,
      async (t) => {
        const server = await rulesServer(t, { version });
        t.is(await versionOf(server), version);
        const lost = await lostBehindAFullConsumer(t, server);
        t.is(lost.length === 0, isSafe, `${lost.length} lost`);
      },
    );
  }
}

const VERSIONS = [
  ['24.10.13', false],
  ['24.10.14', true],
  ['25.1.0', false],
  ['26.0.2', false],
  ['26.0.3', true],
  ['26.1.0', true],
] as const;

function isFixed(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const number = (major * 1000 + minor) * 1000 + patch;
  return major === 24 ? number >= 24_010_014 : number >= 26_000_003;
}

/**
 * Appends one event to each stream. One consumer has room for one of them, and is done with the first before the group
 * is loaded again. Returns the events that waited for it and do not come again.
 */
async function lostBehindAFullConsumer(t: ExecutionContext, server: RulesServer): Promise<string[]> {
  const group = server.own('group');
  await createGroup(server, group, { consumerStrategyName: PINNED });
  const narrow = await RulesConsumer.connect(t, server, group, () => false, 1);
  const wide = await RulesConsumer.connect(t, server, group);
  const ids = await appendToEach(server);
  await narrow.has(1);
  await setTimeout(accelerated(2000));
  const waiting = ids.filter((id) => ![...narrow.ids, ...wide.ids].includes(id));
  await narrow.acknowledge(narrow.ids.slice(0, 1));
  await narrow.has(2);
  await checkpointAt(server, group, 0n);
  await setTimeout(accelerated(4500));
  await server.restartGroups();
  const later = await RulesConsumer.connect(t, server, group);
  await setTimeout(accelerated(4000));
  return waiting.filter((id) => !later.ids.includes(id));
}

async function appendToEach(server: RulesServer): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < STREAMS; number += 1)
    ids.push(...(await server.append(server.own(`s${number}`))));
  return ids;
}

function received(consumers: readonly RulesConsumer[]): number {
  return consumers.reduce((sum, consumer) => sum + consumer.received.length, 0);
}

/** Returns the version of the server, which the client library knows but does not show. */
async function versionOf({ client }: RulesServer): Promise<string> {
  const internals = client as unknown as {
    readonly capabilities: Promise<{ readonly serverVersion: string }>;
  };
  return (await internals.capabilities).serverVersion;
}
