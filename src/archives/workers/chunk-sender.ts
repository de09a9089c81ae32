import type { MessagePort } from 'node:worker_threads';
import { clock } from '../../tools/clock.ts';
import { codedError } from '../../tools/coded-error.ts';

const PIECE_LENGTH = 256 * 1024;
/** Number of calls between two turns of the event loop, in which messages of the other side are received. */
const CALLS_BETWEEN_TURNS = 16;

/**
 * Sends bytes through a port in large chunks, each only on request by a message. Only {@link finish} sends the last
 * chunk: a receiver that counts the bytes cannot mistake data that failed verification for complete.
 */
export class ChunkSender {
  readonly #port: MessagePort;
  readonly #full: Uint8Array[] = [];
  #piece = Buffer.allocUnsafeSlow(PIECE_LENGTH);
  #filled = 0;
  #asked = 0;
  #closed = false;
  #calls = 0;
  #wake: () => void = () => undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', () => {
      this.#asked += 1;
      this.#wake();
    });
    port.on('close', () => {
      this.#closed = true;
      this.#wake();
    });
  }

  /** Sends the number of bytes that will follow. */
  announce(length: number): void {
    this.#port.postMessage(length);
  }

  /** Copies the bytes into chunks. */
  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#filled === PIECE_LENGTH) this.#putAside();
      const part = bytes.subarray(at, at + PIECE_LENGTH - this.#filled);
      this.#piece.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
    }
  }

  /** Sends all full chunks. @throws {Error} the reader has closed the port before the end */
  async drained(): Promise<void> {
    this.#calls += 1;
    if (this.#calls % CALLS_BETWEEN_TURNS === 0) await clock.nextTurn();
    for (let piece = this.#full.shift(); piece; piece = this.#full.shift()) await this.#send(piece);
    if (this.#closed) throw aborted();
  }

  async finish(): Promise<void> {
    if (this.#filled > 0) this.#putAside();
    await this.drained();
    this.#port.postMessage(null);
  }

  #putAside(): void {
    this.#full.push(this.#filled === PIECE_LENGTH ? this.#piece : this.#piece.subarray(0, this.#filled));
    this.#piece = Buffer.allocUnsafeSlow(PIECE_LENGTH);
    this.#filled = 0;
  }

  async #send(piece: Uint8Array): Promise<void> {
    while (this.#asked === 0 && !this.#closed) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    if (this.#closed) throw aborted();
    this.#asked -= 1;
    this.#port.postMessage(piece, [piece.buffer as ArrayBuffer]);
  }
}

function aborted(): Error {
  return codedError('READING_ABANDONED', 'Nobody reads the rest.');
}
