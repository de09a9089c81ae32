import { InTurn } from '../in-turn.ts';

/** A number of places, of which one owner may have half; who finds none waits in line. */
export class Slots {
  readonly #share: number;
  readonly #taken = new Map<string, number>();
  readonly #lines = new InTurn<() => void>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
    this.#share = Math.ceil(count / 2);
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
      await work();
    } finally {
      this.#giveBack(owner);
      this.#fill();
    }
  }

  #fill(): void {
    while (this.#free > 0) {
      const begin = this.#lines.take((owner) => (this.#taken.get(owner) ?? 0) < this.#share);
      if (!begin) return;
      begin();
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
