import { type Pauses, pauseAfter } from '../../growing-pause.ts';

/** Growing pauses while the server fails. */
export class BackOff {
  readonly #pauses: Pauses;
  #failures = 0;

  /** The longest pause may pass unnoticed when the server is back; checks and loads wait for it. */
  constructor({ firstPause = 50, longestPause = 2000 }: Partial<Pauses>) {
    this.#pauses = { firstPause, longestPause };
  }

  /** Milliseconds to wait after one more failure. */
  next(): number {
    this.#failures += 1;
    return pauseAfter(this.#failures, this.#pauses);
  }

  reset(): void {
    this.#failures = 0;
  }
}
