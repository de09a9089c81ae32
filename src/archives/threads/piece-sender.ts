import type { MessagePort } from 'node:worker_threads';
import { clock } from '../../tools/clock.ts';

const pieceLength = 256 * 1024;
/** So many calls may go by without a look at what the other side says. */
const callsBetweenTurns = 16;

/** Nobody wants the bytes any more. */
export class ReadingAbandoned extends Error {
  override readonly name = 'ReadingAbandoned';
  readonly code = 'READING_ABANDONED';
}

/**
 * Sends bytes through a port in large pieces, each only when it is asked for by a message. The last piece is sent only
 * by {@link finish}: whoever counts what comes cannot take for whole what was found to be wrong at its end.
 */
export class PieceSender {
  readonly #port: MessagePort;
  readonly #full: Uint8Array[] = [];
  #piece = Buffer.allocUnsafeSlow(pieceLength);
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

  /** The bytes are copied. */
  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#filled === pieceLength) this.#putAside();
      const part = bytes.subarray(at, at + pieceLength - this.#filled);
      this.#piece.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
    }
  }

  /** @throws {ReadingAbandoned} */
  async drained(): Promise<void> {
    this.#calls += 1;
    if (this.#calls % callsBetweenTurns === 0) await clock.nextTurn();
    for (let piece = this.#full.shift(); piece; piece = this.#full.shift()) await this.#send(piece);
    if (this.#closed) throw new ReadingAbandoned('Nobody reads the rest.');
  }

  async finish(): Promise<void> {
    if (this.#filled > 0) this.#putAside();
    await this.drained();
    this.#port.postMessage(null);
  }

  #putAside(): void {
    this.#full.push(this.#filled === pieceLength ? this.#piece : this.#piece.subarray(0, this.#filled));
    this.#piece = Buffer.allocUnsafeSlow(pieceLength);
    this.#filled = 0;
  }

  async #send(piece: Uint8Array): Promise<void> {
    while (this.#asked === 0 && !this.#closed) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    if (this.#closed) throw new ReadingAbandoned('Nobody reads the rest.');
    this.#asked -= 1;
    this.#port.postMessage(piece, [piece.buffer as ArrayBuffer]);
  }
}
