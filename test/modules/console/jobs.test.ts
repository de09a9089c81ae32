import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { EventLogUnavailable } from '../../../src/event-log/event-log.ts';
import type { Viewer } from '../../../src/modules/console/access/sessions.ts';
import { Jobs } from '../../../src/modules/console/api/jobs.ts';
import { executeDeposit } from '../../../testing/domain/commands.ts';
import { createDeposit } from '../../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../../testing/event-log/memory-event-log.ts';
import { until } from '../../../testing/processes/until.ts';

const rosa = { kind: 'person', name: 'rosa' } as Viewer;

/** Deposit 1 is of a newer release, deposit 2 is deposited. */
async function logOfTwo(): Promise<MemoryEventLog> {
  const log = new MemoryEventLog();
  const metadata = { schemaVersion: 9, occurredAt: '2026-03-01T10:00:00.000Z' };
  const newer = { id: randomUUID(), type: 'DepositCreated', data: { depositId: 1 }, metadata };
  await log.append('deposit-1', 'none', [newer]);
  await executeDeposit(log, 2, createDeposit({ depositId: 2 }));
  return log;
}

async function jobOf(t: ExecutionContext, log: MemoryEventLog) {
  using jobs = new Jobs(log, () => true);
  const { id } = jobs.start('recheck', [1, 2], rosa);
  await until(async () => jobs.get(id)?.endedAt !== null);
  const job = jobs.get(id);
  t.is(job?.total, 2);
  return job;
}

test('a job lists a deposit that cannot be read, and goes on', async (t) => {
  await using log = await logOfTwo();
  const job = await jobOf(t, log);
  t.like(job, { state: 'done', done: 1, refused: 1, problem: null });
  t.is(job?.refusals[0]?.depositId, 1);
  t.regex(
    job?.refusals[0]?.message ?? '',
    /^Deposit 1 was not retried: A DepositCreated of schema version 9 /,
  );
});

test('a job ends when the log is unavailable', async (t) => {
  await using log = await logOfTwo();
  const append = log.append.bind(log);
  log.append = (...args) =>
    args[0] === 'deposit-2' ? Promise.reject(new EventLogUnavailable('The disk is full.')) : append(...args);
  t.like(await jobOf(t, log), { state: 'failed', done: 0, refused: 1, problem: 'The disk is full.' });
});
