import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import type { Logger } from '../../tools/logger.ts';
import { Instruments } from './instruments.ts';
import { processMetrics } from './process-metrics.ts';

/** Collects the values of one part at each scrape; sets all of them at once, after it has all. */
export type Collector = () => Promise<void> | void;

/** Time limit of one part: scrapers give up after about ten seconds. */
const COLLECT_TIMEOUT_MS = 2500;

/** Registers metrics that are counted continuously, and collectors that run at each scrape. */
export class MetricsRegistry {
  readonly instruments = new Instruments();
  readonly #logger: Logger;
  readonly #parts = new Map<string, Collector>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #process = processMetrics();
  readonly #faults = this.instruments.counter(
    'scrape_faults_total',
    'Parts of these metrics that could not be found out in time, so that their samples are missing or old',
    ['part'],
  );
  #scrape: Promise<{ type: string; text: string }> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Registers a collector that runs at each scrape. */
  onScrape(part: string, collector: Collector): void {
    this.#parts.set(part, collector);
    this.#faults.inc({ part }, 0);
  }

  /** Renders all metrics. Concurrent scrapes share one run. */
  exposition(): Promise<{ readonly type: string; readonly text: string }> {
    this.#scrape ??= this.#render().finally(() => {
      this.#scrape = undefined;
    });
    return this.#scrape;
  }

  async #render(): Promise<{ type: string; text: string }> {
    await Promise.all([...this.#parts].map(([part, collector]) => this.#collect(part, collector)));
    const registries = [this.instruments.registry, this.#process];
    const texts = await Promise.all(registries.map((registry) => registry.metrics()));
    return { type: this.#process.contentType, text: texts.join('\n') };
  }

  async #collect(part: string, collector: Collector): Promise<void> {
    const late = (): never => {
      throw new Error(`Not found out within ${COLLECT_TIMEOUT_MS} ms.`);
    };
    try {
      await withTimeout(this.#once(part, collector), COLLECT_TIMEOUT_MS, late);
    } catch (error) {
      this.#faults.inc({ part });
      this.#logger.debug({ part, err: error }, 'metrics not told');
    }
  }

  /** Runs a collector, or joins its run that an earlier scrape has given up. */
  #once(part: string, collector: Collector): Promise<void> {
    const running = this.#running.get(part);
    if (running) return running;
    const collecting = Promise.try(collector).finally(() => this.#running.delete(part));
    this.#running.set(part, collecting);
    return collecting;
  }
}
