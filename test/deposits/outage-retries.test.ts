import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { handleCommand, readState } from '../../src/deposits/command-handler.ts';
import { DepositIdAllocator } from '../../src/deposits/deposit-ids.ts';
import { IdempotencyStore } from '../../src/deposits/idempotency/idempotency-store.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import {
  type CallTimes,
  EventLogUnavailable,
  type ExpectedRevision,
  type NewEvent,
  type RecordedEvent,
  WrongExpectedRevision,
} from '../../src/event-log/event-log.ts';
import { EventStoreDbAttempts } from '../../src/event-log/eventstoredb/consumer-groups/delivery-attempts.ts';
import { OutageRetries } from '../../src/event-log/outage-retries.ts';
import { makeAnchor } from '../../src/modules/anchors/make-anchor.ts';
import { appendNodeEvent, askNodes } from '../../src/service/nodes/node-stream.ts';
import { anyContext, executeDeposit } from '../../testing/domain/commands.ts';
import { createDeposit } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const LIMITS = { timeLimit: 1000, firstPause: 5, longestPause: 80 };
/** Earliest time at which a request may give up: pauses vary by a quarter. */
const EARLIEST = LIMITS.timeLimit - 1.25 * LIMITS.longestPause - 5;
/** Latest time on a busy machine: less than a second time limit after the first. */
const LATEST = 1.8 * LIMITS.timeLimit;
/** Longer than the pauses of all appends that a command may lose to other writers. */
const OUTAGE = 2500;

const partial = createDeposit({ isFinal: false, entry: null });
const complete = { type: 'CompleteDeposit', depositId: 1, now: '2026-03-01T12:00:00.000Z' } as const;
const unusedKey = { client: 'alice', text: 'key', earlier: undefined };

/** A log without a quorum: an event that is not replicated is at the end of each stream; reads do not show it. */
class LogWithQuorum extends MemoryEventLog {
  isLost = false;
  /** The beginnings of all appends' time limits. */
  readonly began: (number | undefined)[] = [];

  override append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    options?: CallTimes,
  ) {
    this.began.push(options?.since);
    if (!this.isLost) return super.append(stream, expected, events);
    return Promise.reject(new WrongExpectedRevision(stream, expected, 'unknown'));
  }

  async loseFor(milliseconds: number): Promise<void> {
    this.isLost = true;
    await pause(milliseconds);
    this.isLost = false;
  }
}

const longRetries = () => new OutageRetries({ ...LIMITS, timeLimit: 10_000 });

test('a command rejected without a write by others succeeds once the quorum is back', async (t) => {
  await using log = new LogWithQuorum();
  await executeDeposit(log, 1, partial);
  void log.loseFor(OUTAGE);
  const { state } = await handleCommand(log, deposits, 1, complete, anyContext(), { retries: longRetries() });
  t.is(state.status, 'deposited');
  t.is((await readState(log, deposits, 1)).revision, 2, 'appended once');
});

test('an anchor is made once the quorum is back', async (t) => {
  await using log = new LogWithQuorum();
  await executeDeposit(log, 1, partial);
  const dataDir = await temporaryFolder(t);
  const options = { dataDir, anchorKeyFile: path.join(dataDir, 'anchor.key'), anchorFile: null };
  void log.loseFor(OUTAGE);
  const { anchor, made } = await makeAnchor(log, options);
  t.true(made);
  t.deepEqual(
    (await Array.fromAsync(log.readStream('anchors'))).map(({ data }) => data),
    [anchor],
  );
});

test('a creation under a new id succeeds once the quorum is back', async (t) => {
  await using log = new LogWithQuorum();
  void log.loseFor(100);
  const options = { fresh: true, retries: longRetries() };
  t.is((await handleCommand(log, deposits, 1, partial, anyContext(), options)).revision, 1);
});

test('a request with a key is recorded once the quorum is back', async (t) => {
  await using log = new LogWithQuorum();
  const requests = new IdempotencyStore(log);
  void log.loseFor(100);
  const begun = await requests.begin(
    unusedKey,
    { fingerprints: ['f'], requestId: 'r', newId: async () => 1 },
    longRetries(),
  );
  t.deepEqual((await requests.load('alice', 'key')).earlier, begun);
});

test('an attempt of a reactor is counted once the quorum is back, after few appends', async (t) => {
  await using log = new LogWithQuorum();
  await executeDeposit(log, 1, partial);
  const [event] = (await Array.fromAsync(log.readAll())) as [RecordedEvent];
  log.began.length = 0;
  void log.loseFor(500);
  const attempt = { id: randomUUID(), isAlone: false };
  t.is(await new EventStoreDbAttempts(log).next('checker', event, attempt), 1);
  t.true(log.began.length < 15, `${log.began.length} appends`);
});

test('nodes are asked for their confirmation once the quorum is back', async (t) => {
  await using log = new LogWithQuorum();
  await appendNodeEvent(log, { type: 'NodeStarted', data: { node: 'one' } });
  void log.loseFor(300);
  t.deepEqual((await askNodes(log))?.nodes, ['one']);
});

test('without a quorum requests are refused as in an outage, exactly after their time limit', async (t) => {
  await using log = new LogWithQuorum();
  await executeDeposit(log, 1, partial);
  log.isLost = true;
  const requests: Record<string, (retries: OutageRetries) => Promise<unknown>> = {
    change: (retries) => handleCommand(log, deposits, 1, complete, anyContext(), { retries }),
    creation: (retries) => handleCommand(log, deposits, 2, partial, anyContext(), { fresh: true, retries }),
    key: (retries) =>
      new IdempotencyStore(log).begin(
        unusedKey,
        { fingerprints: ['f'], requestId: 'r', newId: async () => 1 },
        retries,
      ),
    id: ({ since }) => new DepositIdAllocator(log, LIMITS).next(since),
  };
  for (const [name, request] of Object.entries(requests)) {
    const since = performance.now();
    log.began.length = 0;
    await t.throwsAsync(request(new OutageRetries(LIMITS, since)), { code: 'EVENT_LOG_UNAVAILABLE' }, name);
    const took = performance.now() - since;
    t.true(took > EARLIEST && took < LATEST, `${name}: ${took} ms`);
    t.true(log.began.length > 5, `${name}: ${log.began.length} appends`);
    t.true(
      log.began.every((began) => began === since),
      `${name}: one time limit for the whole request`,
    );
  }
});

test('a request that arrives while a reservation of ids fails has its own time limit', async (t) => {
  await using log = new LogWithQuorum();
  log.isLost = true;
  const ids = new DepositIdAllocator(log, LIMITS);
  const refusedAfter = async (): Promise<number> => {
    const began = performance.now();
    await t.throwsAsync(ids.next(), { code: 'EVENT_LOG_UNAVAILABLE' });
    return performance.now() - began;
  };
  const requests = [refusedAfter()];
  for (let count = 0; count < 4; count += 1) {
    await pause(LIMITS.timeLimit / 4);
    requests.push(refusedAfter(), refusedAfter());
  }
  for (const took of await Promise.all(requests)) t.true(took > EARLIEST && took < LATEST, `${took} ms`);
});

test('requests that wait for ids while the log is unavailable get them when it recovers', async (t) => {
  await using log = new LogWithQuorum();
  const ids = new DepositIdAllocator(log, { ...LIMITS, timeLimit: 10_000 });
  void log.loseFor(OUTAGE);
  const waiting = [ids.next()];
  await pause(50);
  waiting.push(ids.next(), ids.next());
  t.deepEqual(await Promise.all(waiting), [1, 2, 3]);
});

test('a failed reservation does not fail requests that arrived during it', async (t) => {
  await using log = new LogWithQuorum();
  const ids = new DepositIdAllocator(log, LIMITS);
  const append = log.append.bind(log);
  const first = Promise.withResolvers<never>();
  log.append = () => first.promise;
  const failing = ids.next();
  await pause(0);
  const later = ids.next();
  log.append = append;
  first.reject(new EventLogUnavailable('away'));
  await t.throwsAsync(failing, { code: 'EVENT_LOG_UNAVAILABLE' });
  t.is(await later, 1);
});

test("the command's own events, found after a rejected append, are its outcome", async (t) => {
  await using log = new LogWithQuorum();
  await executeDeposit(log, 1, partial);
  const append = log.append.bind(log);
  let rejections = 0;
  log.append = async (...asked) => {
    const appended = await append(...asked);
    rejections += 1;
    if (rejections === 1) throw new WrongExpectedRevision('deposit-1', 1, 2);
    return appended;
  };
  const { state, events, revision } = await executeDeposit(log, 1, complete);
  t.deepEqual([state.status, revision, rejections], ['deposited', 2, 1]);
  t.deepEqual(
    events.map(({ type }) => type),
    ['DepositCompleted'],
  );
});

test('no event is repeated under its id if an append was accepted although it was rejected', async (t) => {
  await using log = new MemoryEventLog();
  const append = log.append.bind(log);
  let rejected: string | undefined;
  log.append = async (stream, ...rest) => {
    const appended = await append(stream, ...rest);
    if (rejected === stream) return appended;
    rejected = stream;
    throw new WrongExpectedRevision(stream, rest[0], 'unknown'); // a repetition, before the quorum was back
  };
  t.is(await new DepositIdAllocator(log, LIMITS).next(), 2, 'the first id is never used');
  const { revision } = await appendNodeEvent(log, { type: 'NodeStarted', data: { node: 'one' } });
  t.is(revision, 0);
  const ids = (await Array.fromAsync(log.readAll())).map(({ id }) => id);
  t.is(new Set(ids).size, ids.length);
});

test('a reservation follows the one that the log has, if that was accepted only after repetitions', async (t) => {
  await using log = new MemoryEventLog();
  const append = log.append.bind(log);
  let isLost = true;
  let accept: (() => Promise<unknown>) | undefined;
  log.append = async (stream, ...rest) => {
    accept ??= () => append(stream, ...rest); // replicated once the quorum is back
    if (isLost) throw new WrongExpectedRevision(stream, rest[0], 'unknown');
    await accept();
    return append(stream, ...rest);
  };
  const ids = new DepositIdAllocator(log, LIMITS);
  const waiting = ids.next();
  await pause(30);
  isLost = false;
  t.is(await waiting, 1);
  t.is(await ids.next(), 2);
  const [one, two] = await Array.fromAsync(log.readStream('ids-deposit'));
  t.is(two?.metadata['prevHash'], one?.metadata['hash']);
});
