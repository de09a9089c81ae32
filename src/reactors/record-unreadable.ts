import type { ObjectError } from '../archive-store/archive-store.ts';
import { execute } from '../command-handler.ts';
import { deposits } from '../domain/aggregates.ts';
import type { UnreadableCopy } from '../domain/deposit/events.ts';
import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';
import { random } from '../tools/random.ts';
import { causedBy, depositIdOf } from './causation.ts';

/** Records why a deposit cannot go on for now. Its status stays, and its detail says that the client need do nothing. */
export async function recordUnreadable(
  log: EventLog,
  reactor: string,
  event: RecordedEvent,
  {
    sha256: object,
    code,
    ...about
  }: Pick<UnreadableCopy, 'work' | 'attempt'> & Pick<ObjectError, 'sha256' | 'code'>,
): Promise<void> {
  const depositId = depositIdOf(event);
  const command = { type: 'RecordUnreadable', depositId, copy: { ...about, object, code } } as const;
  // The event may be tried again, and then fail for another object: each time is a command of its own.
  const context = { ...causedBy(event, reactor, 'unreadable'), commandId: random.uuid() };
  await execute(log, deposits, depositId, command, context, { atLeast: event.revision });
}
