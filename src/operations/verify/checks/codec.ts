import { aggregates } from '../../../domain/aggregates.ts';
import type { LogCheck } from '../log-pass.ts';
import { eventFinding, type Report } from '../report.ts';

/** Finds events that this release cannot read. */
export function codecCheck(report: Report): LogCheck {
  return {
    see(event) {
      const aggregate = aggregates.find(({ prefix }) => event.stream.startsWith(prefix));
      try {
        aggregate?.codec.read(event);
      } catch (error) {
        const { message } = error as Error;
        report.find(eventFinding(event, 'log', 'TYPE_UNKNOWN', `is unknown to this release: ${message}`));
      }
    },
  };
}
