import type { Deliveries } from '../event-log/deliveries.ts';
import type { RunnerStanding } from '../reactors/reactor-runner.ts';
import { ageOf } from './instruments.ts';
import type { ScrapedMetrics } from './scraped-metrics.ts';

/** A reactor and the prefix of the streams that it follows. */
export type ObservedLag = { readonly name: string; readonly streamPrefix: string };

/** What the reactors of this node have done, and what is under way. */
export function observeReactors(
  metrics: ScrapedMetrics,
  runners: readonly { readonly standing: RunnerStanding }[],
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
  metrics.atScrape('reactors', () => {
    for (const counted of [done, failures]) counted.reset();
    for (const { standing } of runners) {
      const { name: reactor } = standing;
      underWay.set({ reactor }, standing.underWay);
      done.inc({ reactor }, standing.done);
      failures.inc({ reactor }, standing.failures);
    }
  });
}

/** How far reactors are, on whatever node. */
export function observeLags(
  metrics: ScrapedMetrics,
  deliveries: Pick<Deliveries, 'standing'>,
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
    metrics.atScrape(`${reactor}_lag`, async () => {
      for (const lag of [lagEvents, lagSeconds]) lag.remove({ reactor }); // rather nothing than old news
      const { waiting, oldest } = await deliveries.standing(reactor, streamPrefix);
      lagEvents.set({ reactor }, waiting);
      lagSeconds.set({ reactor }, oldest === undefined ? 0 : ageOf(oldest));
    });
  }
}
