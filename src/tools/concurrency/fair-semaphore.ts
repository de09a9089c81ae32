import { clock } from '../clock.ts';
import { FairQueue } from './fair-queue.ts';

/** The limit that prevents a further permit: that of all owners together, or that of the one owner. */
export type ReachedLimit = 'total' | 'owner';

type FairSemaphoreOptions = {
  /** Maximum number of permits. */
  readonly limit: number;
  /** Maximum number of permits of one owner; all if omitted. */
  readonly ownerLimit?: number;
  /**
   * Whether the limit of an owner is a share of the permits that others leave, so that a few owners cannot hold all. An
   * owner without a permit gets one while there is any.
   */
  readonly shrinking?: boolean;
  /** Maximum number of waiting acquisitions; none if omitted. */
  readonly waiting?: number;
  /** Maximum number of waiting acquisitions of one owner; all if omitted. */
  readonly ownerWaiting?: number;
  /** Maximum milliseconds of waiting; unlimited if omitted. */
  readonly timeoutMs?: number;
  /** Returns the error for an owner that gets no permit. @param held permits of the owner, or of all owners */
  readonly refuse: (reached: ReachedLimit, held: number) => Error;
};

/**
 * A semaphore with a total limit and a lower limit per owner. Waiting owners are served round-robin, so that one owner
 * cannot starve the others.
 */
export class FairSemaphore {
  readonly #options: FairSemaphoreOptions;
  /** Number of permits by owner, for owners with at least one. */
  readonly #permits = new Map<string, number>();
  readonly #queue = new FairQueue<Waiter>();
  #total = 0;

  constructor(options: FairSemaphoreOptions) {
    this.#options = options;
  }

  get held(): number {
    return this.#total;
  }

  /** Number of acquisitions that wait. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Returns whether an acquisition waits that could begin if this owner released its permits. */
  isWanted(owner: string): boolean {
    return this.#queue.some((waiting) => this.#limitReached(waiting, owner) === undefined);
  }

  /** Returns a permit without waiting. @throws the error of `refuse` */
  acquireNow(owner: string): Disposable {
    const reached = this.#limitReached(owner);
    if (reached !== undefined) throw this.#refusal(owner, reached);
    return this.#permit(owner);
  }

  /** Resolves to a permit; rejects with the error of `refuse`, or with the reason of the signal. */
  async acquire(owner: string, signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    const { waiting = 0, ownerWaiting = waiting, timeoutMs } = this.#options;
    const reached = this.#limitReached(owner);
    if (reached === undefined) return this.#permit(owner);
    if (this.#queue.size >= waiting || this.#queue.sizeOf(owner) >= ownerWaiting)
      throw this.#refusal(owner, reached);
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const waiter = { begin: () => resolve(this.#permit(owner)), reject };
    // A waiter that was removed already holds a permit.
    const giveUp = (reason: unknown): void => {
      if (this.#queue.remove(owner, waiter)) reject(reason);
    };
    const onAbort = () => giveUp(signal?.reason);
    const timer =
      timeoutMs === undefined
        ? undefined
        : clock.setTimeout(() => giveUp(this.#refusal(owner, reached)), timeoutMs);
    signal?.addEventListener('abort', onAbort);
    this.#queue.add(owner, waiter);
    try {
      return await promise;
    } finally {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  rejectWaiting(reason: Error): void {
    for (const { reject } of this.#queue.takeAll()) reject(reason);
  }

  /** Returns the limit that prevents a permit, as it would be if another owner had released its permits. */
  #limitReached(owner: string, released?: string): ReachedLimit | undefined {
    const { limit, ownerLimit = limit, shrinking = false } = this.#options;
    const own = owner === released ? 0 : this.#of(owner);
    const total = this.#total - (released === undefined ? 0 : this.#of(released));
    const left = limit - (total - own);
    const share = shrinking ? Math.max(1, Math.ceil(left * (ownerLimit / limit))) : ownerLimit;
    if (own >= share) return 'owner';
    return total >= limit ? 'total' : undefined;
  }

  #refusal(owner: string, reached: ReachedLimit): Error {
    return this.#options.refuse(reached, reached === 'owner' ? this.#of(owner) : this.#total);
  }

  #permit(owner: string): Disposable {
    this.#add(owner, 1);
    return {
      [Symbol.dispose]: () => {
        this.#add(owner, -1);
        const next = () => this.#queue.take((waiting) => this.#limitReached(waiting) === undefined);
        for (let waiter = next(); waiter; waiter = next()) waiter.begin();
      },
    };
  }

  #add(owner: string, change: 1 | -1): void {
    this.#total += change;
    const count = this.#of(owner) + change;
    if (count > 0) this.#permits.set(owner, count);
    else this.#permits.delete(owner);
  }

  #of(owner: string): number {
    return this.#permits.get(owner) ?? 0;
  }
}

type Waiter = { readonly begin: () => void; readonly reject: (reason: unknown) => void };
