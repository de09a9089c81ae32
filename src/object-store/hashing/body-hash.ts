import { createHash, hash } from 'node:crypto';
import type { WorkerClient } from '../../tools/concurrency/worker-client.ts';
import { fill } from '../chunks.ts';
import type { BodyDigests, HashingReply, HashingRequest } from './hashing-sessions.ts';

/** Bytes that are sent to a hashing thread at once. */
const BATCH_BYTES = 256 * 1024;
const BATCHES_IN_FLIGHT = 3;
/** Number of batches that a thread retains for reuse by all of its sessions. */
const SPARE_BATCHES = 8;

/** A thread, with buffers that its sessions reuse. */
export type HashingThread = {
  readonly calls: WorkerClient<HashingRequest, HashingReply>;
  readonly spare: ArrayBuffer[];
  sessions: number;
  lastSession: number;
};

/**
 * Computes the digests of one body: in this thread while it fits one batch, otherwise in a hashing thread. A chunk must
 * not change after it was passed on.
 */
export class BodyHash implements Disposable {
  readonly #md5: boolean;
  readonly #chooseThread: () => HashingThread;
  /** The session in a hashing thread, until it ends. */
  #session: { readonly thread: HashingThread; readonly id: number } | undefined;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #digests: Promise<BodyDigests> | undefined;
  readonly #inFlight: Promise<void>[] = [];

  constructor(md5: boolean, chooseThread: () => HashingThread) {
    this.#md5 = md5;
    this.#chooseThread = chooseThread;
  }

  /** Adds a chunk. Resolves when more may follow: only a few batches are in flight at a time. */
  async update(chunk: Uint8Array): Promise<void> {
    this.#digests = undefined;
    for (let taken = 0; taken < chunk.byteLength; ) {
      const part = chunk.subarray(taken, taken + BATCH_BYTES - this.#heldBytes);
      this.#held.push(part);
      this.#heldBytes += part.byteLength;
      taken += part.byteLength;
      if (this.#heldBytes === BATCH_BYTES) await this.#send();
    }
  }

  /** Resolves to the digests of the bytes so far; more may follow. */
  digest(): Promise<BodyDigests> {
    return (this.#digests ??= this.#digest());
  }

  [Symbol.dispose](): void {
    const session = this.#session;
    if (session === undefined) return;
    this.#session = undefined;
    session.thread.sessions -= 1;
    // A thread that has ended has dropped the session anyway.
    session.thread.calls.call({ kind: 'end', session: session.id }).catch(() => {});
  }

  async #digest(): Promise<BodyDigests> {
    if (this.#session === undefined) return digestsOf(this.#held, this.#md5);
    const { thread, id: session } = this.#session;
    await this.#send();
    await Promise.all(this.#inFlight);
    return (await thread.calls.call({ kind: 'digest', session })) as BodyDigests; // as for this kind of request
  }

  async #send(): Promise<void> {
    if (this.#inFlight.length === BATCHES_IN_FLIGHT) await this.#inFlight.shift();
    const sent = this.#update(this.#held);
    sent.catch(() => {}); // reported where it is awaited, if it is
    this.#inFlight.push(sent);
    this.#held = [];
    this.#heldBytes = 0;
  }

  /** Copies the parts, at most one batch; resolves when they are hashed. */
  async #update(parts: readonly Uint8Array[]): Promise<void> {
    const first = this.#session === undefined;
    const { thread, id: session } = (this.#session ??= begin(this.#chooseThread()));
    const batch = thread.spare.pop() ?? new ArrayBuffer(BATCH_BYTES);
    const length = fill(new Uint8Array(batch), parts);
    const request: HashingRequest = { kind: 'update', session, md5: this.#md5, first, batch, length };
    const back = await thread.calls.call(request, [batch]);
    if (back instanceof ArrayBuffer && thread.spare.length < SPARE_BATCHES) thread.spare.push(back);
  }
}

function begin(thread: HashingThread): { thread: HashingThread; id: number } {
  thread.sessions += 1;
  thread.lastSession += 1;
  return { thread, id: thread.lastSession };
}

function digestsOf(parts: readonly Uint8Array[], md5: boolean): BodyDigests {
  return { sha256: digestOf('sha256', parts), md5: md5 ? digestOf('md5', parts) : undefined };
}

function digestOf(algorithm: string, parts: readonly Uint8Array[]): string {
  const [only = new Uint8Array(), ...others] = parts;
  if (others.length === 0) return hash(algorithm, only); // twice as fast as with an object
  const hashed = createHash(algorithm);
  for (const part of parts) hashed.update(part);
  return hashed.digest('hex');
}
