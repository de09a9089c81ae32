import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** A batch between threads. Its members are JSON: the main thread passes a text on without decoding it. */
export type SentBatch = { readonly bytes: Uint8Array<ArrayBuffer>; readonly members: string };

/** A batch that any idle thread may read. */
export type Offer = { readonly id: number; readonly batch: SentBatch };

/** JSON of the members that were read; or the batch itself, because no thread was idle. */
export type Answer = { readonly id: number } & ({ readonly read: string } | { readonly batch: SentBatch });

/** The part of a job with which its thread offers batches to others. */
export type Assistance = {
  readonly port: MessagePort;
  /** Number of the other threads. */
  readonly threads: number;
};

/** Begins to read a batch; returns `undefined` if no thread is idle. */
type ReadIdly = (batch: SentBatch) => Promise<string> | undefined;

/** Has idle threads read the batches that the thread of an archive offers through a port. */
export class OfferedBatches implements Disposable {
  /** The port of the thread that offers. */
  readonly port: MessagePort;
  readonly #own: MessagePort;
  readonly #read: ReadIdly;
  readonly #offers: Offer[] = [];
  #reading = 0;
  #fault: unknown;

  constructor(read: ReadIdly) {
    const { port1, port2 } = new MessageChannel();
    [this.#own, this.port, this.#read] = [port1, port2, read];
    port1.on('message', (offer: Offer) => {
      this.#offers.push(offer);
      this.#begin();
    });
  }

  /** The error of a batch that could not be read, which ends the read of the archive. */
  get fault(): unknown {
    return this.#fault;
  }

  /** Must be called once the archive is no longer read. Batches that wait are dropped. */
  [Symbol.dispose](): void {
    this.#own.close();
    this.#offers.length = 0;
  }

  /** Begins what it can. Offers wait only for earlier ones: a thread that other jobs want is theirs next. */
  #begin(): void {
    for (let offer = this.#offers.shift(); offer; offer = this.#offers.shift()) {
      const reading = this.#read(offer.batch);
      if (reading === undefined && this.#reading > 0) return void this.#offers.unshift(offer);
      if (reading === undefined) this.#answer(offer);
      else void this.#answerRead(offer.id, reading);
    }
  }

  async #answerRead(id: number, reading: Promise<string>): Promise<void> {
    this.#reading += 1;
    try {
      this.#answer({ id, read: await reading });
    } catch (error) {
      // The thread has ended. So will the one that offered the batch, as if it had read the batch itself.
      this.#fault ??= error;
      this[Symbol.dispose]();
    }
    this.#reading -= 1;
    this.#begin();
  }

  #answer(answer: Answer): void {
    this.#own.postMessage(answer, 'batch' in answer ? [answer.batch.bytes.buffer] : []);
  }
}
