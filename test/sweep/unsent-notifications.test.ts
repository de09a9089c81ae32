import test from 'ava';
import type { ClientWebhook } from '../../projections/client-webhooks.ts';
import { type DepositStatusView, depositStatus } from '../../projections/deposit-status.ts';
import { handleCommand } from '../../src/deposits/command-handler.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import { stuckDeposits } from '../../src/reactors/sweep/stuck-deposits.ts';
import { Sweep } from '../../src/reactors/sweep/sweep.ts';
import { UnreadableDeposits } from '../../src/reactors/sweep/unreadable-deposits.ts';
import { UnsentNotifications } from '../../src/reactors/sweep/unsent-notifications.ts';
import { CLOCK_OF_NODE } from '../../src/tools/clock.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { foldStream } from '../../src/views/fold.ts';
import type { View } from '../../src/views/view.ts';
import { anyContext } from '../../testing/domain/commands.ts';
import { createDeposit } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { until } from '../../testing/processes/until.ts';
import { keptLines } from '../../testing/service/kept-lines.ts';

const HOUR = 3_600_000;
const at = (milliseconds: number): string => new Date(Date.now() + milliseconds).toISOString();

/** Returns a log with a way to add a deposit at a time, and the search for its unsent notifications. */
function searched() {
  const log = new MemoryEventLog();
  const rows: DepositStatusView[] = [];
  const nothing = { get: () => undefined, values: () => [].values(), find: () => [] };
  const webhook = { client: 'alice', since: '' } as ClientWebhook;
  const present = new Map([['alice', webhook]]);
  const webhooks = {
    ...nothing,
    get: (client: string) => present.get(client),
    values: () => present.values(),
  };
  const sent = new Map<string, { readonly revisions: readonly number[] }>();
  const recorded = { ...nothing, get: (depositId: string) => sent.get(depositId) };
  const find: View<DepositStatusView>['find'] = ({ equal, from, upTo }) =>
    rows.filter(
      ({ status, updatedAt }) =>
        status === equal?.['status'] && updatedAt >= String(from?.value) && updatedAt <= String(upTo?.value),
    );
  const views = { webhooks, statuses: { ...nothing, find }, recorded, deleted: nothing };
  const { logger, lines } = keptLines('warn');
  const unreadable = new UnreadableDeposits(log, logger);
  const options = { log, giveUpAfter: 72 * HOUR, views: views as never, unreadable };
  const unsent = new UnsentNotifications(options);
  const create = async (depositId: number, now: string): Promise<void> => {
    await handleCommand(log, deposits, depositId, createDeposit({ depositId, now }), anyContext({ now }));
    const view = await foldStream(depositStatus, log.readStream(`deposit-${depositId}`));
    if (view) rows.push(view);
  };
  /** Adds a deposit to the view whose stream this release cannot read. */
  const createUnreadable = async (depositId: number): Promise<void> => {
    const stored = { id: crypto.randomUUID(), type: 'OfALaterRelease', data: {}, metadata: {} };
    await log.append(`deposit-${depositId}`, 'none', [stored]);
    rows.push(...rows.slice(0, 1).map((row) => ({ ...row, depositId })));
  };
  const stuck = async (limit: string): Promise<string[]> => {
    const statuses = { ...nothing, find } as never;
    const { signal } = new AbortController();
    const all = await Array.fromAsync(stuckDeposits(log, statuses, limit, unreadable, signal));
    return all.map(({ event }) => event.stream);
  };
  const found = async (limit: string): Promise<string[]> =>
    (await Array.fromAsync(unsent.find(limit, new AbortController().signal))).map(({ stream }) => stream);
  /** Adds a later change of a deposit to the view, with a notification that is recorded. */
  const change = (depositId: number, updatedAt: string): void => {
    const [row] = rows.filter((one) => one.depositId === depositId).map((one) => ({ ...one, updatedAt }));
    if (!row) return;
    rows.push({ ...row, revision: row.revision + 1 });
    sent.set(String(depositId), { revisions: [row.revision + 1] });
  };
  const removeWebhook = (): void => void present.delete('alice');
  return { create, change, createUnreadable, found, stuck, lines, log, views, unsent, removeWebhook };
}

test('an unsent notification is found until it is recorded, once in each run', async (t) => {
  const { create, found } = searched();
  await create(1, at(-HOUR / 4));
  t.deepEqual(await found(at(-1000)), ['deposit-1']);
  t.deepEqual(await found(at(-1000)), ['deposit-1']);
  t.deepEqual(await found(at(-1000)), ['deposit-1']);
});

test('an unsent notification is found also after a run with a fast clock', async (t) => {
  const { create, found } = searched();
  t.deepEqual(await found(at(48 * HOUR)), []);
  await create(1, at(-HOUR));
  t.deepEqual(await found(at(-1000)), ['deposit-1']);
});

test('a deposit is no longer unrecorded once a later notification is recorded, or without a webhook', async (t) => {
  const { create, change, found, unsent, removeWebhook } = searched();
  for (const id of [1, 2]) await create(id, at(-100 * HOUR));
  t.deepEqual(await found(at(-2000)), []);
  t.deepEqual(unsent.unrecorded, { count: 2, depositIds: [1, 2] });
  change(1, at(-1000));
  t.deepEqual(await found(at(0)), []);
  t.deepEqual(unsent.unrecorded, { count: 1, depositIds: [2] });
  removeWebhook();
  t.deepEqual(await found(at(0)), []);
  t.deepEqual(unsent.unrecorded, { count: 0, depositIds: [] });
});

test('other work runs between two deposits whose streams a sweep reads', async (t) => {
  const { create, found, stuck } = searched();
  for (const id of [1, 2, 3]) await create(id, at(-HOUR / 4));
  for (const search of [found, stuck]) {
    let [turns, isOver] = [0, false];
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    t.is((await search(at(-1000))).length, 3);
    isOver = true;
    t.true(turns >= 3, `${turns} turns`);
  }
});

test('a deposit whose stream cannot be read hides no other one', async (t) => {
  const { create, createUnreadable, found, stuck, lines, log } = searched();
  await create(1, at(-HOUR / 4));
  await createUnreadable(2);
  await create(3, at(-HOUR / 4));
  t.deepEqual(await found(at(-1000)), ['deposit-1', 'deposit-3']);
  t.deepEqual(await found(at(-1000)), ['deposit-1', 'deposit-3']);
  t.deepEqual(await stuck(at(-1000)), ['deposit-1', 'deposit-3']);
  t.deepEqual(
    lines.map(({ depositId }) => depositId),
    [2, 2], // one line for each of two reasons
  );
  await log[Symbol.asyncDispose]();
  await t.throwsAsync(found(at(-1000)), { code: 'EVENT_LOG_UNAVAILABLE' });
});

test('a deposit whose stream cannot be read is logged once, again when its error changes or returns, and after a day', async (t) => {
  const { create, createUnreadable, log, views } = searched();
  await create(1, at(-HOUR / 4));
  await createUnreadable(2);
  const { logger, lines } = keptLines('warn');
  let [sweeps, later, reason] = [0, 0, 'one' as string | undefined];
  const failing = {
    head: () => log.head(),
    readStream: async function* (stream: string) {
      if (stream === 'deposit-2' && reason !== undefined) throw new Error(reason);
      yield* log.readStream(stream === 'deposit-2' ? 'deposit-1' : stream);
    },
  };
  const deliveries = { status: async () => ({ position: void (sweeps += 1) }) };
  const runner = {
    name: 'checker',
    streamPrefix: 'deposit-',
    parked: async () => new Set(),
    isWorkingOn: () => true,
  };
  const parking = { waiting: async () => [] };
  const parts = { log: failing, views, deliveries, parking, runners: [runner], store: {} };
  const times = { stuckAfter: 5, giveUpAfter: 72 * HOUR, ready: Promise.resolve() };
  const clock = { ...CLOCK_OF_NODE, monotonic: () => CLOCK_OF_NODE.monotonic() + later };
  await using _sweep = runInWorld({ clock }, () => new Sweep({ ...parts, ...times, logger } as never));
  /** Waits for two complete sweeps. */
  const logged = async () => {
    const before = sweeps;
    await until(async () => sweeps > before + 2);
    return lines.map(({ depositId, err }) => `${String(depositId)} ${(err as Error).message}`);
  };
  t.deepEqual(await logged(), ['2 one']);
  reason = 'other';
  t.deepEqual(await logged(), ['2 one', '2 other']);
  later = 25 * HOUR;
  t.deepEqual(await logged(), ['2 one', '2 other', '2 other']);
  reason = undefined; // it can be read again
  await logged();
  reason = 'other';
  t.deepEqual(await logged(), ['2 one', '2 other', '2 other', '2 other']);
});

test('a sweep leaves an event to its group until that has passed it, or for an hour', async (t) => {
  for (const [age, hasPassed, isBegun] of [
    [HOUR / 2, false, false],
    [HOUR / 2, true, true],
    [2 * HOUR, false, true],
  ] as const) {
    const { create, log, views } = searched();
    await create(1, at(-age));
    const position = hasPassed ? await log.head() : undefined;
    let [looks, begun] = [0, 0];
    const runner = {
      name: 'notifier',
      streamPrefix: 'deposit-',
      isWorkingOn: () => {
        looks += 1;
        return false;
      },
      parked: async () => new Set(),
      handle: async () => void (begun += 1),
    };
    await using _sweep = new Sweep({
      log,
      views: views as never,
      deliveries: { status: async () => ({ position }), redelivery: () => undefined } as never,
      ready: Promise.resolve(),
      runners: [runner] as never,
      logger: keptLines('warn').logger,
      stuckAfter: 1,
      giveUpAfter: 72 * HOUR,
      parking: { waiting: async () => [] } as never,
      store: {} as never,
    });
    await until(async () => looks > 1);
    t.is(begun > 0, isBegun, `${age} ms old, ${hasPassed ? 'passed' : 'not passed'}`);
  }
});
