import { clock } from '../tools/clock.ts';
import { FairQueue } from '../tools/concurrency/fair-queue.ts';

/** A semaphore with a limit of half the slots per owner, first come first served, and an exclusive mode. */
export class FairLimiter {
  readonly #count: number;
  readonly #limitPerOwner: number;
  readonly #timeoutMs: number;
  readonly #used = new Map<string, number>();
  readonly #queue = new FairQueue<() => void>();
  /** Exclusive work that waits for all running work to end. */
  readonly #exclusiveWaiters: (() => void)[] = [];
  #free: number;
  /** Number of running works past the timeout; exclusive work no longer waits for them. */
  #overdue = 0;
  #isExclusive = false;

  /** Exclusive work blocks other work for `timeoutMs` milliseconds at most, and waits as long for running work. */
  constructor(count: number, timeoutMs: number) {
    this.#count = count;
    this.#free = count;
    this.#limitPerOwner = Math.ceil(count / 2);
    this.#timeoutMs = timeoutMs;
  }

  async run(owner: string, work: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.add(owner, () => {
      this.#acquire(owner);
      resolve();
    });
    this.#startWaiting();
    await promise;
    let isOverdue = false;
    const late = (): void => {
      isOverdue = true;
      this.#overdue += 1;
    };
    try {
      await this.#runWithTimeout(work, late);
    } finally {
      if (isOverdue) this.#overdue -= 1;
      this.#release(owner);
      this.#startWaiting();
    }
  }

  /**
   * Runs work exclusively: starts once nothing else runs, and nothing else starts until it has ended, or has used up its
   * timeout. After that it has no slot either: `work` gets a function that returns whether it is still exclusive.
   */
  async runExclusive(work: (isExclusive: () => boolean) => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#exclusiveWaiters.push(resolve);
    this.#startWaiting();
    await promise;
    let isExclusive = true;
    const end = (): void => {
      if (!isExclusive) return;
      isExclusive = false;
      this.#isExclusive = false;
      this.#free += 1;
    };
    try {
      await this.#runWithTimeout(() => work(() => isExclusive), end);
    } finally {
      end();
      this.#startWaiting();
    }
  }

  #startWaiting(): void {
    if (this.#isExclusive) return;
    if (this.#exclusiveWaiters.length > 0) {
      this.#startExclusive();
      return;
    }
    while (this.#free > 0) {
      const begin = this.#queue.take((owner) => (this.#used.get(owner) ?? 0) < this.#limitPerOwner);
      if (!begin) return;
      begin();
    }
  }

  #startExclusive(): void {
    if (this.#free === 0 || this.#free + this.#overdue < this.#count) return;
    this.#free -= 1;
    this.#isExclusive = true;
    this.#exclusiveWaiters.shift()?.();
  }

  /** Runs work. Calls `late` if it takes longer than the timeout. */
  async #runWithTimeout(work: () => Promise<void>, late: () => void): Promise<void> {
    const timer = clock.setTimeout(() => {
      late();
      this.#startWaiting();
    }, this.#timeoutMs);
    timer.unref(); // aborted work may never end after a stop
    try {
      await work();
    } finally {
      clock.clearTimeout(timer);
    }
  }

  #acquire(owner: string): void {
    this.#free -= 1;
    this.#used.set(owner, (this.#used.get(owner) ?? 0) + 1);
  }

  #release(owner: string): void {
    this.#free += 1;
    const left = (this.#used.get(owner) ?? 0) - 1;
    if (left > 0) this.#used.set(owner, left);
    else this.#used.delete(owner);
  }
}
