import { deposits } from '../../../domain/aggregates.ts';
import { statusAfter } from '../../../domain/deposit/status-detail.ts';
import { pluralize } from '../../../domain/description.ts';
import { occurredAt } from '../../../event-log/event-log.ts';
import { isAwaited } from '../../../reactors/reactor-names.ts';
import { clock } from '../../../tools/clock.ts';
import { spanText } from '../../../tools/terminal/span-text.ts';
import type { LogCheck } from '../log-pass.ts';
import type { Report } from '../report.ts';

const MAX_NAMED = 20;

/** Notes the deposits whose checks or loading have waited for longer than `stuckAfter` milliseconds. */
export function stuckCheck(report: Report, stuckAfter: number): LogCheck {
  const now = clock.now();
  const waiting = new Map<string, number>();
  return {
    see(event) {
      const { stream, type } = event;
      if (!stream.startsWith(deposits.prefix)) return;
      const status = statusAfter(type);
      if (status === undefined) return;
      if (isAwaited(status)) waiting.set(stream, Date.parse(occurredAt(event)));
      else waiting.delete(stream);
    },
    end(whole) {
      const stuck = [...waiting].filter(([, since]) => since < now - stuckAfter).map(([stream]) => stream);
      if (!whole || stuck.length === 0) return;
      const ids = stuck.slice(0, MAX_NAMED).map((stream) => stream.slice(deposits.prefix.length));
      const others =
        stuck.length > MAX_NAMED ? ` and ${(stuck.length - MAX_NAMED).toLocaleString('en')} more` : '';
      report.notes.push(
        `${pluralize(stuck.length, 'deposit')} ${stuck.length === 1 ? 'waits' : 'wait'} for checks or loading, unchanged for over ${spanText(Math.round(stuckAfter / 1000))}: ${ids.join(', ')}${others}. Running reactors begin with them by themselves; "deposit-service retry --stuck" does so now.`,
      );
    },
  };
}
