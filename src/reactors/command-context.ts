import type { CommandContext } from '../deposits/command-handler.ts';
import type { RecordedEvent } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';

/** An event that causes a command; it may be one that is about to be appended. */
export type CausingEvent = Pick<RecordedEvent, 'id' | 'metadata'>;

/**
 * Returns the context of a command that a reactor issues for an event. The command id depends only on reactor, event
 * and step. So a step repeated on another node or after a restart is appended once.
 */
export function commandContext(event: CausingEvent, reactor: string, step: string): CommandContext {
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
