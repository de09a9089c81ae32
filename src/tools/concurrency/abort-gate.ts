/**
 * Cancels many waits at once. Settled work is released: a promise that each wait is raced against would retain all of
 * them for its lifetime.
 */
export class AbortGate {
  readonly #waiting = new Set<(reason: unknown) => void>();
  #aborted: { readonly reason: unknown } | undefined;

  get isAborted(): boolean {
    return this.#aborted !== undefined;
  }

  /** Settles like the work, or rejects with the reason if {@link abort} is called before. */
  async race<Outcome>(work: Promise<Outcome>): Promise<Outcome> {
    const { promise, reject } = Promise.withResolvers<never>();
    if (this.#aborted) reject(this.#aborted.reason);
    else this.#waiting.add(reject);
    try {
      return await Promise.race([work, promise]);
    } finally {
      this.#waiting.delete(reject);
    }
  }

  /** Rejects all present and later waits. */
  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    for (const reject of this.#waiting) reject(reason);
  }
}
