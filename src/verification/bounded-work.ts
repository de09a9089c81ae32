/** Jobs of which only so many are under way at the same time; whoever brings more waits. */
export class BoundedWork {
  readonly #limit: number;
  readonly #underWay = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when the job has begun. @throws what a job before it has thrown */
  async start(job: () => Promise<void>): Promise<void> {
    while (this.#underWay.size >= this.#limit) await Promise.race(this.#underWay);
    this.#assertWell();
    const running: Promise<void> = job()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#underWay.delete(running));
    this.#underWay.add(running);
  }

  /** Resolves when all are done. @throws what one of them has thrown */
  async finished(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#assertWell();
  }

  /** As {@link finished}, but does not throw. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #assertWell(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
