import type { Seen } from '../../src/read-models/view-store.ts';

/** An event for a table of views to have seen, where no log is asked for it. */
export function eventAt(position: string): Seen {
  return { id: `event-${position}`, stream: 'thing-1', revision: 0, position };
}
