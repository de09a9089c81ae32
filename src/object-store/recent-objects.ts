import { LruCache } from '../tools/lru-cache.ts';

/**
 * Small objects that this process has just stored, each until it is read once: a check or load on the same node needs no
 * request for it. Later reads prove that the store has the object.
 */
export class RecentObjects {
  readonly #objects: LruCache<Uint8Array>;

  /** @param most maximum number of bytes */
  constructor(most: number) {
    this.#objects = new LruCache(most, ({ byteLength }) => byteLength);
  }

  /** Stores a copy, since the bytes may be part of a larger buffer. */
  add(sha256: string, bytes: Uint8Array): void {
    this.#objects.set(sha256, bytes.slice());
  }

  take(sha256: string): Uint8Array | undefined {
    const bytes = this.#objects.get(sha256);
    this.#objects.delete(sha256);
    return bytes;
  }
}
