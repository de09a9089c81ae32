import type { CommandContext } from '../command-handler.ts';
import type { RecordedEvent } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';

/**
 * The context of what a reactor does about an event. The same step of the same reaction has the same
 * command id on every node and after every restart, so its outcome is appended once.
 */
export function causedBy(event: RecordedEvent, reactor: string, step: string): CommandContext {
  const correlationId = event.metadata['$correlationId'];
  return {
    commandId: `${reactor}/${event.id}/${step}`,
    actor: { kind: 'reactor', name: reactor },
    now: clock.date().toISOString(),
    correlationId: typeof correlationId === 'string' ? correlationId : event.id,
    causationId: event.id,
  };
}

export function depositIdOf(event: RecordedEvent): number {
  return Number(event.data['depositId']);
}
