import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { completeDeposit } from '../../src/deposits/change.ts';
import { openDeposits } from '../../src/deposits/client-write.ts';
import { createDeposit } from '../../src/deposits/create.ts';
import {
  EventLogUnavailable,
  type ReadStreamOptions,
  type RecordedEvent,
  type SubscribeOptions,
  type SubscriptionMessage,
} from '../../src/event-log/event-log.ts';
import { Projector } from '../../src/views/projector.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import { aliceArchive, fallbackOrigin } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { archiveHeaders, formType, helloForm, helloZip } from '../../testing/http/deposit-bodies.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';

const LIMITS = { timeLimit: 3000, firstPause: 5, longestPause: 100 };

/** A log whose events do not reach views, as while its subscription is broken, and whose reads may fail. */
class LogWithFaults extends MemoryEventLog {
  isAway = false;
  hasSubscribers = true;
  deliveryDelayMs = 0;
  /** Number of the next reads that do not show the last event, as by a leader that was deposed. */
  staleReads = 0;
  /** The streams that were read, in order. */
  readonly read: string[] = [];

  override async *readStream(stream: string, options?: ReadStreamOptions): AsyncGenerator<RecordedEvent> {
    this.read.push(stream);
    if (this.isAway) throw new EventLogUnavailable('The log is away.');
    const events = await Array.fromAsync(super.readStream(stream, options));
    const isStale = this.staleReads > 0;
    if (isStale) this.staleReads -= 1;
    yield* isStale ? events.slice(0, -1) : events;
  }

  override async *subscribe(options?: SubscribeOptions): AsyncGenerator<SubscriptionMessage> {
    for await (const message of super.subscribe(options)) {
      if (!this.hasSubscribers) continue;
      await pause(this.deliveryDelayMs);
      yield message;
    }
  }
}

/** Returns a partial deposit, and the view of it as it is before the deposit is completed. */
async function serviceWithOldView(t: ExecutionContext) {
  const log = new LogWithFaults();
  const store = new SqliteViewStore(await temporaryFolder(t), 'memory');
  const projector = new Projector(log, store);
  const deposits = openDeposits({ log, projector, isShared: true, maxArchives: 20, limits: LIMITS });
  await projector.start((error) => t.fail(String(error)));
  t.teardown(async () => {
    await projector.stop();
    store[Symbol.dispose]();
  });
  const write = () => ({
    requestId: randomUUID(),
    login: { client: 'alice', providerUrl: null, domain: null },
    method: 'POST',
    iriPath: '/1/software',
    inProgress: true,
    isFinal: false,
    slug: null,
    isRepeated: false,
    confirm: async () => undefined,
    receive: async () => ({ archive: aliceArchive, entry: null }),
  });
  const iris = { deposit: () => fallbackOrigin, edit: () => fallbackOrigin };
  const place = { collection: 'software', iris };
  const { depositId } = await createDeposit(deposits, { ...write(), ...place });
  log.hasSubscribers = false;
  const complete = () => completeDeposit(deposits, depositId, write());
  return { log, deposits: deposits.queries, depositId, complete };
}

test('a write resolves once the views of this node have it', async (t) => {
  const { log, deposits, complete } = await serviceWithOldView(t);
  Object.assign(log, { hasSubscribers: true, deliveryDelayMs: 100 });
  await complete();
  const all = { status: null, origin: null, page: 1, pageSize: 10, cursor: null };
  const listed = await deposits.list({ client: 'alice', collection: 'software', ...all });
  t.deepEqual(
    listed.deposits.map(({ status }) => status),
    ['deposited'],
  );
});

test('the response to a write is read from the log if the view of this node does not have the write', async (t) => {
  const { deposits, depositId, complete } = await serviceWithOldView(t);
  const { revision } = await complete();
  t.is(revision, 2);
  t.like(await deposits.status(depositId, revision), { status: 'deposited', revision });
  t.like(await deposits.content(depositId, revision), { status: 'deposited', revision });
});

test('a stale view answers no write while the log is unavailable, but still answers other requests', async (t) => {
  const { log, deposits, depositId, complete } = await serviceWithOldView(t);
  const { revision } = await complete();
  log.isAway = true;
  const refused = { code: 'EVENT_LOG_UNAVAILABLE' };
  await t.throwsAsync(deposits.status(depositId, revision), refused);
  await t.throwsAsync(deposits.content(depositId, revision), refused);
  await t.throwsAsync(deposits.contentAt(depositId, revision), refused);
  t.like(await deposits.status(depositId), { status: 'partial', revision: 1 });
});

test('a read that does not show the write is repeated until one does, or refused', async (t) => {
  const { log, deposits, depositId, complete } = await serviceWithOldView(t);
  const { revision } = await complete();
  const reads = [
    () => deposits.status(depositId, revision),
    () => deposits.content(depositId, revision),
    () => deposits.contentAt(depositId, revision),
  ];
  for (const read of reads) {
    log.staleReads = 3;
    t.like(await read(), { status: 'deposited' });
    t.is(log.staleReads, 0);
  }
  log.staleReads = Infinity;
  await t.throwsAsync(deposits.status(depositId, revision), { code: 'EVENT_LOG_UNAVAILABLE' });
});

test('an id of another client costs the same reads as an unknown one', async (t) => {
  const { log, deposits, depositId } = await serviceWithOldView(t);
  t.like(await deposits.ownStatus(depositId, 'alice'), { depositId });
  t.like(await deposits.ownContent(depositId, 'alice'), { depositId });
  for (const id of [depositId, 99]) {
    for (const read of [() => deposits.ownStatus(id, 'bob'), () => deposits.ownContent(id, 'bob')]) {
      log.read.length = 0;
      t.is(await read(), undefined);
      t.is(log.read.length, 1, `${id}`);
      t.false(log.read.includes(`deposit-${depositId}`), 'the stream of the other client is not read');
    }
  }
});

test('a write whose result cannot be read gets 503, not the document and status from before', async (t) => {
  await using nodes = await DistributedNodes.start({ callTimeout: 1000, retryTimeout: 1000 });
  const { faults, log } = nodes.double;
  const node = await nodes.add(['http']);
  const alice = await nodes.register(node);
  const created = await alice.post('/1/software/', helloForm, { ...formType, 'In-Progress': 'true' });
  t.is(created.status, 201);
  const statusNow = async () => (await alice.get('/1/software/1/status/')).text();
  await until(async () => (await statusNow()).includes('<deposit_status>partial<'));
  // The view of the node does not change from here on; the log is lost as soon as the write is stored.
  faults.set('subscribe', { kind: 'refuse', code: status.UNAVAILABLE }, Infinity);
  nodes.double.dropSubscriptions();
  const isLostWith = (type: string) => {
    const forget = log.onAppended(() => {
      if (log.stream('deposit-1').at(-1)?.type !== type) return;
      faults.set('read', { kind: 'refuse', code: status.UNAVAILABLE }, Infinity);
      forget();
    });
  };
  const isBack = () => {
    faults.clear();
    faults.set('subscribe', { kind: 'refuse', code: status.UNAVAILABLE }, Infinity);
  };
  isLostWith('ArchiveAdded');
  const added = await alice.post('/1/software/1/media/', helloZip, archiveHeaders('more.zip'));
  t.is(added.status, 503);
  t.is(added.headers.get('etag'), null);
  isBack();
  isLostWith('DepositCompleted');
  const completed = await alice.post('/1/software/1/metadata/', null, { 'In-Progress': 'false' });
  t.is(completed.status, 503);
  t.is(log.stream('deposit-1').at(-1)?.type, 'DepositCompleted', 'the write itself is visible');
  t.regex(await statusNow(), /<deposit_status>partial</, 'a GET accepts a stale view');
  isBack();
  const again = await alice.post('/1/software/1/metadata/', null, { 'In-Progress': 'false' });
  t.is(again.status, 200);
  t.regex(await again.text(), /deposit_status>deposited</);
});
