import { IDS } from '../../../deposits/deposit-ids.ts';
import { deposits } from '../../../domain/aggregates.ts';
import type { RecordedEvent } from '../../../event-log/event-log.ts';
import type { LogCheck } from '../log-pass.ts';
import { eventFinding, type Report } from '../report.ts';

/**
 * Checks that ids are reserved without a gap, each before its deposit exists, and that a deposit's events name its own
 * id.
 */
export function depositIdCheck(report: Report): LogCheck {
  let next = 1;
  const find = (event: RecordedEvent, code: string, what: string): void =>
    report.find(eventFinding(event, 'log', code, what));
  return {
    see(event) {
      const { stream, revision, data } = event;
      if (stream === IDS) {
        const { first, count } = data as { first?: unknown; count?: unknown };
        if (first !== next || typeof count !== 'number') {
          find(event, 'IDS_NOT_IN_ORDER', `reserves ids from ${String(first)}, although ${next} is the next`);
        }
        if (typeof first === 'number' && typeof count === 'number') next = first + count;
      } else if (stream.startsWith(deposits.prefix)) {
        const id = Number(stream.slice(deposits.prefix.length));
        const isItsName = stream === `${deposits.prefix}${id}`; // 01 and 1e0 are the number 1, too
        if (revision === 0 && !(isItsName && id >= 1 && id < next)) {
          find(event, 'ID_NOT_HANDED_OUT', 'is of a deposit whose id was not handed out before');
        }
        if (data['depositId'] !== id) {
          find(event, 'OTHER_DEPOSIT', `names the deposit ${JSON.stringify(data['depositId'])}`);
        }
      }
    },
  };
}
