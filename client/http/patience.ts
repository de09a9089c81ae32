import { clock } from '../../src/tools/clock.ts';
import { random } from '../../src/tools/random.ts';
import { Watch } from './watch.ts';

/** Milliseconds: how long the server is waited for. */
export type Patience = {
  readonly total: number;
  /** A try in which nothing moves on for so long is given up, and made again if there is patience left. */
  readonly silence: number;
  /** The same for what costs nothing to ask again, so that there is patience left. */
  readonly silenceOfReads: number;
  /** However little patience is left, a try has this long. */
  readonly shortestTry: number;
  readonly firstPause: number;
  readonly longestPause: number;
};

export function patienceOf(seconds: number): Patience {
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
 * The patience for one thing, from its first try on: with that, and with growing pauses between its tries. Only the
 * time in which an archive flows is not counted.
 */
export class Pauses {
  readonly #patience: Patience;
  #over: number;
  #next: number;

  constructor(patience: Patience) {
    this.#patience = patience;
    this.#over = clock.monotonic() + patience.total;
    this.#next = patience.firstPause;
  }

  /** Watches over a try: it ends with the patience, or before. */
  watch(isRead: boolean): Watch {
    const { silence, silenceOfReads, shortestTry } = this.#patience;
    const left = Math.max(this.#over - clock.monotonic(), shortestTry);
    return new Watch(Math.min(left, isRead ? silenceOfReads : silence), (flowed) => {
      this.#over += flowed;
    });
  }

  /** Waits before the next try, at least `asked` seconds; `false` when there shall be none. */
  async next(asked = 0): Promise<boolean> {
    // Not all who lost the connection at the same moment come back at the same moment.
    const length = Math.max(this.#next * (0.75 + random.fraction() / 2), asked * 1000);
    if (length > this.#over - clock.monotonic()) return false;
    this.#next = Math.min(this.#next * 2, this.#patience.longestPause);
    await clock.sleep(length);
    return true;
  }

  /** There was progress: what comes now begins anew. */
  reset(): void {
    this.#over = clock.monotonic() + this.#patience.total;
    this.#next = this.#patience.firstPause;
  }
}
