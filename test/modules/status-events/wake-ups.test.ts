import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import {
  type NewEvent,
  type ReadStreamOptions,
  type RecordedEvent,
  StaleRead,
} from '../../../src/event-log/event-log.ts';
import { EventStreams, type OpenStream } from '../../../src/modules/status-events/event-streams.ts';
import { CollectionStatusChanges } from '../../../src/modules/status-events/status-change-sources.ts';
import { CLOCK_OF_NODE } from '../../../src/tools/clock.ts';
import { runInWorld } from '../../../src/tools/outside-world.ts';
import type { View } from '../../../src/views/view.ts';
import { MemoryEventLog } from '../../../testing/event-log/memory-event-log.ts';

const ALICE = { client: 'alice', collection: 'software' };
const BOB = { client: 'bob', collection: 'software' };
const OCCURRED_AT = '2026-03-01T10:00:00.000Z';
const OPERATOR = { kind: 'operator', name: 'root' };

/** View that has no deposit, as after the deletion of all. */
const NONE = { get: () => undefined } as unknown as View<DepositStatusView>;

/** Log of an engine in which an operator has deleted the stream of deposit 1: its events are still in the whole log. */
class LogWithDeletedStream extends MemoryEventLog {
  override async *readStream(stream: string, options?: ReadStreamOptions): AsyncGenerator<RecordedEvent> {
    if (stream !== 'deposit-1') yield* super.readStream(stream, options);
  }
}

class CountingLog extends MemoryEventLog {
  readonly read: string[] = [];

  override readStream(stream: string, options?: ReadStreamOptions): AsyncGenerator<RecordedEvent> {
    this.read.push(stream);
    return super.readStream(stream, options);
  }
}

function clientNamed(name: string) {
  return { kind: 'client', name };
}

function newEvent(type: string, depositId: number, actor: NewEvent['metadata'], owner = {}): NewEvent {
  const occurredAt = OCCURRED_AT;
  return {
    id: randomUUID(),
    type,
    data: { depositId, ...owner },
    metadata: { schemaVersion: 1, occurredAt, actor },
  };
}

/** Appends a deposit of a client that someone has deleted. */
async function appendDeleted(
  log: MemoryEventLog,
  id: number,
  owner: typeof ALICE,
  deleter: NewEvent['metadata'],
) {
  await log.append(`deposit-${id}`, 'none', [
    newEvent('DepositCreated', id, clientNamed(owner.client), { ...owner, slug: null, uuid: randomUUID() }),
    newEvent('DepositDeleted', id, deleter),
  ]);
}

async function typesFrom(source: CollectionStatusChanges): Promise<string[]> {
  const changes = await Array.fromAsync(source.more());
  return changes.map(({ change: { event, deposit } }) => `${event.type} ${deposit.depositId}`);
}

/** Opens streams of Alice and Bob. Returns who is woken by the deletion of a deposit. */
async function wokenBy(t: ExecutionContext, deleter: NewEvent['metadata']): Promise<string[]> {
  await using log = new MemoryEventLog();
  let publish: (events: readonly RecordedEvent[]) => void = () => t.fail();
  const listen = (listener: typeof publish) => {
    publish = listener;
    return () => {};
  };
  using streams = new EventStreams({ projector: { listen }, statuses: NONE });
  using alices = streams.open('alice', ALICE);
  using bobs = streams.open('bob', BOB);
  for (const stream of [alices, bobs]) await stream.waitForChange(0);
  await log.append('deposit-1', 'none', [newEvent('DepositDeleted', 1, deleter)]);
  publish(await Array.fromAsync(log.readAll()));
  const isWoken = async (stream: OpenStream) => (await stream.waitForChange(0)) === 'some';
  return [...((await isWoken(alices)) ? ['alice'] : []), ...((await isWoken(bobs)) ? ['bob'] : [])];
}

function changesOf(log: MemoryEventLog, owner: typeof ALICE, stream = { isClosed: false, upTo: undefined }) {
  const parts = { log, statuses: NONE, stream: stream as OpenStream, after: undefined };
  return new CollectionStatusChanges({ ...owner, ...parts, toToken: (position) => position });
}

test('a deletion by a client wakes the streams of that client only', async (t) => {
  t.deepEqual(await wokenBy(t, clientNamed('bob')), ['bob']);
});

test('a deletion by an operator wakes all streams of collections', async (t) => {
  t.deepEqual(await wokenBy(t, OPERATOR), ['alice', 'bob']);
});

test('no stream is opened once the service stops', (t) => {
  const streams = new EventStreams({ projector: { listen: () => () => undefined }, statuses: NONE });
  streams[Symbol.dispose]();
  t.throws(() => streams.open('alice', { depositId: 1 }), { code: 'ServiceUnavailable' });
});

test('a stream does not read the deposits that other clients have deleted', async (t) => {
  await using log = new CountingLog();
  await appendDeleted(log, 1, BOB, clientNamed('bob'));
  await appendDeleted(log, 2, ALICE, clientNamed('alice'));
  await appendDeleted(log, 3, ALICE, OPERATOR);
  t.deepEqual(await typesFrom(changesOf(log, ALICE)), [
    'DepositCreated 2',
    'DepositDeleted 2',
    'DepositCreated 3',
    'DepositDeleted 3',
  ]);
  t.deepEqual(new Set(log.read), new Set(['deposit-2', 'deposit-3']));
  t.deepEqual(await typesFrom(changesOf(log, { ...ALICE, collection: 'other' })), []);
});

test('a stream that is closed does not advance past events that it has not sent', async (t) => {
  await using log = new MemoryEventLog();
  await appendDeleted(log, 1, ALICE, clientNamed('alice'));
  const stream = { isClosed: false, upTo: undefined };
  const source = changesOf(log, ALICE, stream);
  let sent: string | undefined;
  for await (const { token } of source.more()) {
    t.is(sent, undefined);
    sent = token;
    stream.isClosed = true;
  }
  t.not(sent, undefined);
  t.is(source.token, sent);
});

test('a stream that catches up lets the event loop turn between its changes', async (t) => {
  await using log = new MemoryEventLog();
  for (let id = 1; id <= 50; id += 1) await appendDeleted(log, id, ALICE, clientNamed('alice'));
  let [turns, isOver] = [0, false];
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const changes = await typesFrom(changesOf(log, ALICE));
  isOver = true;
  t.is(changes.length, 100);
  t.true(turns >= 10, `${turns} turns`);
});

test('a stream skips old events of a deposit whose stream an operator has deleted in the engine', async (t) => {
  await using log = new LogWithDeletedStream();
  await appendDeleted(log, 1, ALICE, clientNamed('alice'));
  await appendDeleted(log, 2, ALICE, clientNamed('alice'));
  const readAfter = (minutes: number): Promise<string[]> => {
    const clock = { ...CLOCK_OF_NODE, now: () => Date.parse(OCCURRED_AT) + minutes * 60_000 };
    return runInWorld({ clock }, () => typesFrom(changesOf(log, ALICE)));
  };
  await t.throwsAsync(readAfter(59), { instanceOf: StaleRead }, 'a later read may show them');
  t.deepEqual(await readAfter(61), ['DepositCreated 2', 'DepositDeleted 2']);
});
