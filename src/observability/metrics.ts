import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { clock } from '../tools/clock.ts';
import { withTimeout } from '../tools/concurrency/with-timeout.ts';
import type { Logger } from '../tools/logger.ts';

/** Collects the values of one part at each scrape; sets all of them at once, after it has all. */
type Collector = () => Promise<void> | void;

/** Time limit of one part: scrapers give up after about ten seconds. */
const COLLECT_TIMEOUT_MS = 2500;

let processRegistry: Registry | undefined;

/**
 * The metrics of one service: counted continuously, or collected at each scrape. Every name begins with `deposit_` and
 * ends with its unit.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #logger: Logger;
  readonly #parts = new Map<string, Collector>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #process = processMetrics();
  readonly #faults = this.counter(
    'scrape_faults_total',
    'Parts of these metrics that could not be collected in time, so that their samples are missing or old',
    ['part'],
  );
  #scrape: Promise<{ type: string; text: string }> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  counter<Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) {
    return new Counter<Label>(this.#described(name, help, labelNames));
  }

  gauge<Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) {
    return new Gauge<Label>(this.#described(name, help, labelNames));
  }

  /** @param buckets upper bounds, in the unit of the name. */
  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ) {
    return new Histogram<Label>({ ...this.#described(name, help, labelNames), buckets: [...buckets] });
  }

  #described<Label extends string>(name: string, help: string, labelNames: readonly Label[]) {
    return { name: `deposit_${name}`, help, labelNames, registers: [this.#registry] };
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
    const texts = await Promise.all([this.#registry, this.#process].map((registry) => registry.metrics()));
    return { type: this.#process.contentType, text: texts.join('\n') };
  }

  async #collect(part: string, collector: Collector): Promise<void> {
    const late = (): never => {
      throw new Error(`Not collected within ${COLLECT_TIMEOUT_MS} ms.`);
    };
    try {
      await withTimeout(this.#once(part, collector), COLLECT_TIMEOUT_MS, late);
    } catch (error) {
      this.#faults.inc({ part });
      this.#logger.debug({ part, err: error }, 'metric collection failed');
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

/**
 * Returns the usual metrics of the process, which all services in it share: memory, CPU, event loop, garbage collection
 * and handles.
 */
function processMetrics(): Registry {
  if (processRegistry) return processRegistry;
  processRegistry = new Registry();
  collectDefaultMetrics({ register: processRegistry });
  for (const what of ['handles', 'requests', 'resources']) renameGauge(processRegistry, what);
  return processRegistry;
}

/** Gives a gauge that ends in `_total`, as only counters may, another name; the old one remains for one release. */
function renameGauge(registry: Registry, what: string): void {
  const old = registry.getSingleMetric(`nodejs_active_${what}_total`);
  if (!(old instanceof Gauge)) return;
  const named = {
    name: `nodejs_${what}`,
    help: `Number of active libuv ${what} of all types`,
    registers: [],
  };
  const renamed = new Gauge({
    ...named,
    async collect() {
      const { values } = await old.get();
      this.set(values[0]?.value ?? 0);
    },
  });
  registry.registerMetric(renamed);
  Object.assign(old, { help: `Deprecated, use ${named.name}` });
}

/** Returns the seconds since a moment of `clock.monotonic()`. */
export function secondsSince(started: number): number {
  return (clock.monotonic() - started) / 1000;
}

/** Returns the seconds since an RFC 3339 time; never below 0, since clocks differ. */
export function ageOf(time: string): number {
  return Math.max(0, (clock.now() - Date.parse(time)) / 1000);
}
