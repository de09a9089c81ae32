import { handleCommand } from '../deposits/command-handler.ts';
import { deposits } from '../domain/aggregates.ts';
import type { UnreadableCopy } from '../domain/deposit/events.ts';
import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';
import type { ObjectError } from '../object-store/object-store.ts';
import { random } from '../tools/random.ts';
import { commandContext, depositIdOf } from './command-context.ts';

/** Records why a deposit cannot continue for now. Its status stays; its detail says that the client need not act. */
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
  // The event may be retried and then fail for another object: each time needs a command id of its own.
  const context = { ...commandContext(event, reactor, 'unreadable'), commandId: random.uuid() };
  await handleCommand(log, deposits, depositId, command, context, { atLeast: event.revision });
}
