import { clock } from '../../tools/clock.ts';
import { backoffDelay } from '../../tools/concurrency/backoff.ts';
import type { MinioBucket } from './bucket.ts';
import { abortUpload, removeIncoming } from './incoming-keys.ts';

/** Pauses in milliseconds between attempts to remove keys. */
const PAUSES = { firstPause: 1000, longestPause: 60_000 };

/** Removes keys below `incoming/` that are no longer needed, and retries until it succeeds. */
export class Leftovers implements Disposable {
  readonly #bucket: MinioBucket;
  readonly #keys = new Set<string>();
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(bucket: MinioBucket) {
    this.#bucket = bucket;
  }

  /**
   * Never rejects. @param upload the only upload to this key that can exist, if known; without an id there is
   * no upload.
   */
  async remove(key: string, upload?: { readonly id: string | undefined }): Promise<void> {
    try {
      if (upload === undefined) return await removeIncoming(this.#bucket, key);
      if (upload.id !== undefined) await abortUpload(this.#bucket, key, upload.id);
      await this.#bucket.remove(key);
    } catch {
      this.#keys.add(key);
      this.#schedule();
    }
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    clock.clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#closed || this.#timer !== undefined) return;
    this.#failures += 1;
    this.#timer = clock.setTimeout(() => void this.#retry(), backoffDelay(this.#failures, PAUSES)).unref();
  }

  async #retry(): Promise<void> {
    try {
      for (const key of this.#keys) {
        await removeIncoming(this.#bucket, key);
        this.#keys.delete(key);
      }
      this.#failures = 0;
    } catch {
      // The store is still unavailable; the remaining keys wait for the next attempt.
    }
    this.#timer = undefined;
    if (this.#keys.size > 0) this.#schedule();
  }
}
