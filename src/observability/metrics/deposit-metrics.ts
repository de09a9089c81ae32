import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { STATUSES, UNFINISHED } from '../../domain/deposit/status-detail.ts';
import type { View } from '../../views/view.ts';
import { ageOf } from './instruments.ts';
import type { MetricsRegistry } from './metrics-registry.ts';

/** Observes the number of deposits in each state, and the age of the oldest. */
export function observeDeposits(metrics: MetricsRegistry, statuses: View<DepositStatusView>): void {
  const { instruments: make } = metrics;
  const deposits = make.gauge('deposits', 'Deposits by their state, as the views of this node show it', [
    'status',
  ]);
  const oldest = make.gauge(
    'oldest_deposit_age_seconds',
    'Time since the last event of the deposit that has been longest in a state it should leave; 0 without one',
    ['status'],
  );
  metrics.onScrape('deposits', () => {
    const counts = statuses.counts();
    for (const status of STATUSES) deposits.set({ status }, counts.get(status) ?? 0);
    for (const status of UNFINISHED) {
      const [first] = statuses.find({ equal: { status }, orderBy: 'updatedAt', limit: 1 });
      oldest.set({ status }, first ? ageOf(first.updatedAt) : 0);
    }
  });
}
