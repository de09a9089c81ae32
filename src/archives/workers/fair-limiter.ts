import { clock } from '../../tools/clock.ts';
import { OwnerSemaphore } from '../../tools/concurrency/owner-semaphore.ts';

export type FairLimiterOptions = {
  /** Maximum number of concurrent reads; at most half of them for one client. */
  readonly size: number;
  /**
   * Maximum number of waiting reads, at most half of them for one client, and their time limit in
   * milliseconds.
   */
  readonly waiting: number;
  readonly timeoutMs: number;
};

/** The maximum number of reads is running and waiting. */
class ReadersBusy extends Error {
  override readonly name = 'ReadersBusy';
  readonly code = 'READERS_BUSY';
}

/** Limits concurrent reads, in total and per client, so that one client cannot starve the others. */
export class FairLimiter {
  readonly #options: FairLimiterOptions;
  readonly #reading: OwnerSemaphore;
  readonly #waiting: OwnerSemaphore;
  readonly #waiters = new Set<Waiter>();

  constructor(options: FairLimiterOptions) {
    this.#options = options;
    this.#reading = new OwnerSemaphore(options.size, share(options.size));
    this.#waiting = new OwnerSemaphore(options.waiting, share(options.waiting));
  }

  /**
   * Acquires a permit for a client, to be held while it reads.
   * @throws {ReadersBusy}
   */
  async enter(who: string): Promise<Disposable> {
    const place = this.#reading.limitReached(who) ? await this.#wait(who) : this.#reading.acquire(who);
    const leave = (): void => {
      place[Symbol.dispose]();
      this.#callNext();
    };
    return { [Symbol.dispose]: leave };
  }

  async #wait(who: string): Promise<Disposable> {
    const { timeoutMs, size } = this.#options;
    const busy = () => new ReadersBusy(`${size} readings are under way, or ${share(size)} of one client.`);
    if (this.#waiting.limitReached(who)) throw busy();
    using _place = this.#waiting.acquire(who);
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const waiter = { who, begin: resolve };
    const timer = clock.setTimeout(() => reject(busy()), timeoutMs);
    this.#waiters.add(waiter);
    try {
      return await promise;
    } finally {
      clock.clearTimeout(timer);
      this.#waiters.delete(waiter);
    }
  }

  /** Starts the longest-waiting read of a client below its limit. */
  #callNext(): void {
    const next = this.#waiters.values().find(({ who }) => !this.#reading.limitReached(who));
    if (!next) return;
    this.#waiters.delete(next);
    next.begin(this.#reading.acquire(next.who));
  }
}

type Waiter = { readonly who: string; readonly begin: (place: Disposable) => void };

function share(whole: number): number {
  return Math.ceil(whole / 2);
}
