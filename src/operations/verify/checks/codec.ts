import {
  clients,
  collections,
  deposits,
  notifications,
  parkings,
  people,
} from '../../../domain/aggregates.ts';
import type { LogCheck } from '../log-pass.ts';
import { eventFinding, type Report } from '../report.ts';

/** Finds events that this release cannot read. */
export function codecCheck(report: Report): LogCheck {
  const kinds = [deposits, clients, collections, notifications, parkings, people];
  return {
    see(event) {
      const kind = kinds.find(({ prefix }) => event.stream.startsWith(prefix));
      try {
        kind?.codec.read(event);
      } catch (error) {
        const { message } = error as Error;
        report.find(eventFinding(event, 'log', 'TYPE_UNKNOWN', `is unknown to this release: ${message}`));
      }
    },
  };
}
