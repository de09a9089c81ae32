import type { Readable } from 'node:stream';
import type {
  ArchiveStore,
  ListedObject,
  LocalObject,
  Promised,
  StoredObject,
} from '../archive-store/archive-store.ts';
import { inSpan } from './span.ts';

/** What goes into the store and comes out of it is a span each. */
export class TracedArchiveStore implements ArchiveStore {
  readonly #store: ArchiveStore;

  constructor(store: ArchiveStore) {
    this.#store = store;
  }

  /** As long as the bytes take to come. */
  put(source: AsyncIterable<Uint8Array>, promised?: Promised): Promise<StoredObject> {
    return inSpan('archive store put', {}, async (span) => {
      const stored = await this.#store.put(source, promised);
      span.setAttributes({ 'deposit.object': stored.sha256, 'deposit.bytes': stored.length });
      return stored;
    });
  }

  get(sha256: string): Promise<{ readonly length: number; readonly body: Readable }> {
    return this.#ofObject('get', sha256, () => this.#store.get(sha256));
  }

  stat(sha256: string): Promise<{ readonly length: number } | undefined> {
    return this.#ofObject('stat', sha256, () => this.#store.stat(sha256));
  }

  checkOut(sha256: string): Promise<LocalObject> {
    return this.#ofObject('check_out', sha256, () => this.#store.checkOut(sha256));
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

  ready(): Promise<void> {
    return this.#store.ready();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#store[Symbol.asyncDispose]());
  }

  #ofObject<Result>(operation: string, sha256: string, work: () => Promise<Result>): Promise<Result> {
    return inSpan(`archive store ${operation}`, { attributes: { 'deposit.object': sha256 } }, work);
  }
}
