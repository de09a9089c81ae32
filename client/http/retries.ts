import { clock } from '../../src/tools/clock.ts';
import { Backoff } from '../../src/tools/concurrency/backoff.ts';
import { Watch } from './watch.ts';

/** Time limits of requests and retries, in milliseconds. */
export type TimeLimits = {
  readonly total: number;
  /** An attempt without progress for this time is aborted, and repeated within the total. */
  readonly silence: number;
  /** Shorter limit for requests that can be repeated without cost, so that time for a retry remains. */
  readonly silenceOfReads: number;
  /** Minimum time of an attempt, even if it exceeds the total. */
  readonly shortestTry: number;
  readonly firstPause: number;
  readonly longestPause: number;
};

export function timeLimits(seconds: number): TimeLimits {
  return {
    total: seconds * 1000,
    silence: 120_000,
    silenceOfReads: Math.min(Math.max(seconds * 500, 30_000), 120_000),
    shortestTry: 1000,
    firstPause: 500,
    longestPause: 15_000,
  };
}

/**
 * Retries of one operation: its total time limit, which starts with the first attempt, and growing pauses. Time in
 * which an archive is being transferred does not count.
 */
export class Retries {
  readonly #limits: TimeLimits;
  readonly #pauses: Backoff;
  #deadline: number;

  constructor(limits: TimeLimits) {
    this.#limits = limits;
    this.#deadline = clock.monotonic() + limits.total;
    this.#pauses = new Backoff(limits);
  }

  /** Starts the timeout of an attempt, limited by the remaining total. */
  watch(isRead: boolean): Watch {
    const { silence, silenceOfReads, shortestTry } = this.#limits;
    const left = Math.max(this.#deadline - clock.monotonic(), shortestTry);
    return new Watch(Math.min(left, isRead ? silenceOfReads : silence), (flowed) => {
      this.#deadline += flowed;
    });
  }

  /**
   * Waits before the next attempt, at least `asked` seconds; resolves to `false` if the total time limit is exceeded.
   */
  async next(asked = 0): Promise<boolean> {
    const length = Math.max(this.#pauses.next(), asked * 1000);
    if (length > this.#deadline - clock.monotonic()) return false;
    await clock.sleep(length);
    return true;
  }

  /** Restarts the limits after progress. */
  reset(): void {
    this.#deadline = clock.monotonic() + this.#limits.total;
    this.#pauses.reset();
  }
}
