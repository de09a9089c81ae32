import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { STATUSES, UNFINISHED } from '../../domain/deposit/status-detail.ts';
import { ageOf, type Metrics } from '../../observability/metrics.ts';
import type { Projector } from '../../views/projector.ts';
import type { View } from '../../views/view.ts';
import type { serveClients } from '../serve-clients.ts';

export function observeClients(
  metrics: Metrics,
  { statuses, options: { credentials } }: Awaited<ReturnType<typeof serveClients>>,
  projector: Pick<Projector, 'isCurrent'>,
): void {
  observeDeposits(metrics, statuses, projector);
  const waiting = metrics.gauge(
    'password_checks_waiting',
    'Passwords that wait to be verified; more than 32 are refused',
  );
  const refused = metrics.counter(
    'logins_refused_total',
    'Requests that were refused because of too many failed logins from their address',
  );
  metrics.onScrape('password_checks', () => {
    waiting.set(credentials.waiting);
    refused.reset();
    refused.inc(credentials.refused);
  });
}

function observeDeposits(
  metrics: Metrics,
  statuses: View<DepositStatusView>,
  projector: Pick<Projector, 'isCurrent'>,
): void {
  const deposits = metrics.gauge('deposits', 'Deposits by their state, as the views of this node show it', [
    'status',
  ]);
  const oldest = metrics.gauge(
    'oldest_deposit_age_seconds',
    'Time since the last event of the deposit that has been longest in a state it should leave; 0 without one',
    ['status'],
  );
  metrics.onScrape('deposits', () => {
    const counts = statuses.counts();
    for (const gauge of [deposits, oldest]) gauge.reset();
    if (counts.size === 0 && !projector.isCurrent) return; // the views are being filled, and counted afterwards
    for (const status of STATUSES) deposits.set({ status }, counts.get(status) ?? 0);
    for (const status of UNFINISHED) {
      const [first] = statuses.find({ equal: { status }, orderBy: 'updatedAt', limit: 1 });
      oldest.set({ status }, first ? ageOf(first.updatedAt) : 0);
    }
  });
}
