import type { SeenEvent } from '../../src/event-log/event-log.ts';

/** Returns an event that a table of views has seen, if no log is needed for it. */
export function eventAt(position: string): SeenEvent {
  return { id: `event-${position}`, stream: 'thing-1', revision: 0, position };
}
