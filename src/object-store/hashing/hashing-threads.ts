import { availableParallelism } from 'node:os';
import { storeThread } from '../store-errors.ts';
import { BodyHash, type HashingThread } from './body-hash.ts';

const PROGRAM = new URL('./hashing-worker.ts', import.meta.url);

/** The threads that hash large bodies, each started on first use. */
export class HashingThreads implements AsyncDisposable {
  readonly #threads: readonly HashingThread[];

  constructor(threads = Math.min(4, Math.max(1, availableParallelism() - 1))) {
    this.#threads = Array.from({ length: threads }, () => ({
      calls: storeThread('hashing', PROGRAM, 'hash'),
      spare: [],
      sessions: 0,
      lastSession: 0,
    }));
  }

  /** Begins the SHA-256 of one body, and its MD5 if requested; must be ended by its `digest` or its disposal. */
  begin({ md5 = false }: { readonly md5?: boolean } = {}): BodyHash {
    return new BodyHash(md5, () => this.#leastBusy());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map(({ calls }) => calls[Symbol.asyncDispose]()));
  }

  #leastBusy(): HashingThread {
    return this.#threads.reduce((least, thread) => (thread.sessions < least.sessions ? thread : least));
  }
}
