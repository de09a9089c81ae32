import { type Lag, lagAfter } from '../../event-log/consumer-groups/lag.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import type { Projector } from '../../views/projector.ts';
import { ageOf } from './instruments.ts';
import type { MetricsRegistry } from './metrics-registry.ts';

export type ObservedViews = {
  readonly projector: Pick<Projector, 'reached' | 'switches'>;
  readonly log: EventLog;
  /** Whether the views have caught up since the start. */
  readonly ready: () => boolean;
};

/** Observes the lag of the views of this node. */
export function observeViews(metrics: MetricsRegistry, { projector, log, ready }: ObservedViews): void {
  const { instruments: make } = metrics;
  const rebuilding = make.gauge(
    'views_rebuilding',
    'Views that are brought up to the log since the start; until there are none, clients are refused',
  );
  const switches = make.counter('view_switches_total', 'Views whose place a rebuilt one took');
  const lagEvents = make.gauge(
    'view_lag_events',
    'Events that a view does not show yet; counted up to 1000',
    ['view'],
  );
  const lagSeconds = make.gauge(
    'view_lag_seconds',
    'Age of the oldest event that a view does not show yet; 0 when there is none',
    ['view'],
  );
  metrics.onScrape('views', async () => {
    switches.reset();
    switches.inc(projector.switches);
    rebuilding.set(ready() ? 0 : projector.reached.length);
    for (const lag of [lagEvents, lagSeconds]) lag.reset(); // no value is better than an old one
    const lags = await lagsOf(projector, log);
    if (!ready()) rebuilding.set([...lags.values()].filter(({ count }) => count !== 0).length);
    for (const [view, { count, oldest }] of lags) {
      if (count === undefined) continue;
      lagEvents.set({ view }, count);
      lagSeconds.set({ view }, oldest === undefined ? 0 : ageOf(oldest));
    }
  });
}

/** Resolves to the lag of each view. Views with the same prefix and position share one query. */
async function lagsOf(
  { reached }: ObservedViews['projector'],
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
