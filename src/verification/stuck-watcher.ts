import { deposits } from '../domain/aggregates.ts';
import { counted } from '../domain/description.ts';
import { occurredAt } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import type { Watcher } from './history.ts';
import type { Report } from './report.ts';

const MOST_NAMED = 20;
/** The events after which a deposit waits for a reactor, and those that end the waiting or the deposit. */
const WAITS = new Set([
  'DepositCompleted',
  'ChecksRetried',
  'DepositVerified',
  'LoadingStarted',
  'LoadingRetried',
]);
const ENDS = new Set([
  'DepositRejected',
  'DepositLoaded',
  'LoadingFailed',
  'DepositDeleted',
  'MetadataDeposited',
]);

/** Notes the deposits that wait for checks or loading and have not changed for longer than `stuckAfter` milliseconds. */
export function stuckWatcher(report: Report, stuckAfter: number, now = clock.now()): Watcher {
  const waiting = new Map<string, number>();
  return {
    see(event) {
      const { stream, type } = event;
      if (!stream.startsWith(deposits.prefix)) return;
      if (WAITS.has(type)) waiting.set(stream, Date.parse(occurredAt(event)));
      else if (ENDS.has(type)) waiting.delete(stream);
    },
    end(whole) {
      const stuck = [...waiting].filter(([, since]) => since < now - stuckAfter).map(([stream]) => stream);
      if (!whole || stuck.length === 0) return;
      const ids = stuck.slice(0, MOST_NAMED).map((stream) => stream.slice(deposits.prefix.length));
      const others = stuck.length > MOST_NAMED ? ` and ${stuck.length - MOST_NAMED} more` : '';
      report.notes.push(
        `${counted(stuck.length, 'deposit')} wait for checks or loading, unchanged for over ${duration(stuckAfter)}: ${ids.join(', ')}${others}. Running reactors begin with them by themselves; "npm run retry -- --stuck" does so now.`,
      );
    },
  };
}

function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 120 ? counted(seconds, 'second') : counted(Math.round(seconds / 60), 'minute');
}
