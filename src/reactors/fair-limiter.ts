import { clock } from '../tools/clock.ts';
import { FairQueue } from '../tools/concurrency/fair-queue.ts';

type Waiting = { readonly slots: number; readonly begin: () => void };

/** A semaphore with a limit of half the slots per owner, served round-robin by owner, and an exclusive mode. */
export class FairLimiter {
  readonly #count: number;
  readonly #limitPerOwner: number;
  readonly #timeoutMs: number;
  readonly #used = new Map<string, number>();
  readonly #queue = new FairQueue<Waiting>();
  /** Exclusive work that waits for all running work to end. */
  readonly #exclusiveWaiters: (() => void)[] = [];
  #free: number;
  /** Number of slots of running works past the timeout; exclusive work no longer waits for them. */
  #overdue = 0;
  #isExclusive = false;

  /** Exclusive work blocks other work for `timeoutMs` milliseconds at most, and waits as long for running work. */
  constructor(count: number, timeoutMs: number) {
    this.#count = count;
    this.#free = count;
    this.#limitPerOwner = Math.ceil(count / 2);
    this.#timeoutMs = timeoutMs;
  }

  /** Runs work that takes a number of slots, of which it gets no more than an owner may have. */
  async run(owner: string, work: () => Promise<void>, wanted: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const slots = Math.min(wanted, this.#limitPerOwner);
    const begin = () => {
      this.#acquire(owner, slots);
      resolve();
    };
    this.#queue.add(owner, { slots, begin });
    this.#startWaiting();
    await promise;
    let isOverdue = false;
    const late = (): void => {
      isOverdue = true;
      this.#overdue += slots;
    };
    try {
      await this.#runWithTimeout(work, late);
    } finally {
      if (isOverdue) this.#overdue -= slots;
      this.#release(owner, slots);
      this.#startWaiting();
    }
  }

  /**
   * Runs work exclusively: starts once nothing else runs, and nothing else starts until it has ended, or has used up
   * its timeout. After that it has no slot either: `work` gets a function that returns whether it is still exclusive.
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
    for (let next = this.#takeNext(); next; next = this.#takeNext()) next.begin();
  }

  /** Takes the work whose turn it is, unless too few slots are free: no work with fewer slots starts before it. */
  #takeNext(): Waiting | undefined {
    let isShort = false;
    return this.#queue.take((owner, { slots }) => {
      if (isShort || (this.#used.get(owner) ?? 0) + slots > this.#limitPerOwner) return false;
      isShort = slots > this.#free;
      return !isShort;
    });
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

  #acquire(owner: string, slots: number): void {
    this.#free -= slots;
    this.#used.set(owner, (this.#used.get(owner) ?? 0) + slots);
  }

  #release(owner: string, slots: number): void {
    this.#free += slots;
    const left = (this.#used.get(owner) ?? 0) - slots;
    if (left > 0) this.#used.set(owner, left);
    else this.#used.delete(owner);
  }
}
