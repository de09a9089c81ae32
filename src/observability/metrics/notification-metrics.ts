import type { EventLog } from '../../event-log/event-log.ts';
import type { NotificationStatus } from '../../modules/webhooks/notification-service.ts';
import { ParkedCount } from '../../reactors/parked-count.ts';
import type { MetricsRegistry } from './metrics-registry.ts';

/** Observes the outcomes of notifications, and those that are waiting. */
export function observeNotifications(
  metrics: MetricsRegistry,
  notifications: { readonly status: NotificationStatus },
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

/**
 * Observes the events of each reactor that wait for an operator, also if the reactor does not run on this
 * node.
 */
export function observeParked(metrics: MetricsRegistry, log: EventLog, reactors: readonly string[]): void {
  const parked = metrics.instruments.gauge(
    'reactor_parked_events',
    'Events that no attempt got through and that wait for an operator',
    ['reactor'],
  );
  for (const reactor of reactors) {
    const count = new ParkedCount(log, reactor);
    metrics.onScrape(`${reactor}_parked`, async () => parked.set({ reactor }, await count.now()));
  }
}
