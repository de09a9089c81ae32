import { availableParallelism } from 'node:os';
import type { BodyDigests, HashingReply, HashingRequest } from '../hashing-sessions.ts';
import { WorkerClient } from '../worker-client.ts';
import { BodyHash } from './body-hash.ts';

const PROGRAM = new URL('./hashing-worker.ts', import.meta.url);

/** Bytes that are sent to a hashing thread at once. */
export const BATCH_BYTES = 256 * 1024;

/** Number of batches that a thread retains for reuse by all of its sessions. */
const SPARE_BATCHES = 8;

/** The threads that hash large bodies, each started on first use. */
export class HashingThreads implements AsyncDisposable {
  readonly #threads: HashingThread[];

  constructor(threads = Math.min(4, Math.max(1, availableParallelism() - 1))) {
    this.#threads = Array.from({ length: threads }, () => new HashingThread());
  }

  /**
   * Begins the SHA-256 of one body, and its MD5 if requested; must be ended by its `digest` or its disposal.
   */
  begin({ md5 = false }: { readonly md5?: boolean } = {}): BodyHash {
    return new BodyHash(md5, () => new HashingSession(this.#leastBusy(), md5));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map(({ calls }) => calls[Symbol.asyncDispose]()));
  }

  #leastBusy(): HashingThread {
    return this.#threads.reduce((least, thread) => (thread.sessions < least.sessions ? thread : least));
  }
}

/** One body in a hashing thread. */
export class HashingSession implements Disposable {
  readonly #thread: HashingThread;
  readonly #session: number;
  readonly #md5: boolean;
  #first = true;
  #ended = false;

  constructor(thread: HashingThread, md5: boolean) {
    this.#thread = thread;
    this.#md5 = md5;
    this.#session = ++thread.lastSession;
    thread.sessions += 1;
  }

  /** Copies the parts, at most {@link BATCH_BYTES} together; resolves when they are hashed. */
  async update(parts: readonly Uint8Array[]): Promise<void> {
    const { calls, spare } = this.#thread;
    const batch = spare.pop() ?? new ArrayBuffer(BATCH_BYTES);
    const length = fill(new Uint8Array(batch), parts);
    const request = { session: this.#session, md5: this.#md5, first: this.#first, batch, length };
    this.#first = false;
    const back = await calls.call({ kind: 'update', ...request }, [batch]);
    if (back instanceof ArrayBuffer && spare.length < SPARE_BATCHES) spare.push(back);
  }

  async digest(): Promise<BodyDigests> {
    this.#end();
    // A digest is always answered with digests.
    return (await this.#thread.calls.call({ kind: 'digest', session: this.#session })) as BodyDigests;
  }

  [Symbol.dispose](): void {
    if (this.#ended) return;
    this.#end();
    // A thread that has ended has dropped the session anyway.
    this.#thread.calls.call({ kind: 'abandon', session: this.#session }).catch(() => {});
  }

  #end(): void {
    this.#ended = true;
    this.#thread.sessions -= 1;
  }
}

class HashingThread {
  readonly calls = new WorkerClient<HashingRequest, HashingReply>(PROGRAM, 'hash');
  readonly spare: ArrayBuffer[] = [];
  sessions = 0;
  lastSession = 0;
}

function fill(batch: Uint8Array, parts: readonly Uint8Array[]): number {
  let length = 0;
  for (const part of parts) {
    batch.set(part, length);
    length += part.byteLength;
  }
  return length;
}
