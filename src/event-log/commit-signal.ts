/** Wakes those who wait for the log to grow. A commit between looking and waiting is not missed: it was counted. */
export class CommitSignal {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  /** Changes with every commit; take it before looking at the log. */
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
