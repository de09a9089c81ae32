import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import type { Delivery } from '../../src/event-log/consumer-groups/deliveries.ts';
import type { EventLog, RecordedEvent } from '../../src/event-log/event-log.ts';
import { CountedTries } from '../../src/reactors/counted-tries.ts';
import { FairLimiter } from '../../src/reactors/fair-limiter.ts';
import { EventLogParking } from '../../src/reactors/parking.ts';
import { ReactorRunner } from '../../src/reactors/reactor-runner.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { until } from '../../testing/processes/until.ts';

test('an event started repeatedly without a result is parked without another attempt', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-a');
  const reacted: string[] = [];
  const react = async ({ stream }: RecordedEvent): Promise<void> => void reacted.push(stream);
  t.deepEqual(await acknowledged(log, async () => 11, react), ['job-a']);
  t.deepEqual(reacted, []);
  const [parked] = await Array.fromAsync(log.readStream('parked-tested'));
  const reason = 'Parked after 10 attempts that never completed; the service may have crashed each time.';
  t.like(parked?.data, { reason, tries: 10 });
});

test('a suspected poison event is processed exclusively', async (t) => {
  await using log = new MemoryEventLog();
  const streams = ['job-a', 'job-b', 'job-suspect', 'job-c', 'job-d', 'job-other-suspect', 'job-e'];
  await work(log, ...streams);
  const [concurrent, underWay] = [new Map<string, string[]>(), new Set<string>()];
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    concurrent.set(stream, [...underWay]);
    underWay.add(stream);
    await pause(5);
    underWay.delete(stream);
  };
  const begin: Begin = async ({ stream }, how) => {
    if (!stream.endsWith('suspect')) return 1;
    return how === 'alone' ? 3 : undefined;
  };
  t.deepEqual((await acknowledged(log, begin, react)).sort(), streams.sort());
  for (const suspect of ['job-suspect', 'job-other-suspect']) {
    t.deepEqual(concurrent.get(suspect), []);
    t.false([...concurrent.values()].flat().includes(suspect));
  }
  t.true([...concurrent.values()].flat().length > 0, 'the others are concurrent');
  const order = [...concurrent.keys()];
  t.true(order.indexOf('job-suspect') < order.indexOf('job-d'), 'waiting exclusive work is not overtaken');
});

test('a suspect that a lasting fault delays uses no slot between its attempts, once it runs no longer alone', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-suspect', 'job-other');
  const [suspect, other] = (await Array.fromAsync(log.readAll())) as [RecordedEvent, RecordedEvent];
  const limiter = new FairLimiter(1, 20);
  const triesOf = (event: RecordedEvent, begin: Delivery['begin']) => {
    const delivery = { event, begin, acknowledge: async () => undefined };
    return new CountedTries({
      delivery,
      limiter,
      slots: 1,
      owner: event.stream,
      signal: new AbortController().signal,
    });
  };
  const over = new AbortController();
  const suspected = triesOf(suspect, async (how) => (how === 'alone' ? 3 : undefined)).run(
    async (tryOnce) => {
      do {
        await tryOnce(async () => undefined);
        await pause(5); // the pause before the next attempt
      } while (!over.signal.aborted);
    },
  );
  await triesOf(other, async () => 1).run((tryOnce) => tryOnce(async () => over.abort()));
  await suspected;
  t.true(over.signal.aborted);
});

test('started work that a stop aborts is returned', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-a', 'job-b');
  const handedBack: string[] = [];
  const begun: string[] = [];
  const runner = runnerOn(
    log,
    async function* () {
      for await (const event of log.readAll({ streamPrefixes: ['job-'] })) {
        const begin = async (): Promise<number> => begun.push(event.stream);
        const handBack = async (): Promise<void> => void handedBack.push(event.stream);
        yield { event, begin, handBack, acknowledge: async () => undefined };
      }
    },
    async ({ stream }) => {
      if (stream === 'job-b') throw Object.assign(new Error('away'), { code: 'ARCHIVE_STORE_UNAVAILABLE' });
    },
  );
  await until(async () => begun.length === 2);
  await runner.stop();
  t.deepEqual(handedBack, ['job-b']);
});

type Begin = (event: RecordedEvent, ...how: Parameters<Delivery['begin']>) => ReturnType<Delivery['begin']>;

/** Runs a reactor on all events of the log, and resolves to the streams in the order of their completion. */
async function acknowledged(
  log: EventLog,
  begin: Begin,
  react: (event: RecordedEvent) => Promise<void>,
): Promise<string[]> {
  const events = await Array.fromAsync(log.readAll());
  const done: string[] = [];
  const runner = runnerOn(
    log,
    async function* () {
      for (const event of events) {
        const acknowledge = async (): Promise<void> => void done.push(event.stream);
        yield { event, begin: (how) => begin(event, how), acknowledge };
      }
    },
    react,
  );
  await until(async () => done.length === events.length);
  await runner.stop();
  return done;
}

/** Runs a reactor that begins with these deliveries. */
function runnerOn(
  log: EventLog,
  delivered: () => AsyncGenerator<Delivery>,
  react: (event: RecordedEvent) => Promise<void>,
): ReactorRunner {
  const deliveries = {
    async *receive(group: string): AsyncGenerator<Delivery> {
      if (group === 'tested') yield* delivered();
    },
  };
  const reactor = {
    name: 'tested',
    streamPrefix: 'job-',
    reactsTo: () => true,
    hasWork: async () => true,
    ownerOf: async ({ stream }: RecordedEvent) => stream,
    react,
    giveUp: async () => undefined,
  };
  const parking = new EventLogParking(log);
  const runner = new ReactorRunner(reactor, {
    deliveries,
    parking,
    logger: silentLogger,
    slots: 4,
    firstPause: 300,
  });
  runner.start((error) => {
    throw error;
  });
  return runner;
}

async function work(log: EventLog, ...streams: string[]): Promise<void> {
  for (const stream of streams) {
    await log.append(stream, 'none', [{ id: crypto.randomUUID(), type: 'Work', data: {}, metadata: {} }]);
  }
}
