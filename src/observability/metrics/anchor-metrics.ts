import type { MetricsRegistry } from './metrics-registry.ts';

export type ObservedAnchoring = {
  /** Seconds; 0: this node creates no anchors. */
  readonly interval: number;
  readonly age: number;
};

/** Observes whether anchors are created as often as configured. */
export function observeAnchoring(metrics: MetricsRegistry, anchoring: ObservedAnchoring): void {
  const { instruments: make } = metrics;
  make
    .gauge('anchor_interval_seconds', 'Time from one anchor of this node to the next; 0 when it makes none')
    .set(anchoring.interval);
  const age = make.gauge(
    'anchor_age_seconds',
    'Time since this node last found the log anchored to its end, at the most since its start; 0 when it makes none',
  );
  metrics.onScrape('anchors', () => age.set(anchoring.age));
}
