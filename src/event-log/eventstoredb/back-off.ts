import { clock } from '../../tools/clock.ts';
import { type BackoffOptions, backoffDelay } from '../../tools/concurrency/backoff.ts';

export type BackOffSettings = Partial<BackoffOptions> & {
  /** Milliseconds of failure after which background work waits longer. */
  readonly outageAfter?: number;
  /** The longest pause of background work from then on, in milliseconds, before jitter of a quarter. */
  readonly outagePause?: number;
};

/** The longest pause of a call that a request waits for, before jitter. */
export const LONGEST_PAUSE_MS = 2000;
/**
 * After an outage of minutes a few seconds more do not matter, while attempts every two seconds cost much CPU
 * time.
 */
const [OUTAGE_AFTER_MS, OUTAGE_PAUSE_MS] = [120_000, 8000];

const NO_OUTAGE = { outageAfter: Number.POSITIVE_INFINITY, outagePause: 0 };

/** Computes growing pauses between attempts while the server fails. */
export class BackOff {
  readonly #pauses: BackoffOptions;
  readonly #outage: Required<Pick<BackOffSettings, 'outageAfter' | 'outagePause'>>;
  #failures = 0;
  #failingSince = 0;

  /**
   * Returns pauses for work that no request waits for. After two minutes of failure they grow to ten seconds at most.
   * The work must call `reset` whenever it has succeeded: failures count from the first one after that.
   */
  static forBackground(settings: BackOffSettings): BackOff {
    const { outageAfter = OUTAGE_AFTER_MS, outagePause = OUTAGE_PAUSE_MS } = settings;
    return new BackOff(settings, { outageAfter, outagePause });
  }

  /** Pauses for a call that a request waits for: the longest one may pass unnoticed when the server is back. */
  constructor(
    { firstPause = 50, longestPause = LONGEST_PAUSE_MS }: Partial<BackoffOptions>,
    outage = NO_OUTAGE,
  ) {
    this.#pauses = { firstPause, longestPause };
    this.#outage = outage;
  }

  /** Returns the milliseconds to wait after one more failure. */
  next(): number {
    if (this.#failures === 0) this.#failingSince = clock.monotonic();
    this.#failures += 1;
    const { outageAfter, outagePause } = this.#outage;
    const { firstPause, longestPause } = this.#pauses;
    const isOutage = clock.monotonic() - this.#failingSince >= outageAfter;
    const longest = isOutage ? Math.max(longestPause, outagePause) : longestPause;
    return backoffDelay(this.#failures, { firstPause, longestPause: longest });
  }

  reset(): void {
    this.#failures = 0;
  }
}
