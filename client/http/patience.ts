import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds: how long the server is waited for when it does not answer. */
export type Patience = {
  readonly total: number;
  readonly first: number;
  readonly longest: number;
};

export function patienceOf(seconds: number): Patience {
  return { total: seconds * 1000, first: 500, longest: 15_000 };
}

/** Growing pauses between the tries of one thing, until the patience is over. */
export class Pauses {
  readonly #patience: Patience;
  #since: number | undefined;
  #next: number;

  constructor(patience: Patience) {
    this.#patience = patience;
    this.#next = patience.first;
  }

  /** Waits before the next try, at least `asked` seconds; `false` when there shall be none. */
  async next(asked = 0): Promise<boolean> {
    this.#since ??= performance.now();
    const left = this.#patience.total - (performance.now() - this.#since);
    // Not all who lost the connection at the same moment come back at the same moment.
    const length = Math.max(this.#next * (0.75 + Math.random() / 2), asked * 1000);
    if (length > left) return false;
    this.#next = Math.min(this.#next * 2, this.#patience.longest);
    await pause(length);
    return true;
  }

  /** There was progress: what comes now begins anew. */
  reset(): void {
    this.#since = undefined;
    this.#next = this.#patience.first;
  }
}
