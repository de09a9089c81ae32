/** A semaphore with a total limit and a lower limit per owner, so that one owner cannot starve the others. */
export class OwnerSemaphore {
  readonly #limit: number;
  readonly #ownerLimit: number;
  /** Number of permits by owner, for owners with at least one. */
  readonly #permits = new Map<string, number>();
  #total = 0;

  constructor(limit: number, ownerLimit: number) {
    this.#limit = limit;
    this.#ownerLimit = ownerLimit;
  }

  /** Returns which limit prevents a further permit for the owner; `undefined` if a permit is available. */
  limitReached(owner: string): 'share taken' | 'all taken' | undefined {
    if (this.#of(owner) >= this.#ownerLimit) return 'share taken';
    return this.#total >= this.#limit ? 'all taken' : undefined;
  }

  /** Acquires a permit without a check of the limits: call {@link limitReached} before. */
  acquire(owner: string): Disposable {
    this.#add(owner, 1);
    return { [Symbol.dispose]: () => this.#add(owner, -1) };
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
