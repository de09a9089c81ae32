import { inTime } from '../in-time.ts';
import { ArchiveStoreUnavailable } from './archive-store.ts';

/** What a store is doing: once closed, it begins nothing any more. */
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

  /** Resolves when all of it has ended, or after `patience` milliseconds. */
  async close(patience?: number): Promise<void> {
    this.#closed = true;
    const ended = Promise.allSettled(this.#running);
    await (patience === undefined ? ended : inTime(ended, patience));
  }
}
