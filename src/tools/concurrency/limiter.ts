/** Runs a limited number of jobs concurrently; callers that start more wait. */
export class Limiter {
  readonly #limit: number;
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;
  /** Resolves when a job ends. A race of the jobs would leave a reaction in a long one for each of the others. */
  #nextEnd: PromiseWithResolvers<void> | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves once the job has started. @throws the error of an earlier job */
  async start(job: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#limit) await (this.#nextEnd ??= Promise.withResolvers()).promise;
    this.#throwFailure();
    const running: Promise<void> = job()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#end(running));
    this.#running.add(running);
  }

  #end(job: Promise<void>): void {
    this.#running.delete(job);
    this.#nextEnd?.resolve();
    this.#nextEnd = undefined;
  }

  /** Resolves once all jobs are done. @throws the error of a job */
  async finished(): Promise<void> {
    await Promise.all(this.#running);
    this.#throwFailure();
  }

  /** Resolves once all jobs have settled; does not throw. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}

/**
 * Runs `work` for each item, with at most `limit` concurrent calls. After the first failure no further call starts, and
 * that error is thrown.
 */
export async function mapConcurrent<T>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const limiter = new Limiter(limit);
  try {
    for await (const item of items) await limiter.start(() => work(item));
    await limiter.finished();
  } finally {
    await limiter.settled();
  }
}
