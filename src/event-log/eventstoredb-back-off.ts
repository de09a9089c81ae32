export type BackOffOptions = {
  /** Milliseconds after the first failure; doubled each time. */
  readonly firstPause?: number;
  /** So long may pass unnoticed when the server is back; checks and loads wait for it. */
  readonly longestPause?: number;
};

/** Growing pauses, each somewhere between half and all of its length so that many clients do not come at once. */
export class BackOff {
  readonly #first: number;
  readonly #longest: number;
  #failures = 0;

  constructor({ firstPause = 50, longestPause = 2000 }: BackOffOptions) {
    this.#first = firstPause;
    this.#longest = longestPause;
  }

  /** Milliseconds to wait after one more failure. */
  next(): number {
    const pause = Math.min(this.#first * 2 ** this.#failures, this.#longest);
    this.#failures += 1;
    return pause * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#failures = 0;
  }
}
