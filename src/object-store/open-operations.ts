import { withTimeout } from '../tools/concurrency/with-timeout.ts';
import { ObjectStoreUnavailable } from './object-store.ts';

/** Tracks the running operations of a store; once it is closed, it starts no further ones. */
export class OpenOperations {
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  /** @throws {ObjectStoreUnavailable} the store is closed. */
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

  /** @throws {ObjectStoreUnavailable} the store is closed. */
  assertOpen(): void {
    if (this.#closed) throw new ObjectStoreUnavailable('The archive store is closed.');
  }

  /** Resolves when all operations have ended, or after `timeoutMs` milliseconds. */
  async close(timeoutMs?: number): Promise<void> {
    this.#closed = true;
    const ended = Promise.allSettled(this.#running);
    await (timeoutMs === undefined ? ended : withTimeout(ended, timeoutMs));
  }
}
