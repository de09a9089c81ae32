import type { ScrapedMetrics } from './scraped-metrics.ts';

export type ObservedAnchoring = {
  /** Seconds; 0: this node makes no anchors. */
  readonly interval: number;
  readonly age: number;
};

/** Whether anchors are made as often as they should be. */
export function observeAnchoring(metrics: ScrapedMetrics, anchoring: ObservedAnchoring): void {
  const { instruments: make } = metrics;
  make
    .gauge('anchor_interval_seconds', 'Time from one anchor of this node to the next; 0 when it makes none')
    .set(anchoring.interval);
  const age = make.gauge(
    'anchor_age_seconds',
    'Time since this node last found the log anchored to its end, at the most since its start; 0 when it makes none',
  );
  metrics.atScrape('anchors', () => age.set(anchoring.age));
}
