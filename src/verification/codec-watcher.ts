import { clients, collections, deposits, notifications, parkings } from '../domain/aggregates.ts';
import { aboutEvent } from './event-finding.ts';
import type { Watcher } from './history.ts';
import type { Report } from './report.ts';

/** Finds events that this release cannot read. */
export function codecWatcher(report: Report): Watcher {
  const kinds = [deposits, clients, collections, notifications, parkings];
  return {
    see(event) {
      const kind = kinds.find(({ prefix }) => event.stream.startsWith(prefix));
      try {
        kind?.codec.read(event);
      } catch (error) {
        const { message } = error as Error;
        report.find(aboutEvent(event, 'log', 'TYPE_UNKNOWN', `cannot be understood: ${message}`));
      }
    },
  };
}
