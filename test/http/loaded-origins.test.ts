import test, { type ExecutionContext } from 'ava';
import type { DepositStatusView } from '../../projections/deposit-status.ts';
import { LoadedDeposits } from '../../src/contents/loaded-deposits.ts';
import { type EventLog, EventLogUnavailable, type ReadAllOptions } from '../../src/event-log/event-log.ts';
import { executeDeposit } from '../../testing/domain/commands.ts';
import { createDeposit, fallbackOrigin, loadedData, reading } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';

const alice = { client: 'alice', origin: fallbackOrigin };

/** Looks an origin up in views that show these deposits, at this position, and in the log. */
function hasOrigin(
  { client, origin }: typeof alice,
  log: EventLog,
  shown: { readonly deposits?: readonly DepositStatusView[]; readonly position?: string | undefined } = {},
  timeoutMs?: number,
): Promise<boolean> {
  const { deposits = [], position } = shown;
  const projector = { add: () => ({ find: () => deposits }), queriesOf: () => ({ position }) };
  return new LoadedDeposits(log, projector as never, timeoutMs).hasOrigin(client, origin);
}

async function loading(log: EventLog, depositId: number, client: string): Promise<void> {
  const attempt = 1;
  await executeDeposit(log, depositId, createDeposit({ depositId, client }));
  const readings = [reading];
  await executeDeposit(log, depositId, {
    type: 'RecordVerified',
    depositId,
    attempt,
    readings,
    warnings: [],
  });
  await executeDeposit(log, depositId, { type: 'StartLoading', depositId, attempt });
}

async function loaded(log: EventLog, depositId: number, client: string): Promise<void> {
  await loading(log, depositId, client);
  await executeDeposit(log, depositId, { type: 'RecordLoaded', loaded: { ...loadedData, depositId } });
}

async function isLoaded(
  t: ExecutionContext,
  asked: typeof alice,
  log: EventLog,
  expected: boolean,
  position?: string,
) {
  t.is(await hasOrigin(asked, log, { position }), expected);
}

test('origins newer than the views are found in the log, only of this client and this origin', async (t) => {
  await using log = new MemoryEventLog();
  await loaded(log, 1, 'bob');
  await loading(log, 2, 'alice');
  await isLoaded(t, alice, log, false);
  const before = await log.head();
  await loaded(log, 3, 'alice');
  await isLoaded(t, alice, log, true);
  await isLoaded(t, alice, log, true, before);
  await isLoaded(t, { client: 'alice', origin: `${fallbackOrigin}/` }, log, false);
  await isLoaded(t, alice, log, false, await log.head());
});

test('origins in the views need no read of the log', async (t) => {
  await using log = new MemoryEventLog();
  await log[Symbol.asyncDispose]();
  t.true(await hasOrigin(alice, log, { deposits: [{ depositId: 1 } as DepositStatusView] }));
  await t.throwsAsync(hasOrigin(alice, log), { code: 'EVENT_LOG_UNAVAILABLE' });
});

test('a log that does not answer in time makes an origin unavailable, never unknown', async (t) => {
  const alive = setInterval(() => undefined, 1000); // the time limit alone does not keep the process running
  t.teardown(() => clearInterval(alive));
  await using log = new MemoryEventLog();
  const silent: EventLog = Object.assign(Object.create(log) as EventLog, {
    async *readAll({ signal }: ReadAllOptions = {}) {
      await new Promise((_, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason as Error)),
      );
      yield* [];
    },
  });
  await t.throwsAsync(hasOrigin(alice, silent, {}, 10), {
    instanceOf: EventLogUnavailable,
  });
});
