import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { ageOf, type Metrics } from '../../observability/metrics.ts';
import type { EventLogParking } from '../../reactors/parking.ts';
import { countStuck } from '../../reactors/sweep/stuck-deposits.ts';
import { clock } from '../../tools/clock.ts';
import type { View } from '../../views/view.ts';
import type { startReactors } from '../start-reactors.ts';

type Reactors = ReturnType<typeof startReactors>;

export function observeReactors(
  metrics: Metrics,
  parking: Pick<EventLogParking, 'waiting'>,
  reactors: Reactors,
): void {
  const { deliveries, notifications, runners, allRunners, workers, sweep } = reactors;
  observeRunners(metrics, runners);
  observeLags(metrics, deliveries, allRunners);
  if (notifications) observeNotifications(metrics, notifications);
  const parked = metrics.gauge(
    'reactor_parked_events',
    'Parked events, which wait for an operator or for a readable object',
    ['reactor'],
  );
  for (const { name: reactor } of allRunners) {
    metrics.onScrape(`${reactor}_parked`, async () =>
      parked.set({ reactor }, (await parking.waiting(reactor)).length),
    );
  }
  observeWorkers(metrics, workers);
  observeSweep(metrics, sweep);
}

function observeRunners(metrics: Metrics, runners: Reactors['runners']): void {
  const underWay = metrics.gauge(
    'reactor_streams_under_way',
    'Streams that a reactor of this node works on or has queued',
    ['reactor'],
  );
  const done = metrics.counter(
    'reactor_events_done_total',
    'Events that a reactor of this node has processed',
    ['reactor'],
  );
  const failures = metrics.counter(
    'reactor_failed_tries_total',
    'Failed attempts of a reactor of this node',
    ['reactor'],
  );
  metrics.onScrape('reactors', () => {
    for (const counted of [done, failures]) counted.reset();
    for (const { status } of runners) {
      const { name: reactor } = status;
      underWay.set({ reactor }, status.underWay);
      done.inc({ reactor }, status.done);
      failures.inc({ reactor }, status.failures);
    }
  });
}

function observeLags(
  metrics: Metrics,
  deliveries: Reactors['deliveries'],
  reactors: Reactors['runners'],
): void {
  const lagEvents = metrics.gauge(
    'reactor_lag_events',
    'Events that a reactor has not processed on any node; counted up to 1000',
    ['reactor'],
  );
  const lagSeconds = metrics.gauge(
    'reactor_lag_seconds',
    'Age of the oldest event that a reactor has not processed on any node; 0 without one',
    ['reactor'],
  );
  for (const { name: reactor, streamPrefix } of reactors) {
    metrics.onScrape(`${reactor}_lag`, async () => {
      for (const lag of [lagEvents, lagSeconds]) lag.remove({ reactor }); // no value is better than an old one
      const { waiting, oldest } = await deliveries.status(reactor, streamPrefix);
      if (waiting === undefined) return;
      lagEvents.set({ reactor }, waiting);
      lagSeconds.set({ reactor }, oldest === undefined ? 0 : ageOf(oldest));
    });
  }
}

function observeNotifications(metrics: Metrics, notifications: NonNullable<Reactors['notifications']>): void {
  const outcomes = metrics.counter('notifications_total', 'Notifications of this node, by outcome', [
    'outcome',
  ]);
  const waiting = metrics.gauge(
    'notification_deposits_waiting',
    'Deposits with notifications that wait for a retry, on any node',
  );
  const failures = metrics.counter(
    'notifier_failed_tries_total',
    'Failed attempts of the notifier of this node',
  );
  metrics.onScrape('notifications', () => {
    const { taken, failed, tooOld, notifier, waiting: deposits } = notifications.status;
    for (const counter of [outcomes, failures]) counter.reset();
    outcomes.inc({ outcome: 'taken' }, taken);
    outcomes.inc({ outcome: 'failed' }, failed);
    outcomes.inc({ outcome: 'too_old' }, tooOld);
    failures.inc(notifier.failures);
    waiting.set(deposits);
  });
}

function observeWorkers(metrics: Metrics, workers: Reactors['workers']): void {
  const size = metrics.gauge('archive_workers', 'Threads that may read archives');
  const busy = metrics.gauge('archive_workers_busy', 'Threads that read an archive');
  const waiting = metrics.gauge('archive_jobs_waiting', 'Archives and listings that wait for a thread');
  metrics.onScrape('archive_workers', () => {
    const { load } = workers;
    size.set(load.size);
    busy.set(load.busy);
    waiting.set(load.waiting);
  });
}

function observeSweep(metrics: Metrics, sweep: Reactors['sweep']): void {
  const begun = metrics.counter(
    'sweep_begun_total',
    'Work without a delivery that a sweep of this node has started',
  );
  const unrecorded = metrics.gauge(
    'notifications_unrecorded_deposits',
    'Deposits whose notifications have no recorded outcome and are too old to be sent',
  );
  metrics.onScrape('sweep', () => {
    begun.reset();
    begun.inc(sweep.begun);
    unrecorded.set(sweep.unrecorded.count);
  });
}

export function observeStuck(metrics: Metrics, statuses: View<DepositStatusView>, stuckAfter: number): void {
  const stuck = metrics.gauge(
    'stuck_deposits',
    'Deposits that wait for checks or loading and have not changed for longer than DEPOSIT_STUCK_AFTER',
    ['status'],
  );
  metrics.onScrape('stuck_deposits', () => {
    const limit = new Date(clock.now() - stuckAfter).toISOString();
    for (const [status, count] of Object.entries(countStuck(statuses, limit))) stuck.set({ status }, count);
  });
}
