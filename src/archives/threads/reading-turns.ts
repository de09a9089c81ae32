import { Places } from '../../places.ts';
import { clock } from '../../tools/clock.ts';

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
  readonly #reading: Places;
  readonly #waiting: Places;
  readonly #line = new Set<Waiter>();

  constructor(options: ReadingTurnsOptions) {
    this.#options = options;
    this.#reading = new Places(options.size, share(options.size));
    this.#waiting = new Places(options.waiting, share(options.waiting));
  }

  /**
   * To be held while `who` reads.
   * @throws {ReadersBusy}
   */
  async enter(who: string): Promise<Disposable> {
    const place = this.#reading.lackFor(who) ? await this.#wait(who) : this.#reading.take(who);
    const leave = (): void => {
      place[Symbol.dispose]();
      this.#callNext();
    };
    return { [Symbol.dispose]: leave };
  }

  async #wait(who: string): Promise<Disposable> {
    const { patience, size } = this.#options;
    const busy = () => new ReadersBusy(`${size} readings are under way, or ${share(size)} of one client.`);
    if (this.#waiting.lackFor(who)) throw busy();
    using _place = this.#waiting.take(who);
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const waiter = { who, begin: resolve };
    const timer = clock.setTimeout(() => reject(busy()), patience);
    this.#line.add(waiter);
    try {
      return await promise;
    } finally {
      clock.clearTimeout(timer);
      this.#line.delete(waiter);
    }
  }

  /** Whoever has waited longest of those who may read. */
  #callNext(): void {
    const next = this.#line.values().find(({ who }) => !this.#reading.lackFor(who));
    if (!next) return;
    this.#line.delete(next);
    next.begin(this.#reading.take(next.who));
  }
}

type Waiter = { readonly who: string; readonly begin: (place: Disposable) => void };

function share(whole: number): number {
  return Math.ceil(whole / 2);
}
