import { binaryEvent, type EventData } from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import type { ExecutionContext } from 'ava';
import { notes, type RulesServer, readAll, rule, rulesDouble, rulesServer } from './server.ts';

/** Bytes of data and metadata that one event may have. */
const LARGEST = 1_048_574;
const BACKWARDS = { direction: 'backwards', fromRevision: 'end', maxCount: 1 } as const;

/** Rules about appends: which are answered like an earlier one, and which are refused. */
export function appendRules(): void {
  rule('both', 'the same ids at the same expected revision get the first answer again', async (t) => {
    const server = await rulesServer(t);
    const [stream, events] = [server.own('stream'), notes(3)];
    const first = await append(server, stream, events, 'no_stream');
    t.deepEqual(await append(server, stream, events, 'no_stream'), first);
    await append(server, stream, notes(5), 2n);
    await server.append(server.own('other'), 5);
    t.deepEqual(await append(server, stream, events, 'no_stream'), first, 'behind others');
    await server.fill(stream, 100_000);
    t.deepEqual(await append(server, stream, events, 'no_stream'), first, 'after 100,000 others');
    const last = server.client.readStream(stream, { ...server.options, ...BACKWARDS });
    for await (const { event } of last) t.is(event?.revision, 100_007n);
  });

  rule('double', 'the first answer is given again after a restart, and by the next leader', async (t) => {
    const { server, double } = await rulesDouble(t, { nodes: 3, times: { electionMs: 50 } });
    const [stream, events] = [server.own('stream'), notes(3)];
    const first = await append(server, stream, events, 'no_stream');
    await append(server, stream, notes(1), 2n);
    await double.restart();
    t.deepEqual(await untilAppended(() => append(server, stream, events, 'no_stream')), first);
    await double.clusterFaults.killLeader();
    t.deepEqual(await untilAppended(() => append(server, stream, events, 'no_stream')), first);
  });

  rule('both', 'a partly known list of ids is refused; a shorter known list succeeds', async (t) => {
    const server = await rulesServer(t);
    const [stream, events] = [server.own('stream'), notes(3)];
    await append(server, stream, events.slice(0, 2), 'no_stream');
    await refused(t, append(server, stream, events, 'no_stream'), 1n);
    await append(server, stream, events.slice(2), 1n);
    await refused(t, append(server, stream, [...events, ...notes(1)], 'no_stream'), 2n);
    t.is((await append(server, stream, events.slice(0, 2), 'no_stream')).nextExpectedRevision, 1n);
    t.is((await readAll(server, stream)).length, 3);
  });

  rule('both', 'the same ids at another expected revision are appended again', async (t) => {
    const server = await rulesServer(t);
    const [stream, events] = [server.own('stream'), notes(2)];
    await append(server, stream, events, 'no_stream');
    t.is((await append(server, stream, events, 1n)).nextExpectedRevision, 3n);
    const ids = (await readAll(server, stream)).map(({ id }) => id);
    t.deepEqual(
      ids,
      [...events, ...events].map(({ id }) => id),
    );
  });

  rule('both', 'the position of an append of three events is that of the third', async (t) => {
    const server = await rulesServer(t);
    const { position } = await append(server, server.own('stream'), notes(3), 'no_stream');
    const third = (await readAll(server, server.own('stream'))).at(-1);
    t.deepEqual(position, third?.position);
  });

  rule(
    'both',
    'on a deleted stream the ids of deleted events succeed with no_stream, and store nothing',
    async (t) => {
      const server = await rulesServer(t);
      const [stream, events] = [server.own('stream'), notes(3)];
      const first = await append(server, stream, events, 'no_stream');
      await server.client.deleteStream(stream, server.options);
      t.is(
        (await append(server, stream, events, 'no_stream')).nextExpectedRevision,
        first.nextExpectedRevision,
      );
      await t.throwsAsync(readAll(server, stream), { message: /not found/ });
      t.is((await append(server, stream, notes(1), 'no_stream')).nextExpectedRevision, 3n);
      t.is((await readAll(server, stream)).length, 1, 'other ids restart it');
    },
  );

  rule(
    'both',
    'an event with more than 1,048,574 bytes of data and metadata is refused at once',
    async (t) => {
      const server = await rulesServer(t);
      const fits = binaryEvent({ type: 'x', data: Buffer.alloc(LARGEST - 10), metadata: Buffer.alloc(10) });
      t.true((await append(server, server.own('fits'), [fits], 'no_stream')).success);
      const event = binaryEvent({ type: 'x', data: Buffer.alloc(LARGEST - 10), metadata: Buffer.alloc(11) });
      const begun = performance.now();
      await t.throwsAsync(append(server, server.own('large'), [event], 'no_stream'), {
        message: /INVALID_ARGUMENT/,
      });
      t.true(performance.now() - begun < 2000);
      await t.throwsAsync(readAll(server, server.own('large')), { message: /not found/ });
    },
  );

  rule('both', 'an event over 16 MiB is refused by the channel with gRPC status 8', async (t) => {
    const server = await rulesServer(t);
    const event = binaryEvent({ type: 'x', data: Buffer.alloc(17 * 1024 * 1024) });
    const error = await t.throwsAsync<Error & { code?: number }>(
      append(server, server.own('large'), [event], 'no_stream'),
    );
    t.is(error?.code, status.RESOURCE_EXHAUSTED);
  });
}

export function append(
  { client, options }: RulesServer,
  stream: string,
  events: readonly EventData[],
  expectedRevision: bigint | 'no_stream' | 'any',
) {
  return client.appendToStream(stream, [...events], { ...options, expectedRevision });
}

/** Tries again while no node leads. */
export async function untilAppended<T>(work: () => Promise<T>): Promise<T> {
  while (true) {
    try {
      return await work();
    } catch (error) {
      if ((error as { type?: string }).type === 'wrong-expected-version') throw error;
    }
  }
}

export async function refused(
  t: ExecutionContext,
  appending: Promise<unknown>,
  actual: bigint,
): Promise<void> {
  const error = await t.throwsAsync<Error & { type?: string; actualVersion?: bigint }>(appending);
  t.is(error?.type, 'wrong-expected-version');
  t.is(error?.actualVersion, actual);
}
