import { createHash } from 'node:crypto';
import type { LocalSource } from '../object-store/object-store.ts';
import { files } from '../tools/files.ts';
import type { ArchiveFormat } from './archive-reader.ts';
import { Unreadable } from './faults.ts';
import { SNIFF_LENGTH, sniffFormat } from './format.ts';

const PIECE_LENGTH = 256 * 1024;

/**
 * The bytes of an archive, read synchronously at any offset. Bytes that are read in order are hashed at the same time,
 * so that the SHA-256 of the archive costs no second reading.
 */
export class ArchiveBytes implements Disposable {
  readonly length: number;
  readonly #source: Uint8Array | number;
  readonly #hash = createHash('sha256');
  #hashed = 0;

  private constructor(source: Uint8Array | number, length: number) {
    this.#source = source;
    this.length = length;
  }

  /** @throws the error of the file system, when the file cannot be opened. */
  static open(source: LocalSource): ArchiveBytes {
    if (source.kind === 'bytes') return new ArchiveBytes(source.bytes, source.bytes.length);
    const file = files.openSync(source.path, 'r');
    return new ArchiveBytes(file, files.fstatSync(file).size);
  }

  /** Fills `target` with the bytes from `position` on. */
  read(target: Uint8Array, position: number): void {
    if (position + target.length > this.length) {
      throw new Unreadable(
        'TRUNCATED',
        `The archive is truncated: bytes up to ${position + target.length} are named, but it is ${this.length} bytes long.`,
      );
    }
    this.#copy(target, position);
    if (position > this.#hashed || position + target.length <= this.#hashed) return;
    this.#hash.update(target.subarray(this.#hashed - position));
    this.#hashed = position + target.length;
  }

  /**
   * Yields the bytes from `from` to `to` in chunks, all in one buffer: each chunk is valid until the next one is
   * requested.
   */
  *pieces(from = 0, to = this.length): Generator<Buffer<ArrayBuffer>> {
    const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_LENGTH, Math.max(to - from, 0)));
    for (let position = from; position < to; position += PIECE_LENGTH) {
      const piece = buffer.subarray(0, Math.min(PIECE_LENGTH, to - position));
      this.read(piece, position);
      yield piece;
    }
  }

  /** Returns the format of the archive, by its first bytes. */
  format(): ArchiveFormat | 'unknown' {
    const head = Buffer.alloc(Math.min(SNIFF_LENGTH, this.length));
    this.read(head, 0);
    return sniffFormat(head);
  }

  /** Returns the SHA-256 of all bytes, 64 hex digits; reads those that were not read yet. */
  digest(): string {
    for (const _ of this.pieces(this.#hashed));
    return this.#hash.digest('hex');
  }

  [Symbol.dispose](): void {
    if (typeof this.#source === 'number') files.closeSync(this.#source);
  }

  #copy(target: Uint8Array, position: number): void {
    if (typeof this.#source !== 'number') {
      target.set(this.#source.subarray(position, position + target.length));
      return;
    }
    for (let filled = 0; filled < target.length; ) {
      const count = files.readSync(this.#source, target, filled, target.length - filled, position + filled);
      if (count === 0) throw becameShorter(this.length);
      filled += count;
    }
  }
}

/** Returns an error with a system call, which distinguishes it from faults of the archive, like any failed read. */
function becameShorter(length: number): Error {
  const message = `The file of the archive became shorter than its ${length} bytes while it was read.`;
  return Object.assign(new Error(message), { code: 'EIO', syscall: 'read' });
}
