import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { countStuck } from '../../reactors/sweep/stuck-deposits.ts';
import type { Sweep } from '../../reactors/sweep/sweep.ts';
import { clock } from '../../tools/clock.ts';
import type { View } from '../../views/view.ts';
import type { MetricsRegistry } from './metrics-registry.ts';

/**
 * Observes the deposits that wait for a reactor for too long, on any node, and the work that sweeps of this
 * node have begun.
 */
export function observeSweep(
  metrics: MetricsRegistry,
  {
    statuses,
    stuckAfter,
    sweep,
  }: {
    readonly statuses: View<DepositStatusView>;
    readonly stuckAfter: number;
    readonly sweep: Pick<Sweep, 'begun' | 'unrecorded'> | undefined;
  },
): void {
  const { instruments: make } = metrics;
  const stuck = make.gauge(
    'stuck_deposits',
    'Deposits that wait for checks or loading and have not changed for longer than DEPOSIT_STUCK_AFTER',
    ['status'],
  );
  metrics.onScrape('stuck_deposits', () => {
    const limit = new Date(clock.now() - stuckAfter).toISOString();
    for (const [status, count] of Object.entries(countStuck(statuses, limit))) stuck.set({ status }, count);
  });
  if (!sweep) return;
  const begun = make.counter(
    'sweep_begun_total',
    'Pieces of work that no delivery announced and that a sweep of this node has begun',
  );
  const unrecorded = make.gauge(
    'notifications_unrecorded_deposits',
    'Deposits whose notifications have no recorded outcome and are too old to be sent',
  );
  metrics.onScrape('sweep', () => {
    begun.reset();
    begun.inc(sweep.begun);
    unrecorded.set(sweep.unrecorded.count);
  });
}
