import { setTimeout as pause } from 'node:timers/promises';
import { type ReadPosition, START, streamNameFilter } from '@eventstore/db-client';
import { OperationsClient } from '@eventstore/db-client/generated/operations_grpc_pb.js';
import operationsMessages from '@eventstore/db-client/generated/operations_pb.js';
import { scavenge } from '../../../testing/eventstoredb-double/storage/scavenge.ts';
import { createGroup, lastPosition, RulesConsumer } from './consumer.ts';
import { grpcClient, readAll, rule, rulesDouble, rulesServer } from './server.ts';

const HIGHEST = 2n ** 64n - 1n;

/** Rules about reads and catch-up subscriptions. */
export function readingRules(): void {
  rule(
    'both',
    'checkpoints of a filtered subscription are before every later event, and are real positions',
    async (t) => {
      const server = await rulesServer(t);
      const own = server.own('own');
      const subscription = server.client.subscribeToAll({
        ...server.options,
        fromPosition: await lastPosition(server),
        filter: streamNameFilter({
          prefixes: [own],
          maxSearchWindow: 4,
          checkpointInterval: 1,
          checkpointReached: async (_, position) => void seen.push({ checkpoint: position.commit }),
        }),
      });
      const seen: { readonly checkpoint?: bigint; readonly event?: bigint }[] = [];
      const events = () => seen.filter(({ event }) => event !== undefined);
      subscription.on('data', ({ event }) => seen.push({ event: event?.position.commit ?? 0n }));
      t.teardown(() => subscription.unsubscribe());
      for (let round = 0; round < 40; round += 1) {
        await server.append(own, 1 + (round % 3));
        await server.append(server.own('other'), round % 7 || 1);
      }
      while (events().length < 79) await pause(10);
      let checkpoint = -1n;
      for (const one of seen) {
        if (one.event !== undefined) t.true(one.event > checkpoint, `${one.event} after ${checkpoint}`);
        checkpoint = one.checkpoint ?? checkpoint;
        t.true(checkpoint < HIGHEST);
      }
      t.true(seen.some((one) => one.checkpoint !== undefined));
    },
  );

  rule(
    'both',
    'a subscription begun 500 times under a writer misses nothing and repeats nothing',
    async (t) => {
      const server = await rulesServer(t);
      const own = server.own('own');
      let from = await lastPosition(server);
      const [written, received]: [string[], string[]] = [[], []];
      const end = new AbortController();
      const writing = (async () => {
        while (!end.signal.aborted) written.push(...(await server.append(own, 3)));
      })();
      const filter = streamNameFilter({ prefixes: [own] });
      for (let times = 0; times < 500; times += 1) {
        const subscription = server.client.subscribeToAll({ ...server.options, fromPosition: from, filter });
        for await (const { event } of subscription) {
          if (!event) continue;
          received.push(event.id);
          from = event.position;
          break;
        }
        await subscription.unsubscribe();
      }
      end.abort();
      await writing;
      t.is(received.length, 500);
      t.deepEqual(received, written.slice(0, 500));
    },
  );

  rule(
    'double',
    'reads, subscriptions and new groups continue after positions with scavenged events',
    async (t) => {
      const { server, double } = await rulesDouble(t);
      const [gone, kept] = [server.own('gone'), server.own('kept')];
      await server.append(gone, 10);
      const positions = (await readAll(server, gone)).map(({ position }) => position);
      await server.client.deleteStream(gone, server.options);
      const ids = await server.append(kept, 3);
      t.true(scavenge(double.log, 500n) > 0);
      const fromPosition: ReadPosition = positions[2] ?? START;
      t.false((await readAll(server)).some(({ position }) => position.commit === positions[2]?.commit));
      const { client, options } = server;
      const read: string[] = [];
      for await (const { event } of client.readAll({ ...options, fromPosition })) {
        if (event?.streamId === kept) read.push(event.id);
      }
      t.deepEqual(read, ids);
      const subscribed: string[] = [];
      for await (const { event } of client.subscribeToAll({ ...options, fromPosition })) {
        if (event?.streamId === kept) subscribed.push(event.id);
        if (subscribed.length === 3) break;
      }
      t.deepEqual(subscribed, ids);
      await createGroup(server, server.own('group'), { startFrom: fromPosition });
      const consumer = await RulesConsumer.connect(t, server, server.own('group'));
      while (consumer.ids.filter((id) => ids.includes(id)).length < 3) await new Promise(setImmediate);
      t.deepEqual(consumer.ids.slice(-3), ids);
    },
  );

  rule('both', 'a scavenge removes nothing below the size of a chunk', async (t) => {
    const server = await rulesServer(t);
    const stream = server.own('stream');
    const ids = await server.append(stream, 10);
    await server.client.deleteStream(stream, server.options);
    const operations = await grpcClient(server, OperationsClient);
    const options = new operationsMessages.StartScavengeReq.Options().setThreadCount(1);
    await new Promise<void>((resolve, reject) =>
      operations.client.startScavenge(
        new operationsMessages.StartScavengeReq().setOptions(options),
        ...operations.call,
        (error) => (error ? reject(error) : resolve()),
      ),
    );
    await pause(1000);
    const left = (await readAll(server)).filter(({ streamId }) => streamId === stream);
    t.deepEqual(
      left.map(({ id }) => id),
      ids,
    );
  });

  rule('both', 'readAll of the client takes no filter', async (t) => {
    const server = await rulesServer(t);
    const fromPosition = await lastPosition(server);
    await server.append(server.own('own'));
    await server.append(server.own('other'));
    const filter = streamNameFilter({ prefixes: [server.own('own')] });
    const options = { ...server.options, fromPosition, filter };
    const found: string[] = [];
    for await (const { event } of server.client.readAll(options)) {
      if (event?.streamId.startsWith(server.own(''))) found.push(event.streamId);
    }
    t.deepEqual(found.slice(-2), [server.own('own'), server.own('other')]);
  });

  rule('both', 'checkpoints of groups are no part of $all', async (t) => {
    const server = await rulesServer(t);
    const group = server.own('group');
    await createGroup(server, group);
    const consumer = await RulesConsumer.connect(t, server, group);
    await server.append(server.own('own'), 20);
    await consumer.has(20);
    const stream = `$persistentsubscription-$all::${group}-checkpoint`;
    while ((await readAll(server, stream).catch(() => [])).length === 0) await new Promise(setImmediate);
    t.is((await readAll(server)).filter(({ streamId }) => streamId === stream).length, 0);
  });
}
