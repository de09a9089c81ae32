import { InTurn } from '../in-turn.ts';
import { clock } from '../tools/clock.ts';

/** A number of places, of which one owner may have half; who finds none waits in line. */
export class Slots {
  readonly #count: number;
  readonly #share: number;
  readonly #patience: number;
  readonly #taken = new Map<string, number>();
  readonly #lines = new InTurn<() => void>();
  /** They wait until nobody is beside them. */
  readonly #loners: (() => void)[] = [];
  #free: number;
  /** Under way for so long that nobody waits for them any more. */
  #overdue = 0;
  #isAlone = false;

  /** Who wants to be alone is so for `patience` milliseconds at the most, and waits no longer for any other. */
  constructor(count: number, patience: number) {
    this.#count = count;
    this.#free = count;
    this.#share = Math.ceil(count / 2);
    this.#patience = patience;
  }

  async run(owner: string, work: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lines.add(owner, () => {
      this.#take(owner);
      resolve();
    });
    this.#fill();
    await promise;
    try {
      await this.#timed(work);
    } finally {
      this.#giveBack(owner);
      this.#fill();
    }
  }

  /** Begins when nothing else is under way, and nothing begins beside it. */
  async runAlone(work: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#loners.push(resolve);
    this.#fill();
    await promise;
    try {
      await this.#timed(work, () => (this.#isAlone = false));
    } finally {
      this.#free += 1;
      this.#fill();
    }
  }

  #fill(): void {
    if (this.#isAlone) return;
    if (this.#loners.length > 0) {
      this.#beginAlone();
      return;
    }
    while (this.#free > 0) {
      const begin = this.#lines.take((owner) => (this.#taken.get(owner) ?? 0) < this.#share);
      if (!begin) return;
      begin();
    }
  }

  #beginAlone(): void {
    if (this.#free === 0 || this.#free + this.#overdue < this.#count) return;
    this.#free -= 1;
    this.#isAlone = true;
    this.#loners.shift()?.();
  }

  /** `over` is called once: when it has ended, or when nobody waits for it any more. */
  async #timed(work: () => Promise<void>, over = (): unknown => undefined): Promise<void> {
    let isOverdue = false;
    const timer = clock.setTimeout(() => {
      isOverdue = true;
      this.#overdue += 1;
      over();
      this.#fill();
    }, this.#patience);
    timer.unref(); // work that a stop has cut off may never end
    try {
      await work();
    } finally {
      clock.clearTimeout(timer);
      if (isOverdue) this.#overdue -= 1;
      else over();
    }
  }

  #take(owner: string): void {
    this.#free -= 1;
    this.#taken.set(owner, (this.#taken.get(owner) ?? 0) + 1);
  }

  #giveBack(owner: string): void {
    this.#free += 1;
    const left = (this.#taken.get(owner) ?? 0) - 1;
    if (left > 0) this.#taken.set(owner, left);
    else this.#taken.delete(owner);
  }
}
