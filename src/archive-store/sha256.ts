import { createHash } from 'node:crypto';
import { BATCH_BYTES, type HashingSession } from './sha256-threads.ts';

const BATCHES_IN_FLIGHT = 3;

/**
 * SHA-256 of one body: here while it is small, in a hashing thread once it is more than one batch.
 * A chunk must not change after it was handed over.
 */
export class Sha256 implements Disposable {
  readonly #openSession: () => HashingSession;
  #session: HashingSession | undefined;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  readonly #inFlight: Promise<void>[] = [];

  constructor(openSession: () => HashingSession) {
    this.#openSession = openSession;
  }

  /** Resolves when more may come: no more than a few batches are ever on their way. */
  async update(chunk: Uint8Array): Promise<void> {
    for (let taken = 0; taken < chunk.byteLength; ) {
      const part = chunk.subarray(taken, taken + BATCH_BYTES - this.#heldBytes);
      this.#held.push(part);
      this.#heldBytes += part.byteLength;
      taken += part.byteLength;
      if (this.#heldBytes === BATCH_BYTES) await this.#send();
    }
  }

  async digest(): Promise<string> {
    if (this.#session === undefined) return hashHere(this.#held);
    await this.#send();
    await Promise.all(this.#inFlight);
    return this.#session.digest();
  }

  [Symbol.dispose](): void {
    this.#session?.[Symbol.dispose]();
  }

  async #send(): Promise<void> {
    if (this.#inFlight.length === BATCHES_IN_FLIGHT) await this.#inFlight.shift();
    this.#session ??= this.#openSession();
    const sent = this.#session.update(this.#held);
    sent.catch(() => {}); // reported where it is awaited, which may never come to pass
    this.#inFlight.push(sent);
    this.#held = [];
    this.#heldBytes = 0;
  }
}

function hashHere(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
