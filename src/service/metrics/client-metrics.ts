import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { STATUSES, UNFINISHED } from '../../domain/deposit/status-detail.ts';
import { type Lag, lagAfter } from '../../event-log/consumer-groups/lag.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import type { Credentials } from '../../http/middleware/credentials.ts';
import { ageOf, type Metrics } from '../../observability/metrics.ts';
import type { Projector } from '../../views/projector.ts';
import type { View } from '../../views/view.ts';

/** The parts of a node that serves clients. */
export type ObservedClients = {
  readonly projector: Pick<Projector, 'isCurrent' | 'reached' | 'switches'>;
  readonly statuses: View<DepositStatusView>;
  readonly options: {
    readonly credentials: Pick<Credentials, 'waiting' | 'refused'>;
  };
};

/** Observes the lag of the views of this node, the deposits that they show, the queue of passwords, and refused logins. */
export function observeClients(
  metrics: Metrics,
  log: EventLog,
  { projector, statuses, options: { credentials } }: ObservedClients,
): void {
  observeViews(metrics, log, projector);
  observeDeposits(metrics, statuses);
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

function observeViews(metrics: Metrics, log: EventLog, projector: ObservedClients['projector']): void {
  const rebuilding = metrics.gauge(
    'views_rebuilding',
    'Views that are catching up with the log since the start; until none is left, clients are refused',
  );
  const switches = metrics.counter('view_switches_total', 'Views that were replaced by rebuilt ones');
  const lagEvents = metrics.gauge(
    'view_lag_events',
    'Events that a view does not show yet; counted up to 1000',
    ['view'],
  );
  const lagSeconds = metrics.gauge(
    'view_lag_seconds',
    'Age of the oldest event that a view does not show yet; 0 without one',
    ['view'],
  );
  metrics.onScrape('views', async () => {
    switches.reset();
    switches.inc(projector.switches);
    rebuilding.set(projector.isCurrent ? 0 : projector.reached.length);
    for (const lag of [lagEvents, lagSeconds]) lag.reset(); // no value is better than an old one
    const lags = await lagsOf(projector, log);
    if (!projector.isCurrent) rebuilding.set([...lags.values()].filter(({ count }) => count !== 0).length);
    for (const [view, { count, oldest }] of lags) {
      if (count === undefined) continue;
      lagEvents.set({ view }, count);
      lagSeconds.set({ view }, oldest === undefined ? 0 : ageOf(oldest));
    }
  });
}

/** Resolves to the lag of each view. Views with the same prefix and position share one query. */
async function lagsOf(
  { reached }: Pick<Projector, 'reached'>,
  log: EventLog,
): Promise<ReadonlyMap<string, Lag>> {
  const looked = new Map<string, Promise<Lag>>();
  const lags = reached.map(async ({ name, streamPrefix, position }) => {
    const key = `${streamPrefix} ${position}`;
    const waiting = looked.get(key) ?? lagAfter(log, position, streamPrefix);
    looked.set(key, waiting);
    return [name, await waiting] as const;
  });
  return new Map(await Promise.all(lags));
}

/** Observes the number of deposits in each state, and the age of the oldest. */
function observeDeposits(metrics: Metrics, statuses: View<DepositStatusView>): void {
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
    for (const status of STATUSES) deposits.set({ status }, counts.get(status) ?? 0);
    for (const status of UNFINISHED) {
      const [first] = statuses.find({ equal: { status }, orderBy: 'updatedAt', limit: 1 });
      oldest.set({ status }, first ? ageOf(first.updatedAt) : 0);
    }
  });
}
