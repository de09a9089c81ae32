import { inTime } from '../in-time.ts';
import type { Logger } from '../logger.ts';
import { Instruments } from './instruments.ts';
import { processMetrics } from './process-metrics.ts';

/** What is looked up at each scrape; what it finds is set at once, when it has found everything. */
export type Look = () => Promise<void> | void;

/** How long one part may be waited for, in milliseconds: scrapers give up after ten seconds or so. */
const PATIENCE = 2500;

/** Metrics that are counted as things happen, and those that are looked up when they are asked for. */
export class ScrapedMetrics {
  readonly instruments = new Instruments();
  readonly #logger: Logger;
  readonly #parts = new Map<string, Look>();
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

  /** Has something looked up at each scrape. */
  atScrape(part: string, look: Look): void {
    this.#parts.set(part, look);
    this.#faults.inc({ part }, 0);
  }

  /** Scrapes at the same time share one. */
  exposition(): Promise<{ readonly type: string; readonly text: string }> {
    this.#scrape ??= this.#tell().finally(() => {
      this.#scrape = undefined;
    });
    return this.#scrape;
  }

  async #tell(): Promise<{ type: string; text: string }> {
    await Promise.all([...this.#parts].map(([part, look]) => this.#lookAt(part, look)));
    const registries = [this.instruments.registry, this.#process];
    const texts = await Promise.all(registries.map((registry) => registry.metrics()));
    return { type: this.#process.contentType, text: texts.join('\n') };
  }

  async #lookAt(part: string, look: Look): Promise<void> {
    const late = (): never => {
      throw new Error(`Not found out within ${PATIENCE} ms.`);
    };
    try {
      await inTime(this.#once(part, look), PATIENCE, late);
    } catch (error) {
      this.#faults.inc({ part });
      this.#logger.debug({ part, err: error }, 'metrics not told');
    }
  }

  /** What an earlier scrape gave up may be looking still. */
  #once(part: string, look: Look): Promise<void> {
    const running = this.#running.get(part);
    if (running) return running;
    const looking = Promise.try(look).finally(() => this.#running.delete(part));
    this.#running.set(part, looking);
    return looking;
  }
}
