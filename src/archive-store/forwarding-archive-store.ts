import type { Readable } from 'node:stream';
import type { ArchiveStore, ListedObject, LocalObject, Promised, StoredObject } from './archive-store.ts';

/** Hands everything on to another store: for those who add something to some of it. */
export abstract class ForwardingArchiveStore implements ArchiveStore {
  readonly #store: ArchiveStore;

  constructor(store: ArchiveStore) {
    this.#store = store;
  }

  put(source: AsyncIterable<Uint8Array>, promised?: Promised): Promise<StoredObject> {
    return this.#store.put(source, promised);
  }

  get(sha256: string): Promise<{ readonly length: number; readonly body: Readable }> {
    return this.#store.get(sha256);
  }

  stat(sha256: string): Promise<{ readonly length: number } | undefined> {
    return this.#store.stat(sha256);
  }

  checkOut(sha256: string): Promise<LocalObject> {
    return this.#store.checkOut(sha256);
  }

  list(): AsyncIterable<ListedObject> {
    return this.#store.list();
  }

  remove(sha256: string, options?: { readonly storedBefore?: Date }): Promise<void> {
    return this.#store.remove(sha256, options);
  }

  sweepIncoming(olderThan: Date, options?: { readonly dryRun?: boolean }): Promise<number> {
    return this.#store.sweepIncoming(olderThan, options);
  }

  id(): Promise<string | undefined> {
    return this.#store.id();
  }

  setId(id: string): Promise<void> {
    return this.#store.setId(id);
  }

  ready(): Promise<void> {
    return this.#store.ready();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#store[Symbol.asyncDispose]());
  }
}
