import { ArchiveStoreUnavailable } from './archive-store.ts';

/** What a store is doing: it closes only when all of it has ended, and begins nothing afterwards. */
export class WorkInFlight {
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  /** @throws {ArchiveStoreUnavailable} the store is closed. */
  async track<T>(work: () => Promise<T>): Promise<T> {
    this.assertOpen();
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** @throws {ArchiveStoreUnavailable} the store is closed. */
  assertOpen(): void {
    if (this.#closed) throw new ArchiveStoreUnavailable('The archive store is closed.');
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running);
  }
}
