/**
 * Wakes waiters when the log grows. A commit between reading and waiting is not missed, since it is counted.
 */
export class CommitSignal {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  /** Changes with every commit; must be read before the log is read. */
  get count(): number {
    return this.#count;
  }

  committed(): void {
    this.#count += 1;
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when the count is no longer `seen`, or `signal` aborts. */
  async after(seen: number, signal: AbortSignal): Promise<void> {
    if (this.#count !== seen || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake);
    await promise;
    this.#waiting.delete(wake);
    signal.removeEventListener('abort', wake);
  }
}
