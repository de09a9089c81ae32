import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { assertPossible, handleCommand, readState } from '../../src/deposits/command-handler.ts';
import { DepositIdAllocator } from '../../src/deposits/deposit-ids.ts';
import { IdempotencyStore } from '../../src/deposits/idempotency/idempotency-store.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import { type EventLog, type RecordedEvent, WrongExpectedRevision } from '../../src/event-log/event-log.ts';
import { canonicalJson, hashOf } from '../../src/event-log/integrity/hash-chain.ts';
import { anyContext, executeDeposit } from '../../testing/domain/commands.ts';
import {
  aliceArchive,
  aliceEntry,
  changeDeposit,
  createDeposit,
} from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';

async function eventsOf(log: EventLog, stream: string): Promise<RecordedEvent[]> {
  return Array.fromAsync(log.readStream(stream));
}

const partial = createDeposit({ isFinal: false, entry: null });
const complete = { type: 'CompleteDeposit', depositId: 1, now: '2026-03-01T12:00:00.000Z' } as const;

test('events record actor, action, time and cause', async (t) => {
  await using log = new MemoryEventLog();
  const context = anyContext({ causationId: 'cause' });
  await handleCommand(log, deposits, 1, createDeposit(), context);
  const [first] = await eventsOf(log, 'deposit-1');
  t.like(first?.metadata, {
    schemaVersion: 1,
    occurredAt: context.now,
    actor: { kind: 'client', name: 'alice' },
    $correlationId: context.correlationId,
    $causationId: 'cause',
  });
});

test('each event is linked to the previous one by its hash', async (t) => {
  await using log = new MemoryEventLog();
  await executeDeposit(log, 1, partial);
  await executeDeposit(log, 1, changeDeposit({ kind: 'add-content', archive: null, entry: aliceEntry }));
  await executeDeposit(log, 1, complete);
  const events = await eventsOf(log, 'deposit-1');
  t.is(events.length, 4);
  t.is(events[0]?.metadata['prevHash'], null);
  events.forEach((event, index) => {
    t.is(event.metadata['hash'], hashOf('deposit-1', index, event));
    if (index > 0) t.is(event.metadata['prevHash'], events[index - 1]?.metadata['hash']);
  });
});

test('the hash of an event covers everything in it', async (t) => {
  await using log = new MemoryEventLog();
  await executeDeposit(log, 1, createDeposit());
  const [event] = await eventsOf(log, 'deposit-1');
  if (!event) return t.fail();
  const hash = hashOf('deposit-1', 0, event);
  const others = [
    hashOf('deposit-2', 0, event),
    hashOf('deposit-1', 1, event),
    hashOf('deposit-1', 0, { ...event, id: event.id.replace(/.$/, 'x') }),
    hashOf('deposit-1', 0, { ...event, type: 'DepositCreate' }),
    hashOf('deposit-1', 0, { ...event, data: { ...event.data, depositId: 2 } }),
    hashOf('deposit-1', 0, { ...event, metadata: { ...event.metadata, occurredAt: '' } }),
    hashOf('deposit-1', 0, { ...event, metadata: { ...event.metadata, prevHash: hash } }),
  ];
  t.is(new Set([hash, ...others]).size, others.length + 1);
});

test('the canonical form does not depend on the order of keys', (t) => {
  t.is(
    canonicalJson({ b: [1, null, 'x"'], a: { d: true, c: 0.5 } }),
    '{"a":{"c":0.5,"d":true},"b":[1,null,"x\\""]}',
  );
});

test('the same command under the same id is appended once', async (t) => {
  await using log = new MemoryEventLog();
  const context = anyContext();
  const first = await handleCommand(log, deposits, 1, createDeposit(), context, { fresh: true });
  const again = await handleCommand(log, deposits, 1, createDeposit(), context, { fresh: true });
  t.deepEqual(again, first);
  t.is((await eventsOf(log, 'deposit-1')).length, 4);
});

test('a stream expected to be new is not written to if it exists', async (t) => {
  await using log = new MemoryEventLog();
  await executeDeposit(log, 1, partial);
  const again = handleCommand(log, deposits, 1, partial, anyContext(), { fresh: true });
  await t.throwsAsync(again, { code: 'WRONG_EXPECTED_REVISION' });
});

test('a command executed before gets its first result, whatever happened since', async (t) => {
  await using log = new MemoryEventLog();
  const context = anyContext();
  const first = await handleCommand(log, deposits, 1, partial, context);
  await executeDeposit(log, 1, complete);
  const again = await handleCommand(log, deposits, 1, partial, context);
  t.deepEqual(again, first);
  t.is(again.state.status, 'partial');
});

test('a command that loses every append to other writers finally fails', async (t) => {
  await using log = new MemoryEventLog();
  await executeDeposit(log, 1, partial);
  const append = log.append.bind(log);
  let writes = 0;
  log.append = async (stream, expected) => {
    writes += 1;
    const archive = { ...aliceArchive, filename: `${writes}.tar` };
    const event = {
      id: randomUUID(),
      type: 'ArchiveAdded',
      data: { depositId: 1, archive },
      metadata: { schemaVersion: 1 },
    };
    await append(stream, expected, [event]);
    throw new WrongExpectedRevision(stream, expected, Number(expected) + 1);
  };
  const change = changeDeposit(
    { kind: 'add-content', archive: aliceArchive, entry: null },
    { maxArchives: 100 },
  );
  const message = /^deposit-1 was written to by others 30 times/;
  await t.throwsAsync(executeDeposit(log, 1, change), { code: 'CONCURRENT_WRITES', message });
});

test('of twenty concurrent final requests one completes the deposit, and all are answered', async (t) => {
  await using log = new MemoryEventLog();
  await executeDeposit(log, 1, partial);
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => executeDeposit(log, 1, complete)));
  t.true(outcomes.every(({ state }) => state.status === 'deposited'));
  const types = (await eventsOf(log, 'deposit-1')).map(({ type }) => type);
  t.deepEqual(types, ['DepositCreated', 'ArchiveAdded', 'DepositCompleted']);
});

test('concurrent changes that do not conflict all succeed', async (t) => {
  await using log = new MemoryEventLog();
  await executeDeposit(log, 1, partial);
  const add = changeDeposit({ kind: 'add-content', archive: aliceArchive, entry: null }, { maxArchives: 32 });
  await Promise.all(Array.from({ length: 15 }, () => executeDeposit(log, 1, add)));
  const { state } = await readState(log, deposits, 1);
  t.is(state.status === 'partial' ? state.archives.length : 0, 16);
});

test('a command with an expected revision is refused at another one', async (t) => {
  await using log = new MemoryEventLog();
  await executeDeposit(log, 1, partial);
  const late = handleCommand(log, deposits, 1, complete, anyContext(), { atRevision: 0 });
  await t.throwsAsync(late, { code: 'REVISION_NOT_MATCHED' });
  t.is((await handleCommand(log, deposits, 1, complete, anyContext(), { atRevision: 1 })).revision, 2);
});

test('a command that is refused anyway is refused for that, whatever revision it expects', async (t) => {
  const add = changeDeposit({ kind: 'add-content', archive: aliceArchive, entry: null }, { maxArchives: 32 });
  const atRevision = 0;
  const removed = { type: 'DeleteDeposit', depositId: 1, reason: 'Test.' } as const;
  for (const [end, code] of [
    [complete, 'DEPOSIT_NOT_PARTIAL'],
    [removed, 'DEPOSIT_NOT_FOUND'],
  ] as const) {
    await using log = new MemoryEventLog();
    await executeDeposit(log, 1, partial);
    await executeDeposit(log, 1, end);
    await t.throwsAsync(handleCommand(log, deposits, 1, add, anyContext(), { atRevision }), { code });
    await t.throwsAsync(assertPossible(log, deposits, 1, [add], { atRevision }), { code });
  }
});

test('the parked event is read once for all retries, and again only after writes of others', async (t) => {
  await using log = new MemoryEventLog();
  const operator = new AdminCommands(log, { kind: 'operator', name: 'test' });
  const parkedAs = (eventId: string) => {
    return { reactor: 'checker', eventId, stream: 'client-x', revision: 0, reason: 'it kills' };
  };
  const parked = ['e-1', 'e-2', 'e-3', 'e-4'].map(parkedAs);
  for (const event of parked) await operator.parking({ type: 'ParkEvent', ...event });
  const readStream = log.readStream.bind(log);
  let readings = 0;
  log.readStream = (...asked) => {
    readings += 1;
    return readStream(...asked);
  };
  for await (const { eventId } of operator.retryParked('checker', parked)) {
    t.is(readings, eventId < 'e-3' ? 1 : 3);
    if (eventId !== 'e-2') continue;
    await operator.parking({ type: 'ParkEvent', ...parkedAs('e-9') });
  }
  const events = await eventsOf(log, 'parked-checker');
  t.is(events.filter(({ type }) => type === 'ParkedRetried').length, 4);
  events.forEach((event, index) => {
    t.is(event.metadata['hash'], hashOf('parked-checker', index, event));
    t.is(event.metadata['prevHash'], events[index - 1]?.metadata['hash'] ?? null);
  });
});

test('a series of decisions about parked events reads no earlier decision twice', async (t) => {
  await using log = new MemoryEventLog();
  const [operator, other] = ['test', 'other'].map(
    (name) => new AdminCommands(log, { kind: 'operator', name }),
  ) as [AdminCommands, AdminCommands];
  const parkedAs = (eventId: string) => {
    return { reactor: 'checker', eventId, stream: 'client-x', revision: 0, reason: 'it kills' };
  };
  for (let index = 0; index < 20; index += 1)
    await other.parking({ type: 'ParkEvent', ...parkedAs(`e-${index}`) });
  const readStream = log.readStream.bind(log);
  let read = 0;
  log.readStream = async function* (...asked) {
    for await (const event of readStream(...asked)) {
      read += 1;
      yield event;
    }
  };
  for (let index = 0; index < 20; index += 1)
    await operator.parking({ type: 'RetryParked', reactor: 'checker', eventId: `e-${index}` });
  t.is(read, 20);
  const again = { type: 'RetryParked', reactor: 'checker', eventId: 'e-0' } as const;
  await t.throwsAsync(operator.parking(again), { code: 'NOT_PARKED' });
  log.readStream = readStream;
  await other.parking({ type: 'ParkEvent', ...parkedAs('e-0') });
  await t.notThrowsAsync(operator.parking(again), 'later decisions of others are read');
});

test('a parked event that is decided meanwhile is left out, and the others are retried', async (t) => {
  await using log = new MemoryEventLog();
  const operator = new AdminCommands(log, { kind: 'operator', name: 'test' });
  const parked = ['e-1', 'e-2', 'e-3', 'e-4'].map((eventId) => {
    return { reactor: 'loader', eventId, stream: 'client-x', revision: 0, reason: 'it kills' };
  });
  for (const event of parked) await operator.parking({ type: 'ParkEvent', ...event });
  const retried = [];
  for await (const { eventId } of operator.retryParked('loader', [...parked, ...parked])) {
    retried.push(eventId);
    if (eventId !== 'e-1') continue;
    await operator.parking({ type: 'RetryParked', reactor: 'loader', eventId: 'e-2' });
    await operator.parking({ type: 'SkipParked', reactor: 'loader', eventId: 'e-3', reason: 'Test.' });
  }
  t.deepEqual(retried, ['e-1', 'e-4']);
  t.is((await eventsOf(log, 'parked-loader')).length, 8);
});

test('deposit ids are unique, also for two nodes on one log', async (t) => {
  await using log = new MemoryEventLog();
  const [one, other] = [new DepositIdAllocator(log), new DepositIdAllocator(log)];
  const wanted = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? one : other).next());
  const ids = await Promise.all(wanted);
  t.deepEqual(
    ids.sort((a, b) => a - b),
    Array.from({ length: 200 }, (_, index) => index + 1),
  );
  t.true((await eventsOf(log, 'ids-deposit')).length < 20, 'concurrent requests for ids share a reservation');
  t.is(await new DepositIdAllocator(log).next(), 201, 'a node that starts later continues after the others');
});

test('after an event that is no reservation no ids are allocated, and the attempts end', async (t) => {
  await using log = new MemoryEventLog();
  t.is(await new DepositIdAllocator(log).next(), 1);
  for (const [index, data] of [{}, { first: '2', count: 1 }, { first: 2, count: 0.5 }].entries()) {
    await log.append('ids-deposit', index, [{ id: randomUUID(), type: 'Foreign', data, metadata: {} }]);
    const message = new RegExp(`Foreign at revision ${index + 1}, not DepositIdsReserved`);
    await t.throwsAsync(new DepositIdAllocator(log).next(), { message });
  }
  const empty = new MemoryEventLog();
  log.readStream = (stream) => empty.readStream(stream); // as if an engine has a record there that is no event
  // The retries of the reservation, and the wait for it, end at the same moment.
  const message =
    /^Could not reserve a deposit id(: the append to ids-deposit was rejected| within 0\.2 s\.$)/;
  const limits = { timeLimit: 200, firstPause: 5, longestPause: 50 };
  await t.throwsAsync(new DepositIdAllocator(log, limits).next(), { code: 'EVENT_LOG_UNAVAILABLE', message });
});

test('under load some ids are reserved ahead, none twice; with few requests none are', async (t) => {
  await using log = new MemoryEventLog();
  const ids = new DepositIdAllocator(log);
  const asking = async (count: number, times: number): Promise<number[]> => {
    const one = () =>
      Array.fromAsync({ length: times }, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return ids.next();
      });
    return (await Promise.all(Array.from({ length: count }, one))).flat();
  };
  t.deepEqual(await asking(1, 5), [1, 2, 3, 4, 5]);
  const append = log.append.bind(log);
  log.append = async (...asked) => {
    await pause(5); // as long as a sync may take
    return append(...asked);
  };
  const many = await asking(20, 50);
  t.is(new Set([...many, 1, 2, 3, 4, 5]).size, 1005);
  const reservations = await eventsOf(log, 'ids-deposit');
  const reserved = reservations.map(({ data }) => Number(data['count'])).reduce((sum, count) => sum + count);
  t.true(Math.max(...many) <= reserved && reserved < 1005 + 2 * 64, `${reserved} were reserved`);
  t.true(reserved > 1005, 'some were reserved for requests that did not arrive');
});

test('requests that overlap now and then share reservations, made ahead at their rate', async (t) => {
  await using log = new MemoryEventLog();
  const ids = new DepositIdAllocator(log);
  const allocated: number[] = [];
  const isAhead = ({ data }: { readonly data: object }): boolean => 'count' in data && data.count !== 1;
  while (!(await eventsOf(log, 'ids-deposit')).some(isAhead) && allocated.length < 10_000) {
    allocated.push(...(await Promise.all([ids.next(), ids.next()]))); // the second one waits for the next reservation
    await pause(1);
  }
  t.true((await eventsOf(log, 'ids-deposit')).some(isAhead), `${allocated.length} ids without one ahead`);
  t.is(new Set(allocated).size, allocated.length);
});

test('a recorded request is found by its client and key, and by no other pair with the same concatenation', async (t) => {
  await using log = new MemoryEventLog();
  const requests = new IdempotencyStore(log);
  const key = await requests.load('ab', 'c');
  t.is(key.earlier, undefined);
  const begun = await requests.begin(key, { fingerprints: ['f'], requestId: 'r', newId: async () => 1 });
  t.like(begun, { depositId: 1, requestId: 'r', fingerprint: 'f' });
  t.deepEqual(
    await requests.begin(key, { fingerprints: ['e', 'f'], requestId: 's', newId: async () => 2 }),
    begun,
    'the first one applies',
  );
  t.deepEqual((await requests.load('ab', 'c')).earlier, begun);
  t.is((await requests.load('a', 'bc')).earlier, undefined);
  await t.throwsAsync(requests.begin(key, { fingerprints: ['g'], requestId: 's', newId: async () => 2 }), {
    name: 'SwordError',
  });
});

test('an unavailable log refuses ids, and allocation recovers with it', async (t) => {
  await using log = new MemoryEventLog();
  const ids = new DepositIdAllocator(log);
  t.is(await ids.next(), 1);
  const append = log.append.bind(log);
  log.append = () => Promise.reject(Object.assign(new Error('away'), { code: 'EVENT_LOG_UNAVAILABLE' }));
  await t.throwsAsync(ids.next(), { code: 'EVENT_LOG_UNAVAILABLE' });
  let tries = 0;
  const begun = Promise.withResolvers<void>();
  log.append = async () => {
    tries += 1;
    begun.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    throw Object.assign(new Error('away'), { code: 'EVENT_LOG_UNAVAILABLE' });
  };
  const asked = [ids.next()];
  await begun.promise;
  asked.push(ids.next());
  const refused = await Promise.allSettled(asked);
  t.deepEqual(
    refused.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  t.is(tries, 2, 'a request that arrived meanwhile has its own attempt');
  log.append = append;
  t.is(await ids.next(), 2);
});
