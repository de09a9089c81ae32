import type { EventLog } from '../event-log/event-log.ts';
import type { NotificationStanding } from '../notifications/notifications.ts';
import { ParkedCount } from './parked-count.ts';
import type { ScrapedMetrics } from './scraped-metrics.ts';

/** What became of notifications, and what waits. */
export function observeNotifications(
  metrics: ScrapedMetrics,
  notifications: { readonly standing: NotificationStanding },
): void {
  const { instruments: make } = metrics;
  const outcomes = make.counter(
    'notifications_total',
    'Notifications of this node: taken by their receiver, failed and to be tried again, or too old when their turn came',
    ['outcome'],
  );
  const waiting = make.gauge(
    'notification_deposits_waiting',
    'Deposits with notifications that are to be tried again, on whatever node',
  );
  const failures = make.counter(
    'notifier_failed_tries_total',
    'Tries of the notifier of this node that failed',
  );
  metrics.atScrape('notifications', () => {
    const { taken, failed, tooOld, notifier, waiting: deposits } = notifications.standing;
    for (const counter of [outcomes, failures]) counter.reset();
    outcomes.inc({ outcome: 'taken' }, taken);
    outcomes.inc({ outcome: 'failed' }, failed);
    outcomes.inc({ outcome: 'too_old' }, tooOld);
    failures.inc(notifier.failures);
    waiting.set(deposits);
  });
}

/** Events of each reactor, also of one that does not run here, that wait for an operator. */
export function observeParked(metrics: ScrapedMetrics, log: EventLog, reactors: readonly string[]): void {
  const parked = metrics.instruments.gauge(
    'reactor_parked_events',
    'Events that no attempt got through and that wait for an operator',
    ['reactor'],
  );
  for (const reactor of reactors) {
    const count = new ParkedCount(log, reactor);
    metrics.atScrape(`${reactor}_parked`, async () => parked.set({ reactor }, await count.now()));
  }
}
