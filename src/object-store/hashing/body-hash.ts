import { createHash, hash } from 'node:crypto';
import type { BodyDigests } from '../hashing-sessions.ts';
import { BATCH_BYTES, type HashingSession } from './hashing-threads.ts';

const BATCHES_IN_FLIGHT = 3;

/**
 * Computes the digests of one body: in this thread while it fits one batch, otherwise in a hashing thread. A
 * chunk must not change after it was passed on.
 */
export class BodyHash implements Disposable {
  readonly #md5: boolean;
  readonly #openSession: () => HashingSession;
  #session: HashingSession | undefined;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  readonly #inFlight: Promise<void>[] = [];

  constructor(md5: boolean, openSession: () => HashingSession) {
    this.#md5 = md5;
    this.#openSession = openSession;
  }

  /** Adds a chunk. Resolves when more may follow: only a few batches are in flight at a time. */
  async update(chunk: Uint8Array): Promise<void> {
    for (let taken = 0; taken < chunk.byteLength; ) {
      const part = chunk.subarray(taken, taken + BATCH_BYTES - this.#heldBytes);
      this.#held.push(part);
      this.#heldBytes += part.byteLength;
      taken += part.byteLength;
      if (this.#heldBytes === BATCH_BYTES) await this.#send();
    }
  }

  async digest(): Promise<BodyDigests> {
    if (this.#session === undefined) return this.#digestHere();
    await this.#send();
    await Promise.all(this.#inFlight);
    return this.#session.digest();
  }

  [Symbol.dispose](): void {
    this.#session?.[Symbol.dispose]();
  }

  #digestHere(): BodyDigests {
    const md5 = this.#md5 ? hashHere('md5', this.#held) : undefined;
    return { sha256: hashHere('sha256', this.#held), md5 };
  }

  async #send(): Promise<void> {
    if (this.#inFlight.length === BATCHES_IN_FLIGHT) await this.#inFlight.shift();
    this.#session ??= this.#openSession();
    const sent = this.#session.update(this.#held);
    sent.catch(() => {}); // reported where it is awaited, if it is
    this.#inFlight.push(sent);
    this.#held = [];
    this.#heldBytes = 0;
  }
}

function hashHere(algorithm: string, parts: readonly Uint8Array[]): string {
  const [only = new Uint8Array(), ...others] = parts;
  if (others.length === 0) return hash(algorithm, only); // twice as fast as with an object
  const hashed = createHash(algorithm);
  for (const part of parts) hashed.update(part);
  return hashed.digest('hex');
}
