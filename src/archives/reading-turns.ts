export type ReadingTurnsOptions = {
  /** Readings at the same time; half of them at most are for the same one who asks. */
  readonly size: number;
  /** Readings that may wait for a turn, with the same share, and for how long, in milliseconds. */
  readonly waiting: number;
  readonly patience: number;
};

/** There are as many readings as may be, and as many wait. */
export class ReadersBusy extends Error {
  override readonly name = 'ReadersBusy';
  readonly code = 'READERS_BUSY';
}

/** Lets few read at a time, however many ask, and nobody keep all others from it. */
export class ReadingTurns {
  readonly #options: ReadingTurnsOptions;
  readonly #reading: string[] = [];
  readonly #waiting = new Set<Waiter>();

  constructor(options: ReadingTurnsOptions) {
    this.#options = options;
  }

  /**
   * To be held while `who` reads.
   * @throws {ReadersBusy}
   */
  async enter(who: string): Promise<Disposable> {
    if (this.#mayRead(who)) this.#reading.push(who);
    else await this.#wait(who);
    return { [Symbol.dispose]: () => this.#leave(who) };
  }

  #mayRead(who: string): boolean {
    const { size } = this.#options;
    return this.#reading.length < size && count(this.#reading, who) < share(size);
  }

  async #wait(who: string): Promise<void> {
    const { waiting, patience, size } = this.#options;
    const busy = () => new ReadersBusy(`${size} readings are under way, or ${share(size)} of one client.`);
    const others = [...this.#waiting].map((waiter) => waiter.who);
    if (others.length >= waiting || count(others, who) >= share(waiting)) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { who, begin: resolve };
    const timer = setTimeout(() => reject(busy()), patience);
    this.#waiting.add(waiter);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(waiter);
    }
  }

  /** The turn goes to whoever has waited longest of those who may have it. */
  #leave(who: string): void {
    this.#reading.splice(this.#reading.indexOf(who), 1);
    for (const waiter of this.#waiting) {
      if (!this.#mayRead(waiter.who)) continue;
      this.#waiting.delete(waiter);
      this.#reading.push(waiter.who);
      waiter.begin();
      return;
    }
  }
}

type Waiter = { readonly who: string; readonly begin: () => void };

function share(whole: number): number {
  return Math.ceil(whole / 2);
}

function count(names: readonly string[], wanted: string): number {
  return names.filter((name) => name === wanted).length;
}
