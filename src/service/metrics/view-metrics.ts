import { type Lag, lagAfter } from '../../event-log/consumer-groups/lag.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import { ageOf, type Metrics } from '../../observability/metrics.ts';
import type { Projector } from '../../views/projector.ts';

type ObservedProjector = Pick<Projector, 'isCurrent' | 'reached' | 'switches'>;

export function observeViews(metrics: Metrics, log: EventLog, projector: ObservedProjector): void {
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
  { reached }: Pick<ObservedProjector, 'reached'>,
  log: EventLog,
): Promise<ReadonlyMap<string, Lag>> {
  const looked = new Map<string, Promise<Lag>>();
  const lags = reached.map(async ({ name, streamPrefix, position }) => {
    const key = `${streamPrefix} ${position}`;
    const waiting = looked.getOrInsertComputed(key, () => lagAfter(log, position, streamPrefix));
    return [name, await waiting] as const;
  });
  return new Map(await Promise.all(lags));
}
