import { availableParallelism } from 'node:os';
import { Sha256 } from './sha256.ts';
import type { Sha256Reply, Sha256Request } from './sha256-worker.ts';
import { WorkerCalls } from './worker-calls.ts';

const PROGRAM = new URL('./sha256-worker.ts', import.meta.url);

/** Bytes that travel to a hashing thread at once. */
export const BATCH_BYTES = 256 * 1024;

/** Batches that a thread keeps to be filled again, for all of its sessions. */
const SPARE_BATCHES = 8;

/** The threads that hash large bodies, each started when it is first needed. */
export class Sha256Threads implements AsyncDisposable {
  readonly #threads: HashingThread[];

  constructor(threads = Math.min(4, Math.max(1, availableParallelism() - 1))) {
    this.#threads = Array.from({ length: threads }, () => new HashingThread());
  }

  /** A hash for one body, to be ended by its `digest` or its disposal. */
  begin(): Sha256 {
    return new Sha256(() => new HashingSession(this.#leastBusy()));
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
  #first = true;
  #ended = false;

  constructor(thread: HashingThread) {
    this.#thread = thread;
    this.#session = ++thread.lastSession;
    thread.sessions += 1;
  }

  /** Copies the parts, at most {@link BATCH_BYTES} together; resolves when they are hashed. */
  async update(parts: readonly Uint8Array[]): Promise<void> {
    const { calls, spare } = this.#thread;
    const batch = spare.pop() ?? new ArrayBuffer(BATCH_BYTES);
    const length = fill(new Uint8Array(batch), parts);
    const first = this.#first;
    this.#first = false;
    const back = await calls.call({ kind: 'update', session: this.#session, first, batch, length }, [batch]);
    if (back instanceof ArrayBuffer && spare.length < SPARE_BATCHES) spare.push(back);
  }

  async digest(): Promise<string> {
    this.#end();
    // A string, as the worker answers a digest.
    return (await this.#thread.calls.call({ kind: 'digest', session: this.#session })) as string;
  }

  [Symbol.dispose](): void {
    if (this.#ended) return;
    this.#end();
    // A thread that is gone has forgotten the session by itself.
    this.#thread.calls.call({ kind: 'abandon', session: this.#session }).catch(() => {});
  }

  #end(): void {
    this.#ended = true;
    this.#thread.sessions -= 1;
  }
}

class HashingThread {
  readonly calls = new WorkerCalls<Sha256Request, Sha256Reply>(PROGRAM, 'hash');
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
