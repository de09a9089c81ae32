import type { ConsumerGroups } from '../../event-log/consumer-groups/consumer-group.ts';
import type { RunnerStatus } from '../../reactors/reactor-runner.ts';
import { ageOf } from './instruments.ts';
import type { MetricsRegistry } from './metrics-registry.ts';

/** A reactor and the prefix of the streams that it follows. */
export type ObservedLag = { readonly name: string; readonly streamPrefix: string };

/** Observes the work that the reactors of this node have done, and that is in flight. */
export function observeReactors(
  metrics: MetricsRegistry,
  runners: readonly { readonly status: RunnerStatus }[],
): void {
  const { instruments: make } = metrics;
  const underWay = make.gauge(
    'reactor_streams_under_way',
    'Streams that a reactor of this node works on, or that wait for it',
    ['reactor'],
  );
  const done = make.counter('reactor_events_done_total', 'Events that a reactor of this node is done with', [
    'reactor',
  ]);
  const failures = make.counter('reactor_failed_tries_total', 'Tries of a reactor of this node that failed', [
    'reactor',
  ]);
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

/** Observes the lag of reactors, on any node. */
export function observeLags(
  metrics: MetricsRegistry,
  deliveries: Pick<ConsumerGroups, 'status'>,
  reactors: readonly ObservedLag[],
): void {
  const { instruments: make } = metrics;
  const lagEvents = make.gauge(
    'reactor_lag_events',
    'Events that a reactor, on whatever node, has not done with; counted up to 1000',
    ['reactor'],
  );
  const lagSeconds = make.gauge(
    'reactor_lag_seconds',
    'Age of the oldest event that a reactor, on whatever node, has not done with; 0 when there is none',
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
