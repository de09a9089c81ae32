import test, { type ExecutionContext } from 'ava';
import type { ArchiveReader } from '../../src/archives/archive-reader.ts';
import { defaultArchiveLimits } from '../../src/archives/archive-reader.ts';
import { ArchiveWorkers } from '../../src/archives/workers/archive-workers.ts';
import { handleCommand } from '../../src/deposits/command-handler.ts';
import { KeptStates } from '../../src/deposits/kept-states.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import type { Deposit } from '../../src/domain/deposit/state.ts';
import type { Appended, EventLog, RecordedEvent } from '../../src/event-log/event-log.ts';
import { hashOf } from '../../src/event-log/integrity/hash-chain.ts';
import { toChunks } from '../../src/object-store/chunks.ts';
import { FilesystemObjectStore } from '../../src/object-store/filesystem/filesystem-object-store.ts';
import { checker, loader } from '../../src/reactors/deposit-reactors.ts';
import type { Reactor } from '../../src/reactors/reactor.ts';
import { observed } from '../../src/tools/observed.ts';
import { anyContext } from '../../testing/domain/commands.ts';
import { aliceArchive, createDeposit } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { helloZip } from '../../testing/http/deposit-bodies.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const STREAM = 'deposit-1';
const SIGNAL = new AbortController().signal;

class CountingLog extends MemoryEventLog {
  readonly appends: number[] = [];
  reads = 0;

  override async append(...call: Parameters<MemoryEventLog['append']>): Promise<Appended> {
    const appended = await super.append(...call);
    this.appends.push(call[2].length);
    return appended;
  }

  override readStream(...call: Parameters<MemoryEventLog['readStream']>) {
    this.reads += 1;
    return super.readStream(...call);
  }
}

/** A reader of archives that makes no trees, as for large archives. */
function withoutTrees(reader: ArchiveReader): ArchiveReader {
  return observed(reader, {
    inspect: async (inspect, ...archive) => {
      const inspection = await inspect(...archive);
      return inspection.outcome === 'refused' ? inspection : { ...inspection, tree: undefined as never };
    },
  });
}

async function start(t: ExecutionContext) {
  const store = await FilesystemObjectStore.open({ folder: await temporaryFolder(t) });
  const reader = new ArchiveWorkers({ size: 1 });
  t.teardown(async () => {
    await reader[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
  const { sha256 } = await store.put(toChunks(helloZip));
  const archive = { ...aliceArchive, filename: 'hello.zip', sha256 };
  const create = async (log: EventLog, kept?: KeptStates<Deposit>, length = archive.length) => {
    const context = anyContext({ commandId: 'the same for each log', correlationId: 'as well' });
    const command = createDeposit({ archive: { ...archive, length } });
    await handleCommand(log, deposits, 1, command, context, { fresh: true, kept });
  };
  const reactors = (log: EventLog, kept = new KeptStates<Deposit>(), by: ArchiveReader = reader) => {
    const parts = { log, kept, store, identity: 'Ada <ada@example.org>' };
    const noViews = { logins: { get: () => undefined }, views: { position: undefined } };
    return {
      checker: checker({ ...parts, reader: by, limits: defaultArchiveLimits, ...noViews }),
      loader: loader({ ...parts, reader: by }),
    };
  };
  return { reader, create, reactors };
}

async function eventsOf(log: EventLog): Promise<RecordedEvent[]> {
  return Array.fromAsync(log.readStream(STREAM));
}

/** Lets the reactor handle each event that it reacts to. */
async function run(log: EventLog, reactor: Reactor): Promise<void> {
  for (const event of await eventsOf(log)) if (reactor.reactsTo(event)) await reactor.react(event, SIGNAL);
}

/** The events without what differs by the time of their append. */
function facts(events: readonly RecordedEvent[]) {
  return events.map(({ id, type, data, metadata: { occurredAt, hash, prevHash: _before, ...metadata } }) => {
    return {
      id,
      type,
      data,
      metadata,
      isTimed: [occurredAt, hash].every((text) => typeof text === 'string'),
    };
  });
}

test('a small archive is checked and loaded by one append of the events of checker and loader', async (t) => {
  const { reader, create, reactors } = await start(t);
  await using together = new CountingLog();
  const kept = new KeptStates<Deposit>();
  await create(together, kept);
  const both = reactors(together, kept);
  together.reads = 0;
  const event = (await eventsOf(together)).at(-1)!;
  t.is(await both.checker.ownerOf(event), 'alice');
  await both.checker.react(event, SIGNAL);
  t.is(together.reads, 2, 'one by this test, one by the domain, since the views are behind');
  t.deepEqual(together.appends, [4, 3]);
  const verified = (await eventsOf(together)).find(({ type }) => type === 'DepositVerified')!;
  together.reads = 0;
  await both.loader.react(verified, SIGNAL);
  t.deepEqual([together.reads, together.appends.length], [0, 2], 'the loader has nothing to do');
  t.deepEqual([both.loader.reactsTo(verified), both.loader.isDone?.(verified)], [false, true]);
  t.true(reactors(together).loader.reactsTo(verified), 'a node without a cache reads the stream');

  await using apart = new CountingLog();
  await create(apart);
  const other = reactors(apart, new KeptStates(), withoutTrees(reader));
  await run(apart, other.checker);
  await run(apart, other.loader);
  t.deepEqual(apart.appends, [4, 1, 1, 1]);
  t.deepEqual(facts(await eventsOf(together)), facts(await eventsOf(apart)));
});

test('a deposit takes one slot only if it is known that its archive is small', async (t) => {
  const { create, reactors } = await start(t);
  const slotsOf = async (length: number, isKept = true): Promise<number | undefined> => {
    await using log = new MemoryEventLog();
    const kept = new KeptStates<Deposit>();
    await create(log, kept, length);
    const event = (await eventsOf(log)).at(-1)!;
    return reactors(log, isKept ? kept : undefined).checker.slotsOf?.(event);
  };
  t.is(await slotsOf(1024 ** 2), 1);
  t.is(await slotsOf(1024 ** 2 + 1), 4);
  t.is(await slotsOf(1024 ** 2, false), 4);
});

test('concurrent checks and loads of several nodes are recorded once, whichever nodes know the tree', async (t) => {
  const { reader, create, reactors } = await start(t);
  for (const readers of [
    [reader, reader],
    [reader, withoutTrees(reader)],
    [withoutTrees(reader), reader],
  ]) {
    await using log = new CountingLog();
    const kept = new KeptStates<Deposit>();
    await create(log, kept);
    const nodes = readers.map((each, index) => reactors(log, index === 0 ? kept : new KeptStates(), each));
    await Promise.all(nodes.map((node) => run(log, node.checker)));
    await Promise.all(nodes.map((node) => run(log, node.loader)));
    const events = await eventsOf(log);
    t.deepEqual(
      events.slice(-3).map(({ type }) => type),
      ['DepositVerified', 'LoadingStarted', 'DepositLoaded'],
    );
    for (const [revision, event] of events.entries()) {
      t.is(event.metadata['hash'], hashOf(STREAM, revision, event));
      t.is(event.metadata['prevHash'], events[revision - 1]?.metadata['hash'] ?? null);
    }
    t.is(new Set(events.map(({ id }) => id)).size, 7);
  }
});

test('a check of a deposit that an operator has retried meanwhile loads nothing', async (t) => {
  const { create, reactors } = await start(t);
  await using log = new CountingLog();
  const kept = new KeptStates<Deposit>();
  await create(log, kept);
  const first = (await eventsOf(log)).at(-1)!;
  await handleCommand(log, deposits, 1, { type: 'RetryChecks', depositId: 1 }, anyContext());
  await reactors(log, kept).checker.react(first, SIGNAL);
  t.is((await eventsOf(log)).at(-1)?.type, 'ChecksRetried');
  await run(log, reactors(log).checker);
  t.is((await eventsOf(log)).at(-1)?.type, 'DepositLoaded');
});
