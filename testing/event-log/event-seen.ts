import type { EventRef } from '../../src/views/view.ts';

/** Returns an event that a table of views has seen, if no log is needed for it. */
export function eventAt(position: string): EventRef {
  return { id: `event-${position}`, stream: 'thing-1', revision: 0, position };
}
