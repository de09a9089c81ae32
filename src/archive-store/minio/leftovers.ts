import { pauseAfter } from '../../growing-pause.ts';
import { clock } from '../../tools/clock.ts';
import type { MinioBucket } from './bucket.ts';
import { abortUpload, removeIncoming } from './incoming-keys.ts';

/** Milliseconds until keys that could not be removed are tried again. */
const PAUSES = { firstPause: 1000, longestPause: 60_000 };

/** Keys below `incoming/` that are no longer needed: what cannot be removed now is tried again until it is. */
export class Leftovers implements Disposable {
  readonly #bucket: MinioBucket;
  readonly #keys = new Set<string>();
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(bucket: MinioBucket) {
    this.#bucket = bucket;
  }

  /** Never rejects. `upload`: the only one to this key that may be there, if that is known; without an id none is. */
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
    this.#timer = clock.setTimeout(() => void this.#retry(), pauseAfter(this.#failures, PAUSES)).unref();
  }

  async #retry(): Promise<void> {
    try {
      for (const key of this.#keys) {
        await removeIncoming(this.#bucket, key);
        this.#keys.delete(key);
      }
      this.#failures = 0;
    } catch {
      // The store is still away; the keys that are left wait for the next try.
    }
    this.#timer = undefined;
    if (this.#keys.size > 0) this.#schedule();
  }
}
