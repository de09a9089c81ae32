import test from 'ava';
import { handleCommand, readState } from '../../src/deposits/command-handler.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import type { EventLog, ReadStreamOptions, RecordedEvent } from '../../src/event-log/event-log.ts';
import { checker, loader } from '../../src/reactors/deposit-reactors.ts';
import { EventLogParking } from '../../src/reactors/parking.ts';
import { isTransient } from '../../src/tools/concurrency/transient-faults.ts';
import { createDeposit } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';

const context = {
  commandId: '6a1b4f0e-0000-4000-8000-000000000002',
  actor: { kind: 'client', name: 'alice' },
  now: '2026-03-01T10:00:00.000Z',
  correlationId: 'c',
} as const;

/** A log whose reads end before the last event of a stream, as those of a leader that was deposed. */
class StaleLog extends MemoryEventLog {
  upTo = Number.MAX_SAFE_INTEGER;

  override async *readStream(stream: string, options: ReadStreamOptions = {}): AsyncGenerator<RecordedEvent> {
    for await (const event of super.readStream(stream, options)) if (event.revision <= this.upTo) yield event;
  }
}

async function completed(log: EventLog): Promise<RecordedEvent> {
  await handleCommand(log, deposits, 1, createDeposit(), context);
  const events = await Array.fromAsync(log.readStream('deposit-1'));
  return events.at(-1) as RecordedEvent;
}

test('a stream that ends before the event of a reactor is read again, and does not count as handled', async (t) => {
  await using log = new StaleLog();
  const event = await completed(log);
  t.is(event.type, 'DepositCompleted');
  log.upTo = event.revision - 1;
  const unused = {} as never;
  for (const reactor of [
    checker({
      log,
      store: unused,
      reader: unused,
      limits: unused,
      logins: unused,
      views: unused,
      identity: '',
    }),
    loader({ log, store: unused, reader: unused, identity: '' }),
  ]) {
    for (const work of [reactor.react(event, AbortSignal.any([])), reactor.giveUp(event, new Error('x'))]) {
      const error = await t.throwsAsync(work, { message: /^Stale read of deposit-1/ });
      t.true(isTransient(error), reactor.name);
    }
  }
  const outcome = { type: 'RecordVerified', depositId: 1, attempt: 1, readings: [], warnings: [] } as const;
  const atLeast = event.revision;
  await t.throwsAsync(handleCommand(log, deposits, 1, outcome, context, { atLeast }), {
    message: /^Stale read/,
  });
  await t.throwsAsync(readState(log, deposits, 2, { atLeast: 0 }), { message: /it ended at revision none/ });
});

test('a decision of an operator whose stream ends before it is read again', async (t) => {
  await using log = new StaleLog();
  const event = await completed(log);
  const parking = new EventLogParking(log);
  await parking.park('checker', event, new Error('It kills.'), 5);
  const { AdminCommands } = await import('../../src/deposits/admin-commands.ts');
  const operator = new AdminCommands(log, { kind: 'operator', name: 'rosa' });
  await operator.parking({ type: 'RetryParked', reactor: 'checker', eventId: event.id });
  const decision = (await Array.fromAsync(log.readStream('parked-checker'))).at(-1) as RecordedEvent;
  log.upTo = decision.revision - 1;
  await t.throwsAsync(parking.eventToRetry(decision), { message: /^Stale read of parked-checker/ });
  log.upTo = Number.MAX_SAFE_INTEGER;
  t.is((await parking.eventToRetry(decision))?.id, event.id);
});
