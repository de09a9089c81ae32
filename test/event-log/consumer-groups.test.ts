import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { CatchUpDeliveries } from '../../src/event-log/consumer-groups/catch-up-deliveries.ts';
import {
  CRASHES_BEFORE_ISOLATION,
  type Deliveries,
  type Delivery,
  type ReceiveOptions,
} from '../../src/event-log/consumer-groups/deliveries.ts';
import { lagAfter, MAX_COUNTED } from '../../src/event-log/consumer-groups/lag.ts';
import type { EventLog, Position, ReadAllOptions, RecordedEvent } from '../../src/event-log/event-log.ts';
import { EventStoreDbDeliveries } from '../../src/event-log/eventstoredb/consumer-groups/eventstoredb-deliveries.ts';
import { clock } from '../../src/tools/clock.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { EventStoreDbDouble } from '../../testing/eventstoredb-double/eventstoredb-double.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { eventually, logOnDouble } from './log-on-double.ts';

const GROUP = 'checker';
const PREFIX = 'deposit-';

type Subject = {
  readonly log: EventLog;
  readonly open: () => Deliveries & Partial<AsyncDisposable>;
  /** Whether others take over from a receiver that is ended; one that is not ended has crashed in effect. */
  readonly isShared: boolean;
};

const SUBJECTS = {
  embedded: async (t: ExecutionContext): Promise<Subject> => {
    const [folder, log] = [await temporaryFolder(t), new MemoryEventLog()];
    return { log, open: () => new CatchUpDeliveries(log, folder), isShared: false };
  },
  EventStoreDB: async (t: ExecutionContext): Promise<Subject> => {
    const { log, double } = await logOnDouble(t, { callTimeout: 10_000, retryTimeout: 30_000 });
    const open = () => {
      const { connectionString } = double;
      const deliveries = new EventStoreDbDeliveries(log, {
        connectionString,
        receivers: [GROUP],
        linger: 100,
      });
      t.teardown(() => deliveries[Symbol.asyncDispose]());
      return deliveries;
    };
    return { log, open, isShared: true };
  },
};

for (const [engine, make] of Object.entries(SUBJECTS)) {
  test(`${engine}: the events not acknowledged by a group are reported to its receivers and to observers`, async (t) => {
    const { log, open } = await make(t);
    const [receiving, looking] = [open(), open()];
    t.deepEqual(await looking.status(GROUP, PREFIX), {
      position: undefined,
      waiting: 0,
      oldest: undefined,
    });

    const positions = await appendEach(log, ['deposit-1', 'client-alice', 'deposit-2', 'deposit-3']);
    const unheard = { position: undefined, waiting: 3, oldest: timeOf('deposit-1') };
    t.deepEqual(await looking.status(GROUP, PREFIX), unheard, 'before the group was ever received');

    const { received, stop } = receive(receiving);
    await eventually(() => received.length === 3);
    t.like(await receiving.status(GROUP, PREFIX), { waiting: 3, oldest: timeOf('deposit-1') });

    await received[0]?.acknowledge();
    await eventually(async () => (await receiving.status(GROUP, PREFIX)).waiting === 2);
    t.is((await receiving.status(GROUP, PREFIX)).oldest, timeOf('deposit-2'));

    for (const delivery of received.slice(1)) await delivery.acknowledge();
    await eventually(async () => {
      const { waiting, oldest } = await receiving.status(GROUP, PREFIX);
      return waiting === 0 && oldest === undefined;
    });

    await stop();
    await eventually(async () => (await looking.status(GROUP, PREFIX)).waiting === 0);
    // A server writes its checkpoint every two seconds.
    await eventually(
      async () => ((await looking.status(GROUP, PREFIX)).position ?? '') >= (positions[3] ?? ''),
    );
    t.is((await looking.status(GROUP, PREFIX)).waiting, 0);
  });
}

for (const [engine, make] of Object.entries(SUBJECTS)) {
  test(`${engine}: started work counts as an attempt, waiting deliveries do not`, async (t) => {
    const { log, open, isShared } = await make(t);
    await appendEach(log, ['deposit-1', 'deposit-2', 'deposit-3']);
    for (let deaths = 0; deaths < CRASHES_BEFORE_ISOLATION; deaths += 1) {
      const deliveries = open();
      const { received, stop } = receive(deliveries);
      await eventually(() => received.length === 3);
      t.truthy(await received[0]?.begin('beside others'));
      if (isShared) await stop();
      await deliveries[Symbol.asyncDispose]?.();
    }

    const { received, stop } = receive(open());
    await eventually(() => received.length >= 1);
    t.is(received[0]?.event.stream, 'deposit-1');
    t.is(await received[0]?.begin('beside others'), undefined, 'it may be the poison event');
    const count = isShared ? CRASHES_BEFORE_ISOLATION + 1 : 1;
    t.is(await received[0]?.begin('alone'), count);
    t.is(
      await received[0]?.begin('alone'),
      count,
      'a delivery that begins again after a failure is counted once',
    );
    await received[0]?.acknowledge();
    await eventually(() => received.length >= 2);
    t.is(received[1]?.event.stream, 'deposit-2');
    t.is(await received[1]?.begin(isShared ? 'beside others' : 'alone'), 1);
    await stop();
  });
}

for (const [engine, make] of Object.entries(SUBJECTS)) {
  test(`${engine}: an event that does not concern the group counts as acknowledged`, async (t) => {
    const { log, open } = await make(t);
    const streams = ['deposit-1', 'deposit-2', 'deposit-3', 'deposit-4'];
    const positions = await appendEach(log, streams);
    const deliveries = open();
    const concerns = ({ stream }: RecordedEvent) => stream === 'deposit-2';
    const { received, stop } = receive(deliveries, { concerns });
    await eventually(() => received.length === 1);
    // An event in flight keeps those after it from being acknowledged for good.
    await eventually(async () => (await deliveries.status(GROUP, PREFIX)).oldest === timeOf('deposit-2'));
    await received[0]?.acknowledge();
    await eventually(async () => (await deliveries.status(GROUP, PREFIX)).waiting === 0);
    await stop();
    const { position = '' } = await deliveries.status(GROUP, PREFIX);
    t.true(
      position >= (positions.at(-1) ?? ''),
      'a server moves its checkpoint over records of its own, too',
    );
    t.is(received.length, 1);
  });
}

for (const [engine, make] of Object.entries(SUBJECTS)) {
  test(`${engine}: a group that has received before resumes there, whatever its new start position`, async (t) => {
    const { log, open, isShared } = await make(t);
    const [, begin, , later] = await appendEach(log, ['deposit-1', 'deposit-2', 'deposit-3', 'deposit-4']);
    const receivedFrom = async (after: Position | undefined, count: number) => {
      const deliveries = open();
      const { received, stop } = receive(deliveries, { start: async () => after });
      await eventually(() => received.length === count);
      await received.at(-1)?.acknowledge();
      await stop();
      await deliveries[Symbol.asyncDispose]?.();
      return received.map(({ event }) => event.stream);
    };
    const first = isShared ? ['deposit-2'] : []; // a group on a server begins at a position, not after it
    t.deepEqual(await receivedFrom(begin, first.length + 2), [...first, 'deposit-3', 'deposit-4']);
    t.deepEqual(
      await receivedFrom(later, first.length + 1),
      [...first, 'deposit-3'],
      'it was not acknowledged',
    );
    if (isShared) return; // deposit-2, with which the group began, was not acknowledged
    const looking = open();
    await eventually(async () => (await looking.status(GROUP, PREFIX)).waiting === 0);
  });
}

test('an event that was in flight at the last stop and no longer concerns the group counts as acknowledged', async (t) => {
  const folder = await temporaryFolder(t);
  await using log = new MemoryEventLog();
  const [, last] = await appendEach(log, ['deposit-1', 'deposit-2']);
  const { received, stop } = receive(new CatchUpDeliveries(log, folder));
  await eventually(() => received.length === 2);
  await received[1]?.acknowledge();
  await stop();

  const restarted = new CatchUpDeliveries(log, folder);
  const again = receive(restarted, { concerns: () => false });
  await eventually(async () => (await restarted.status(GROUP, PREFIX)).position === last);
  t.like(await restarted.status(GROUP, PREFIX), { waiting: 0, oldest: undefined });
  await again.stop();
});

test('a stored position whose event differs in the log is from another log', async (t) => {
  const folder = await temporaryFolder(t);
  const acknowledged = async (log: EventLog): Promise<string[]> => {
    const stop = new AbortController();
    const streams: string[] = [];
    for await (const delivery of new CatchUpDeliveries(log, folder).receive(GROUP, PREFIX, stop.signal)) {
      streams.push(delivery.event.stream);
      await delivery.acknowledge();
      if (delivery.event.stream === 'deposit-2') stop.abort();
    }
    return streams;
  };
  await using log = new MemoryEventLog();
  await appendEach(log, ['deposit-1', 'deposit-2']);
  t.deepEqual(await acknowledged(log), ['deposit-1', 'deposit-2']);
  const file = path.join(folder, `${GROUP}.json`);
  const saved = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  t.like(saved['seen'], { stream: 'deposit-2', revision: 0, position: saved['last'] });

  // The same positions and names, but other events: a log that diverged after a restore.
  await using other = new MemoryEventLog();
  await appendEach(other, ['deposit-1', 'deposit-2']);
  t.is((await new CatchUpDeliveries(other, folder).status(GROUP, PREFIX)).waiting, 2);
  const { seen: _, ...older } = saved;
  await writeFile(file, JSON.stringify(older));
  t.is((await new CatchUpDeliveries(other, folder).status(GROUP, PREFIX)).waiting, 0, 'of an older release');
  await writeFile(file, JSON.stringify(saved));
  t.deepEqual(await acknowledged(other), ['deposit-1', 'deposit-2']);
});

test('events appended after a restore are delivered, also at positions the group had passed', async (t) => {
  const folder = await temporaryFolder(t);
  const first = { id: crypto.randomUUID(), type: 'Happened', data: {}, metadata: {} };
  await using log = new MemoryEventLog();
  await log.append('deposit-1', 'none', [first]);
  const [passed] = await appendEach(log, ['client-alice']);
  const deliveries = new CatchUpDeliveries(log, folder);
  const { received, stop } = receive(deliveries);
  await eventually(() => received.length === 1);
  await received[0]?.acknowledge();
  await eventually(async () => (await deliveries.status(GROUP, PREFIX)).position === passed);
  await stop();

  await using restored = new MemoryEventLog();
  await restored.append('deposit-1', 'none', [first]);
  t.deepEqual(await appendEach(restored, ['deposit-2']), [passed]);
  const again = receive(new CatchUpDeliveries(restored, folder));
  await eventually(() => again.received.length === 1);
  t.is(again.received[0]?.event.stream, 'deposit-2');
  await again.stop();
});

test('a stored position beyond the end of the log is from another log', async (t) => {
  const folder = await temporaryFolder(t);
  await using log = new MemoryEventLog();
  await appendEach(log, ['deposit-1', 'deposit-2']);
  const deliveries = new CatchUpDeliveries(log, folder);
  const stop = new AbortController();
  for await (const delivery of deliveries.receive(GROUP, PREFIX, stop.signal)) {
    await delivery.acknowledge();
    if (delivery.event.stream === 'deposit-2') stop.abort();
  }
  t.like(await deliveries.status(GROUP, PREFIX), { waiting: 0, oldest: undefined });
  await using other = new MemoryEventLog();
  await appendEach(other, ['deposit-7']);
  const onOther = await new CatchUpDeliveries(other, folder).status(GROUP, PREFIX);
  t.deepEqual(onOther, { position: undefined, waiting: 1, oldest: timeOf('deposit-7') });

  const { received, stop: stopOther } = receive(new CatchUpDeliveries(other, folder));
  await eventually(() => received.length === 1);
  await stopOther(); // like a process that ends before any work is done
  await appendEach(other, ['deposit-8']);
  const grown = await new CatchUpDeliveries(other, folder).status(GROUP, PREFIX);
  t.like(grown, { position: undefined, waiting: 2 }, 'nor when that has grown beyond it');
});

test('waiting events are counted up to a thousand', async (t) => {
  await using log = new MemoryEventLog();
  const streams = Array.from({ length: MAX_COUNTED + 5 }, (_, index) => `deposit-${index}`);
  const positions = await appendEach(log, streams);
  t.deepEqual(await lagAfter(log, undefined, PREFIX), {
    count: MAX_COUNTED,
    oldest: timeOf('deposit-0'),
  });
  t.deepEqual(await lagAfter(log, positions[999], PREFIX), { count: 5, oldest: timeOf('deposit-1000') });
  t.deepEqual(await lagAfter(log, undefined, 'client-'), { count: 0, oldest: undefined });
});

test('the lag of a position beyond the end of the log is unknown, not zero', async (t) => {
  await using log = new MemoryEventLog();
  t.deepEqual(await lagAfter(log, undefined, PREFIX), { count: 0, oldest: undefined });
  const [position = '', later] = await appendEach(log, ['deposit-1', 'deposit-2']);
  t.deepEqual(await lagAfter(log, later, PREFIX), { count: 0, oldest: undefined });
  await using older = new MemoryEventLog();
  t.deepEqual(await lagAfter(older, position, PREFIX), { count: undefined, oldest: undefined });
  await appendEach(older, ['deposit-1']);
  t.deepEqual(await lagAfter(older, later, PREFIX), { count: undefined, oldest: undefined });
});

test('a count that takes too long is reported as unknown, not as zero', async (t) => {
  await using log = new MemoryEventLog();
  await appendEach(log, ['deposit-1', 'deposit-2']);
  const silent = {
    head: () => log.head(),
    readStream: log.readStream.bind(log),
    async *readAll({ signal }: ReadAllOptions = {}): AsyncGenerator<RecordedEvent> {
      yield* [];
      await clock.sleep(60_000, signal);
    },
  };
  t.deepEqual(await lagAfter(silent, undefined, PREFIX), { count: undefined, oldest: undefined });
  const deliveries = new CatchUpDeliveries(silent as unknown as EventLog, await temporaryFolder(t));
  t.is((await deliveries.status(GROUP, PREFIX)).waiting, undefined);
  const slow = {
    ...silent,
    async *readAll(options: ReadAllOptions = {}): AsyncGenerator<RecordedEvent> {
      for await (const event of log.readAll()) {
        yield event;
        break;
      }
      yield* silent.readAll(options);
    },
  };
  t.is((await lagAfter(slow, undefined, PREFIX)).count, 1, 'counted attempts remain');
});

test('an unreachable server is a transient error', async (t) => {
  const { log, open } = await SUBJECTS.EventStoreDB(t);
  await appendEach(log, ['deposit-1']);
  await using nowhere = await EventStoreDbDouble.start();
  const { connectionString } = nowhere;
  nowhere.stop();
  const options = { connectionString, receivers: [GROUP], callTimeout: 100, retryTimeout: 100 };
  await using deliveries = new EventStoreDbDeliveries(log, options);
  await t.throwsAsync(deliveries.status(GROUP, PREFIX), {
    code: 'EVENT_LOG_UNAVAILABLE',
    message: /^Reading the position of the checker failed: /,
  });
  const group = open();
  await eventually(async () => (await group.status(GROUP, PREFIX)).waiting === 1); // counted only if that is quick
});

/** Appends one event at a time, each with a different time. */
async function appendEach(log: EventLog, streams: readonly string[]): Promise<Position[]> {
  const positions: Position[] = [];
  for (const stream of streams) {
    const event = {
      id: crypto.randomUUID(),
      type: 'Happened',
      data: {},
      metadata: { occurredAt: timeOf(stream) },
    };
    positions.push((await log.append(stream, 'none', [event])).position);
  }
  return positions;
}

function timeOf(stream: string): string {
  const [, number = '0'] = /(\d+)$/.exec(stream) ?? [];
  return new Date(Date.UTC(2026, 0, 1) + Number(number) * 1000).toISOString();
}

/** Receives the events of the group until it is stopped. */
function receive(deliveries: Deliveries, options: ReceiveOptions = {}) {
  const [stopped, received] = [new AbortController(), [] as Delivery[]];
  const ended = (async () => {
    for await (const delivery of deliveries.receive(GROUP, PREFIX, stopped.signal, options))
      received.push(delivery);
  })();
  const stop = async (): Promise<void> => {
    stopped.abort();
    await ended;
  };
  return { received, stop };
}
