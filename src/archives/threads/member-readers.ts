import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { MessageChannel } from 'node:worker_threads';
import type { MemberJob, MemberOrder, MemberReply } from './member-job.ts';
import { ReadingTurns, type ReadingTurnsOptions } from './reading-turns.ts';
import { WorkerPool } from './worker-pool.ts';

/** A manifest of a million paths takes 200: the thread that makes manifests has no room for more in its own heap. */
const HEAP_MEGABYTES = 256;

/** Reads members out of archives, in threads of its own: few at a time, however many ask. */
export class MemberReaders implements AsyncDisposable {
  readonly #pool: WorkerPool<MemberJob, MemberReply>;
  readonly #turns: ReadingTurns;

  constructor({ size = 4, waiting = 64, patience = 15_000 }: Partial<ReadingTurnsOptions> = {}) {
    this.#turns = new ReadingTurns({ size, waiting, patience });
    const resourceLimits = { maxOldGenerationSizeMb: HEAP_MEGABYTES, maxYoungGenerationSizeMb: 8 };
    // Nobody waits in there: whoever reads has entered, and reads one archive after the other.
    this.#pool = new WorkerPool(entry, { size, queueLength: size, worker: { resourceLimits } });
  }

  /**
   * To be held while `who` reads, from before the first reading until after the last.
   * @throws {ReadersBusy}
   */
  enter(who: string): Promise<Disposable> {
    return this.#turns.enter(who);
  }

  /**
   * What was ordered. The stream fails, before its last byte, when that is not what it was or takes longer than so
   * many milliseconds; destroying it ends the reading.
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

// The same extension as this file: the sources run as they are, but a published package holds JavaScript.
const entry = new URL(`./member-worker${extname(import.meta.filename)}`, import.meta.url);

function asError({ message, code }: { readonly message: string; readonly code: string }): Error {
  return Object.assign(new Error(message), { code });
}
