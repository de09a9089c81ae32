import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { MessageChannel } from 'node:worker_threads';
import { FairLimiter, type FairLimiterOptions } from './fair-limiter.ts';
import type { MemberJob, MemberOrder, MemberReply } from './member-job.ts';
import { WorkerPool } from './worker-pool.ts';

/**
 * A manifest of a million paths needs 200: the thread that creates manifests has no space for more in its own
 * heap.
 */
const HEAP_MEGABYTES = 256;

/** Reads members from archives in worker threads, with a limit on concurrent reads. */
export class MemberReaders implements AsyncDisposable {
  readonly #pool: WorkerPool<MemberJob, MemberReply>;
  readonly #turns: FairLimiter;

  constructor({ size = 4, waiting = 64, timeoutMs = 15_000 }: Partial<FairLimiterOptions> = {}) {
    this.#turns = new FairLimiter({ size, waiting, timeoutMs });
    const resourceLimits = { maxOldGenerationSizeMb: HEAP_MEGABYTES, maxYoungGenerationSizeMb: 8 };
    // Jobs never wait in the pool: each read holds a permit, and reads one archive after the other.
    this.#pool = new WorkerPool(entry, { size, queueLength: size, worker: { resourceLimits } });
  }

  /**
   * Acquires a permit for a client, to be held from before its first read until after its last.
   * @throws {ReadersBusy}
   */
  enter(who: string): Promise<Disposable> {
    return this.#turns.enter(who);
  }

  /**
   * Returns the requested bytes as a stream. It fails, before its last byte, if they have changed or the read
   * takes longer than `milliseconds`; destroying it aborts the read.
   */
  read(order: MemberOrder, milliseconds: number): Readable {
    const { port1: pieces, port2: port } = new MessageChannel();
    const readable = new Readable({
      read: () => pieces.postMessage(null),
      destroy: (error, done) => {
        pieces.close();
        done(error);
      },
    });
    pieces.on('message', (piece: Uint8Array | null) => readable.push(piece));
    this.#pool.run({ ...order, port }, milliseconds, { transfer: [port] }).then(
      (reply) => {
        if (reply.kind === 'failed') readable.destroy(asError(reply.error));
      },
      (error: Error) => readable.destroy(error),
    );
    return readable;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }
}

// The extension of this file: the sources run unchanged, but a published package has JavaScript.
const entry = new URL(`./member-worker${extname(import.meta.filename)}`, import.meta.url);

function asError({ message, code }: { readonly message: string; readonly code: string }): Error {
  return Object.assign(new Error(message), { code });
}
