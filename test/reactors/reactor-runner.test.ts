import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { newContext } from '../../src/deposits/command-handler.ts';
import type { ParkedEvent } from '../../src/domain/parking/parking.ts';
import { CatchUpDeliveries } from '../../src/event-log/consumer-groups/catch-up-deliveries.ts';
import { type EventLog, type RecordedEvent, staleRead } from '../../src/event-log/event-log.ts';
import { ObjectError, ObjectMissing, ObjectUnreadable } from '../../src/object-store/object-store.ts';
import { EventLogParking, parkedEvents } from '../../src/reactors/parking.ts';
import type { Reactor } from '../../src/reactors/reactor.ts';
import { ReactorRunner } from '../../src/reactors/reactor-runner.ts';
import { type Logger, silentLogger } from '../../src/tools/logger.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { keptLines } from '../../testing/service/kept-lines.ts';

type Behaviour = Partial<Pick<Reactor, 'react' | 'giveUp' | 'ownerOf'>>;

/** Runs a reactor of this behaviour on events `Work` until `look` is done; the folder stores its position. */
async function running(
  log: EventLog,
  folder: string,
  behaviour: Behaviour,
  look: (runner: ReactorRunner, deliveries: CatchUpDeliveries) => Promise<void>,
  logger: Logger = silentLogger,
): Promise<void> {
  const reactor: Reactor = {
    name: 'tested',
    streamPrefix: 'job-',
    reactsTo: ({ type }) => type === 'Work',
    hasWork: async () => true,
    ownerOf: async ({ stream }) => stream,
    react: async () => undefined,
    giveUp: async () => undefined,
    ...behaviour,
  };
  const deliveries = new CatchUpDeliveries(log, folder);
  const options = {
    deliveries,
    parking: new EventLogParking(log),
    logger,
    slots: 4,
    firstPause: 1,
  };
  const runner = new ReactorRunner(reactor, options);
  runner.start((error) => {
    throw error;
  });
  try {
    await look(runner, deliveries);
  } finally {
    await runner.stop();
  }
}

let lastId = 0;

async function work(log: EventLog, stream: string, count = 1): Promise<void> {
  const events = Array.from({ length: count }, () => {
    lastId += 1;
    return {
      id: `00000000-0000-4000-8000-${String(lastId).padStart(12, '0')}`,
      type: 'Work',
      data: {},
      metadata: {},
    };
  });
  let revision: number | 'none' = 'none';
  for await (const last of log.readStream(stream, { backwards: true, limit: 1 })) revision = last.revision;
  await log.append(stream, revision, events);
}

function failing(code: string): Error {
  return Object.assign(new Error(`it is ${code}`), { code });
}

test('events of one stream are processed in order, streams concurrently up to the limit', async (t) => {
  await using log = new MemoryEventLog();
  for (const stream of ['job-a', 'job-b', 'job-c', 'job-d', 'job-e', 'job-f']) await work(log, stream, 5);
  const done: string[] = [];
  let [atOnce, most] = [0, 0];
  const react = async ({ stream, revision }: RecordedEvent): Promise<void> => {
    most = Math.max(most, (atOnce += 1));
    await pause(Math.random() * 5);
    atOnce -= 1;
    done.push(`${stream}@${revision}`);
  };
  await running(log, await temporaryFolder(t), { react }, () => until(async () => done.length === 30));
  t.is(most, 4);
  for (const stream of ['job-a', 'job-f']) {
    t.deepEqual(
      done.filter((name) => name.startsWith(stream)),
      [0, 1, 2, 3, 4].map((revision) => `${stream}@${revision}`),
    );
  }
});

test('an event that arrives while an earlier one of its stream is processed waits for that', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-a', 2);
  const ends = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const react = async ({ revision }: RecordedEvent): Promise<void> => {
    begun.push(revision);
    await ends[revision]?.promise;
  };
  await running(log, await temporaryFolder(t), { react }, async () => {
    ends[0]?.resolve();
    await until(async () => begun.length === 2);
    await work(log, 'job-a');
    await pause(300);
    t.deepEqual(begun, [0, 1]);
    for (const { resolve } of ends) resolve();
    await until(async () => begun.length === 3);
  });
});

test('a long queue of one owner does not block others', async (t) => {
  await using log = new MemoryEventLog();
  for (let number = 1; number <= 40; number += 1) await work(log, `job-busy-${number}`);
  await work(log, 'job-calm-1');
  const begun: string[] = [];
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    begun.push(stream);
    await pause(5);
  };
  const ownerOf = async ({ stream }: RecordedEvent): Promise<string> => stream.split('-')[1] ?? '';
  const look = () => until(async () => begun.length === 41);
  await running(log, await temporaryFolder(t), { react, ownerOf }, look);
  // One owner gets at most half of the four slots, and the others are served in turn.
  t.true(begun.indexOf('job-calm-1') <= 2, begun.slice(0, 5).join(' '));
  t.deepEqual(
    begun.filter((name) => name !== 'job-calm-1'),
    begun.filter((name) => name.startsWith('job-busy')),
  );
});

test('an event that its stream does not show for minutes, as after its deletion, is parked, not given up', async (t) => {
  await using log = new MemoryEventLog();
  for (const stream of ['job-gone', 'job-stale', 'job-broken']) await work(log, stream);
  const tries = new Map<string, number>();
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    const count = (tries.get(stream) ?? 0) + 1;
    tries.set(stream, count);
    if (stream === 'job-broken') throw failing('BROKEN');
    if (stream === 'job-gone' || count < 10) throw staleRead(stream, 'none', 0);
  };
  const givenUp = new Set<string>();
  const giveUp = async ({ stream }: RecordedEvent): Promise<void> => {
    givenUp.add(stream);
    throw staleRead(stream, 'none', 0);
  };
  const parked = () => parkedEvents(log, 'tested');
  const look = () => until(async () => (await parked()).length === 2 && tries.get('job-stale') === 10);
  await running(log, await temporaryFolder(t), { react, giveUp }, look);
  const gone = (await parked()).find(({ stream }) => stream === 'job-gone');
  t.like(gone, { tries: 15 });
  t.regex(gone?.reason ?? '', /^Stale read of job-gone/);
  t.deepEqual([...givenUp], ['job-broken'], 'the log may show the event again');
});

test('stale reads, as at a change of the leader, leave other faults as many attempts as ever', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-a');
  let [tries, givenUp] = [0, false];
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    tries += 1;
    if (tries <= 4) throw staleRead(stream, 'none', 0);
    if (tries <= 8) throw failing('BROKEN');
  };
  const giveUp = async (): Promise<void> => {
    givenUp = true;
  };
  const look = () => until(async () => tries === 9 || givenUp);
  await running(log, await temporaryFolder(t), { react, giveUp }, look);
  t.is(tries, 9);
  t.false(givenUp);
});

test('a transient fault is retried until it is over, and never given up', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-a');
  let [tries, done, givenUp] = [0, false, false];
  const react = async (): Promise<void> => {
    tries += 1;
    if (tries < 12) throw failing(tries % 2 === 0 ? 'ARCHIVE_STORE_UNAVAILABLE' : 'EMFILE');
    done = true;
  };
  const giveUp = async (): Promise<void> => {
    givenUp = true;
  };
  await running(log, await temporaryFolder(t), { react, giveUp }, () => until(async () => done));
  t.is(tries, 12);
  t.false(givenUp);
});

test('work that waits after a transient fault gives its slot to others', async (t) => {
  await using log = new MemoryEventLog();
  const away = Array.from({ length: 8 }, (_, index) => `job-away-${index}`); // twice as many as there are slots
  for (const stream of away) await work(log, stream);
  const tries = new Map<string, number>();
  const done: string[] = [];
  let isBack = false;
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    tries.set(stream, (tries.get(stream) ?? 0) + 1);
    if (stream.startsWith('job-away') && !isBack) throw failing('ARCHIVE_STORE_UNAVAILABLE');
    done.push(stream);
  };
  await running(log, await temporaryFolder(t), { react }, async () => {
    await until(async () => away.every((stream) => (tries.get(stream) ?? 0) > 1));
    await work(log, 'job-other');
    await until(async () => done.includes('job-other'));
    t.deepEqual(done, ['job-other']);
    isBack = true;
    await until(async () => done.length === 9);
  });
});

test('a missing object is retried more often than a corrupt one; then both are parked with their object', async (t) => {
  await using log = new MemoryEventLog();
  const faults: Readonly<Record<string, ObjectError>> = {
    'job-damaged': new ObjectUnreadable('d'.repeat(64), 'SlowDownRead'),
    'job-missing': new ObjectMissing('e'.repeat(64)),
  };
  for (const stream of Object.keys(faults)) await work(log, stream);
  const [tries, givenUp] = [new Map<string, number>(), new Map<string, unknown>()];
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    tries.set(stream, (tries.get(stream) ?? 0) + 1);
    throw faults[stream];
  };
  const giveUp = async ({ stream }: RecordedEvent, error: unknown): Promise<void> =>
    void givenUp.set(stream, error);
  const parked = () => parkedEvents(log, 'tested');
  await running(log, await temporaryFolder(t), { react, giveUp }, () =>
    until(async () => (await parked()).length === 2),
  );
  t.deepEqual(Object.fromEntries(tries), { 'job-damaged': 5, 'job-missing': 15 });
  t.deepEqual(Object.fromEntries(givenUp), faults);
  for (const { stream, object, reason } of await parked()) {
    t.like(faults[stream], { sha256: object, message: reason });
  }
  t.regex(faults['job-damaged']?.message ?? '', /probably corrupt: SlowDownRead/);
});

test('work that fails repeatedly is given up with its error, and the stream continues', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-a', 2);
  const [tries, givenUp]: [number[], string[]] = [[], []];
  const react = async ({ revision }: RecordedEvent): Promise<void> => {
    tries.push(revision);
    if (revision === 0) throw failing('BUG');
  };
  const giveUp = async (event: RecordedEvent, error: unknown): Promise<void> => {
    givenUp.push(`${event.revision}: ${(error as Error).message}`);
  };
  await running(log, await temporaryFolder(t), { react, giveUp }, () => until(async () => tries.includes(1)));
  t.deepEqual(tries, [0, 0, 0, 0, 0, 1]);
  t.deepEqual(givenUp, ['0: it is BUG']);
});

test('an event whose failure cannot be recorded is parked in the log with its reason', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-a');
  await work(log, 'job-b');
  let passed = false;
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    if (stream === 'job-a') throw failing('BUG');
    passed = true;
  };
  const giveUp = (): Promise<void> => Promise.reject(failing('ANOTHER_BUG'));
  const parked = () => Array.fromAsync(log.readStream('parked-tested'));
  await running(log, await temporaryFolder(t), { react, giveUp }, () =>
    until(async () => passed && (await parked()).length === 1),
  );
  const [event] = await parked();
  t.like(event, {
    type: 'EventParked',
    data: { reactor: 'tested', stream: 'job-a', revision: 0, reason: 'it is ANOTHER_BUG', tries: 5 },
  });
});

test("a parked event is retried on an operator's command, and not when it is skipped", async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-a');
  await work(log, 'job-b');
  let mended = false;
  const done: string[] = [];
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    if (!mended) throw failing('BUG');
    done.push(stream);
  };
  const giveUp = (): Promise<void> => Promise.reject(failing('ANOTHER_BUG'));
  const parked = () => parkedEvents(log, 'tested');
  await running(log, await temporaryFolder(t), { react, giveUp }, async () => {
    await until(async () => (await parked()).length === 2);
    mended = true;
    const [first, second] = await parked();
    const administration = new AdminCommands(log, { kind: 'operator', name: 'carol' });
    const eventId = first?.eventId ?? '';
    await administration.parking({ type: 'RetryParked', reactor: 'tested', eventId });
    const skipped = { reactor: 'tested', eventId: second?.eventId ?? '', reason: 'a test' };
    await administration.parking({ type: 'SkipParked', ...skipped });
    await until(async () => done.length === 1);
    t.deepEqual(done, [first?.stream]);
    t.deepEqual(await parked(), []);
    await t.throwsAsync(administration.parking({ type: 'RetryParked', reactor: 'tested', eventId }), {
      code: 'NOT_PARKED',
    });
  });
});

test('after a restart acknowledged events are not delivered again, others are', async (t) => {
  await using log = new MemoryEventLog();
  const folder = await temporaryFolder(t);
  for (const stream of ['job-a', 'job-b', 'job-c']) await work(log, stream);
  const first: string[] = [];
  let released = (): void => undefined;
  const stuck = new Promise<void>((resolve) => {
    released = resolve;
  });
  const slow = async ({ stream }: RecordedEvent): Promise<void> => {
    first.push(stream);
    if (stream === 'job-b') await stuck;
  };
  await running(log, folder, { react: slow }, () => until(async () => first.length === 3));
  released();
  const second: string[] = [];
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    second.push(stream);
  };
  await running(log, folder, { react }, () => until(async () => second.length >= 1));
  t.deepEqual(second, ['job-b'], 'not the later acknowledged one');
  const third: string[] = [];
  await work(log, 'job-d');
  const last = async ({ stream }: RecordedEvent): Promise<void> => {
    third.push(stream);
  };
  await running(log, folder, { react: last }, () => until(async () => third.length >= 1));
  t.deepEqual(third, ['job-d']);
});

test('work that ends while the runner stops is not delivered again', async (t) => {
  await using log = new MemoryEventLog();
  const folder = await temporaryFolder(t);
  for (const stream of ['job-a', 'job-b', 'job-c']) await work(log, stream);
  const [begun, later]: [string[], string[]] = [[], []];
  const slow = async ({ stream }: RecordedEvent): Promise<void> => {
    begun.push(stream);
    await pause(100);
  };
  await running(log, folder, { react: slow }, () => until(async () => begun.length === 3));
  await work(log, 'job-d');
  const react = async ({ stream }: RecordedEvent): Promise<void> => void later.push(stream);
  await running(log, folder, { react }, () => until(async () => later.includes('job-d')));
  t.deepEqual(later, ['job-d']);
});

test('a position of another log is ignored', async (t) => {
  const folder = await temporaryFolder(t);
  const seen: string[] = [];
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    seen.push(stream);
  };
  {
    await using old = new MemoryEventLog();
    await work(old, 'job-old', 10);
    await running(old, folder, { react }, () => until(async () => seen.length === 10));
  }
  await using log = new MemoryEventLog();
  await work(log, 'job-new');
  await running(log, folder, { react }, () => until(async () => seen.includes('job-new')));
  t.pass();
});

test('an event that cannot be handled is logged with the reactor, its stream and its position', async (t) => {
  await using log = new MemoryEventLog();
  const event = { id: '00000000-0000-4000-9000-000000000001', type: 'Unheard', data: {}, metadata: {} };
  const { position } = await log.append('parked-tested', 'none', [event]);
  const { logger, lines } = keptLines();
  const logged = () => lines.find(({ msg }) => msg === 'event not handled, retrying later');
  await running(log, await temporaryFolder(t), {}, () => until(async () => logged() !== undefined), logger);
  const expected = { reactor: 'tested', stream: 'parked-tested', type: 'Unheard', position };
  t.like(logged(), { level: 'error', ...expected });
});

test('work that could be neither done nor given up nor parked restarts after a pause', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-a');
  let isMended = false;
  let done = 0;
  const react = async (): Promise<void> => {
    if (!isMended) throw failing('DEADLY');
    done += 1;
  };
  const giveUp = (): Promise<void> => Promise.reject(failing('DEADLY'));
  const { logger, lines } = keptLines();
  const append = log.append.bind(log);
  log.append = (stream, ...rest) =>
    stream.startsWith('parked-') && !isMended ? Promise.reject(failing('DEADLY')) : append(stream, ...rest);
  const look = async (): Promise<void> => {
    await until(async () => lines.some(({ msg }) => msg === 'event not handled, retrying later'));
    isMended = true;
    await until(async () => done === 1);
  };
  await running(log, await temporaryFolder(t), { react, giveUp }, look, logger);
  t.is(done, 1);
});

test('parked or skipped events are not processed when all events are redelivered', async (t) => {
  await using log = new MemoryEventLog();
  for (const stream of ['job-left', 'job-parked', 'job-good']) await work(log, stream);
  const tried: string[] = [];
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    tried.push(stream);
    if (/left|parked/.test(stream)) throw failing('DEADLY');
  };
  const giveUp = (): Promise<void> => Promise.reject(failing('DEADLY'));
  const parked = async () => (await parkedEvents(log, 'tested')).map(({ stream }) => stream);
  const operator = new AdminCommands(log, { kind: 'operator', name: 'rosa' });
  const [leave, retry] = [{ type: 'SkipParked', reason: 'deadly' }, { type: 'RetryParked' }] as const;
  const decide = async (command: typeof leave | typeof retry): Promise<void> => {
    const all = await parkedEvents(log, 'tested');
    const eventId = all.find(({ stream }) => stream === 'job-left')?.eventId ?? '';
    await operator.parking({ ...command, reactor: 'tested', eventId });
  };
  await running(log, await temporaryFolder(t), { react, giveUp }, async () => {
    await until(async () => (await parked()).length === 2 && tried.includes('job-good'));
    const before = tried.length;
    await decide(retry);
    await until(async () => (await parked()).length === 2 && tried.length > before);
    await decide(leave);
  });

  tried.length = 0;
  await running(log, await temporaryFolder(t), { react, giveUp }, async () => {
    await work(log, 'job-last');
    await until(async () => tried.includes('job-last'));
  });
  t.deepEqual(tried.sort(), ['job-good', 'job-last']);
  t.deepEqual(await parked(), ['job-parked']);
  for await (const decision of log.readStream('parked-tested')) {
    t.is(
      await new EventLogParking(log).eventToRetry(decision),
      undefined,
      'it was skipped after the retry was requested',
    );
  }
});

test('an event that was parked at the start and retried since is processed when a sweep finds it', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-lost');
  const [event] = (await Array.fromAsync(log.readStream('job-lost'))) as [RecordedEvent];
  await new EventLogParking(log).park('tested', event, failing('DEADLY'), 5);
  const subscribe = log.subscribe.bind(log);
  log.subscribe = (options) => {
    const isOfDecisions = options?.streamPrefixes?.includes('parked-tested') === true;
    return subscribe(isOfDecisions ? { ...options, streamPrefixes: ['lost-'] } : options);
  };
  const done: string[] = [];
  const react = async ({ stream }: RecordedEvent): Promise<void> => void done.push(stream);
  const operator = new AdminCommands(log, { kind: 'operator', name: 'rosa' });
  await running(log, await temporaryFolder(t), { react }, async (runner, deliveries) => {
    await work(log, 'job-other');
    await until(async () => done.includes('job-other'));
    t.deepEqual(done, ['job-other']);
    await operator.parking({ type: 'RetryParked', reactor: 'tested', eventId: event.id }); // is not delivered
    await runner.handle(deliveries.redelivery('tested', event));
    await until(async () => !runner.isWorkingOn('job-lost'));
    t.deepEqual(done, ['job-other', 'job-lost']);
  });
});

test('retried events are processed concurrently, like new ones', async (t) => {
  await using log = new MemoryEventLog();
  const streams = ['job-1', 'job-2', 'job-3'];
  for (const stream of streams) await work(log, stream);
  const parking = new EventLogParking(log);
  for (const job of await Array.fromAsync(log.readAll()))
    await parking.park('tested', job, failing('DEADLY'), 5);
  const begun = new Set<string>();
  const all = Promise.withResolvers<void>();
  const react = async ({ stream }: RecordedEvent): Promise<void> => {
    begun.add(stream);
    if (streams.every((one) => begun.has(one))) all.resolve();
    if (streams.includes(stream)) await all.promise; // never, if one waits for another
  };
  const operator = new AdminCommands(log, { kind: 'operator', name: 'rosa' });
  await running(log, await temporaryFolder(t), { react }, async () => {
    await work(log, 'job-last');
    await until(async () => begun.has('job-last')); // none of the parked events is begun again by itself
    t.deepEqual([...begun], ['job-last']);
    for await (const _ of operator.retryParked('tested', await parkedEvents(log, 'tested')));
    await all.promise;
  });
  t.deepEqual([...begun].sort(), [...streams, 'job-last']);
});

test('only new decisions about parked events are read for the next event', async (t) => {
  await using log = new MemoryEventLog();
  const operator = new AdminCommands(log, { kind: 'operator', name: 'rosa' });
  for (const stream of ['job-1', 'job-2']) await work(log, stream);
  const jobs = await Array.fromAsync(log.readAll());
  const parking = new EventLogParking(log);
  for (const job of jobs) await parking.park('tested', job, failing('DEADLY'), 5);
  for await (const _ of operator.retryParked('tested', await parkedEvents(log, 'tested')));
  const decisions = (await Array.fromAsync(log.readStream('parked-tested'))).slice(-2);
  const readStream = log.readStream.bind(log);
  const begun: (number | undefined)[] = [];
  log.readStream = (stream, options) => {
    if (stream === 'parked-tested') begun.push(options?.from);
    return readStream(stream, options);
  };
  const found = await Promise.all(decisions.map((decision) => parking.eventToRetry(decision)));
  t.deepEqual(found, jobs);
  for (const decision of decisions.slice(0, 1)) await parking.eventToRetry(decision);
  t.deepEqual(begun, [2, 2, 4]);
});

test('decisions about many parked events read none of the others again', async (t) => {
  await using log = new MemoryEventLog();
  const streams = Array.from({ length: 50 }, (_, index) => `job-${index}`);
  for (const stream of streams) await work(log, stream);
  const readStream = log.readStream.bind(log);
  let read = 0;
  log.readStream = async function* (stream, options) {
    for await (const event of readStream(stream, options)) {
      read += 1;
      yield event;
    }
  };
  const parking = new EventLogParking(log);
  const park = (job: RecordedEvent) => parking.park('tested', job, failing('DEADLY'), 5);
  await Promise.all((await Array.fromAsync(log.readAll())).map(park));
  const parked = await parking.waiting('tested');
  t.is(parked.length, streams.length);
  const actor = { kind: 'service', name: 'sweep' } as const;
  for (const { eventId } of parked) t.true((await parking.parkedOrSkipped('tested')).has(eventId));
  for (const [index, event] of parked.entries()) {
    const commandId = `00000000-0000-4000-9000-${String(index).padStart(12, '0')}`;
    await parking.retry(event, { commandId, actor, now: '2026-01-01T00:00:00Z', correlationId: commandId });
  }
  t.deepEqual(await parking.waiting('tested'), []);
  t.is(read, 0);
});

test('an event that another node retries at the same time is retried once, without an error', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-1');
  const [job] = (await Array.fromAsync(log.readAll())) as [RecordedEvent];
  const nodes = [new EventLogParking(log), new EventLogParking(log)] as const;
  await nodes[0].park('tested', job, failing('MISSING'), 5);
  const [parked] = (await nodes[1].waiting('tested')) as [ParkedEvent];
  for (const node of nodes) await node.retry(parked, newContext({ kind: 'service', name: 'sweep' }));
  const types = (await Array.fromAsync(log.readStream(nodes[0].streamOf('tested')))).map(({ type }) => type);
  t.deepEqual(types, ['EventParked', 'ParkedRetried']);
});

test('an event that another node has retried is parked again', async (t) => {
  await using log = new MemoryEventLog();
  await work(log, 'job-1');
  const [job] = (await Array.fromAsync(log.readAll())) as [RecordedEvent];
  const parking = new EventLogParking(log);
  await parking.park('tested', job, failing('DEADLY'), 5);
  const operator = new AdminCommands(log, { kind: 'operator', name: 'rosa' });
  for await (const _ of operator.retryParked('tested', await parkedEvents(log, 'tested')));
  await parking.park('tested', job, failing('DEADLY'), 5);
  t.is((await parkedEvents(log, 'tested')).length, 1);
});
