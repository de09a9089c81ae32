import type { Readable } from 'node:stream';
import type {
  ExpectedContent,
  ListedObject,
  LocalObject,
  ObjectStore,
  StoredObject,
} from './object-store.ts';

/** Forwards all calls to another store: the base class of decorators. */
export abstract class ForwardingObjectStore implements ObjectStore {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  put(source: AsyncIterable<Uint8Array>, promised?: ExpectedContent): Promise<StoredObject> {
    return this.#store.put(source, promised);
  }

  get(sha256: string): Promise<{ readonly length: number; readonly body: Readable }> {
    return this.#store.get(sha256);
  }

  stat(sha256: string): Promise<{ readonly length: number } | undefined> {
    return this.#store.stat(sha256);
  }

  materialize(sha256: string): Promise<LocalObject> {
    return this.#store.materialize(sha256);
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
