/**
 * Ends the waiting for many pieces of work at once. It forgets those that are over: a promise that each is raced against
 * would remember them for as long as it lives.
 */
export class CutOff {
  readonly #waiting = new Set<(reason: unknown) => void>();
  #cut: { readonly reason: unknown } | undefined;

  /** What the work comes to, unless it is cut off before; then rejects with the reason. */
  async unless<Outcome>(work: Promise<Outcome>): Promise<Outcome> {
    const { promise, reject } = Promise.withResolvers<never>();
    if (this.#cut) reject(this.#cut.reason);
    else this.#waiting.add(reject);
    try {
      return await Promise.race([work, promise]);
    } finally {
      this.#waiting.delete(reject);
    }
  }

  /** From now on nothing is waited for. */
  cut(reason: unknown): void {
    this.#cut ??= { reason };
    for (const reject of this.#waiting) reject(reason);
  }
}
