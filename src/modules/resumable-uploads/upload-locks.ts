import { clock } from '../../tools/clock.ts';
import { uploadBusy } from './uploads-unavailable.ts';

/** Milliseconds without a byte after which a sender yields to the next request. */
const STALLED_AFTER_MS = 2000;

/** Grants one request at a time the right to write to an upload, use it or remove it. */
export class UploadLocks {
  readonly #locks = new Map<string, UploadLock>();
  readonly #stalledAfter: number;

  constructor(stalledAfter = STALLED_AFTER_MS) {
    this.#stalledAfter = stalledAfter;
  }

  has(id: string): boolean {
    return this.#locks.has(id);
  }

  /**
   * Acquires the lock, at once or after interrupting its holder: a stalled one, or with `insists` any that can be
   * interrupted. `interrupt` lets a later request stop this holder.
   * @throws {SwordError} 423
   */
  async acquire(
    id: string,
    { interrupt, insists = false }: { readonly interrupt?: () => void; readonly insists?: boolean } = {},
  ): Promise<UploadLock> {
    for (let other = this.#locks.get(id); other; other = this.#locks.get(id)) {
      if (!other.yields(insists ? 0 : this.#stalledAfter))
        throw uploadBusy('Another request uses this upload: try again when it has ended.');
      other.interrupt();
      await other.released;
    }
    const lock = new UploadLock(interrupt, () => this.#locks.delete(id));
    this.#locks.set(id, lock);
    return lock;
  }

  /** Interrupts a stalled holder; resolves when it has released the lock, or at once without one. */
  async withoutStalled(id: string): Promise<void> {
    const holder = this.#locks.get(id);
    if (!holder?.yields(this.#stalledAfter)) return;
    holder.interrupt();
    await holder.released;
  }

  /** Interrupts every holder that can be interrupted. */
  interruptAll(): void {
    for (const holder of this.#locks.values()) holder.interrupt();
  }

  async allReleased(): Promise<void> {
    await Promise.all([...this.#locks.values()].map(({ released }) => released));
  }
}

/** Lock of an upload; disposed of when its change is complete. */
export class UploadLock implements Disposable {
  readonly released: Promise<void>;
  readonly #release: () => void;
  #interrupt: (() => void) | undefined;
  /** When the holder began to wait for its client; `undefined` while it waits for the disk. */
  #waitingSince: number | undefined;

  constructor(interrupt: (() => void) | undefined, onReleased: () => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.released = promise;
    this.#interrupt = interrupt;
    this.#release = () => {
      onReleased();
      resolve();
    };
  }

  /** Whether the holder can be interrupted, and has waited for its client for this number of milliseconds. */
  yields(stalledAfter: number): boolean {
    const waitedMs = this.#waitingSince === undefined ? 0 : clock.monotonic() - this.#waitingSince;
    return this.#interrupt !== undefined && waitedMs >= stalledAfter;
  }

  interrupt(): void {
    this.#interrupt?.();
  }

  /**
   * Passes the chunks on and measures the wait for each. The time of the disk does not count, so that a sender that
   * waits for it has not stalled. After the last chunk the holder can no longer be interrupted.
   */
  async *watched(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    this.#waitingSince = clock.monotonic();
    for await (const chunk of chunks) {
      this.#waitingSince = undefined;
      yield chunk;
      this.#waitingSince = clock.monotonic();
    }
    this.#interrupt = undefined;
  }

  [Symbol.dispose](): void {
    this.#release();
  }
}
