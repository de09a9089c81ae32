import { clock } from '../clock.ts';
import { random } from '../random.ts';

/** Pauses of repeated attempts, in milliseconds before jitter. */
export type BackoffOptions = {
  /** Pause after the first failure; doubled after each further one. */
  readonly firstPause: number;
  readonly longestPause: number;
  /** After this long a series of failures, pauses grow up to `outagePause`. */
  readonly outageAfter?: number;
  readonly outagePause?: number;
};

/** Growing pauses between attempts. Call {@link reset} after each success. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;
  #failingSince = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Returns the milliseconds to wait after one more failure. */
  next(): number {
    const { outageAfter = Infinity, outagePause = 0, ...pauses } = this.#options;
    if (this.#failures === 0) this.#failingSince = clock.monotonic();
    this.#failures += 1;
    const isOutage = clock.monotonic() - this.#failingSince >= outageAfter;
    const longestPause = isOutage ? Math.max(pauses.longestPause, outagePause) : pauses.longestPause;
    return backoffDelay(this.#failures, { ...pauses, longestPause });
  }

  reset(): void {
    this.#failures = 0;
  }
}

/**
 * Returns the milliseconds to wait after a number of consecutive failures. Jitter keeps work that failed together from
 * being repeated together.
 */
export function backoffDelay(
  failures: number,
  { firstPause, longestPause }: Pick<BackoffOptions, 'firstPause' | 'longestPause'>,
): number {
  return Math.min(firstPause * 2 ** (failures - 1), longestPause) * (0.75 + random.fraction() / 2);
}
