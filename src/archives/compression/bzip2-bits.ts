import { corrupt } from '../faults.ts';
import { isZero } from '../tar/tar-block.ts';

/** Reads bits, the highest of a byte first, from chunks of any length. */
export class BitReader {
  readonly #pieces: Iterator<Uint8Array>;
  #piece: Uint8Array = new Uint8Array();
  #at = 0;
  #bits = 0;
  #count = 0;

  constructor(pieces: Iterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.iterator]();
  }

  /** Reads the next 1 to 24 bits as a number. */
  read(count: number): number {
    this.#need(count);
    this.#count -= count;
    return (this.#bits >>> this.#count) & ((1 << count) - 1);
  }

  /**
   * Reads the next prefix code, where `limits[n]` is the largest code of n bits; returns its length and value. Looking
   * 20 bits ahead is safe: every block is followed by 80 bits of the stream's end.
   */
  readCode(limits: Int32Array, shortest: number, longest: number): { length: number; code: number } {
    this.#need(longest);
    for (let length = shortest; length <= longest; length += 1) {
      const code = (this.#bits >>> (this.#count - length)) & ((1 << length) - 1);
      if (code > limits[length]!) continue;
      this.#count -= length;
      return { length, code };
    }
    throw corrupt('CORRUPT', 'its bzip2 data is invalid');
  }

  skipToByte(): void {
    this.#count -= this.#count % 8;
  }

  /** Whether all bytes were read. Only valid at the start of a byte. */
  atEnd(): boolean {
    return this.#count === 0 && !this.#fill();
  }

  /**
   * Consumes zero bytes at the start of a byte, up to the end or a part with other bytes. Returns whether there was
   * one.
   */
  skipPadding(): boolean {
    let skipped = false;
    while (this.#count > 0) {
      if ((this.#bits >>> (this.#count - 8)) & 0xff) return skipped;
      this.#count -= 8;
      skipped = true;
    }
    while (this.#fill()) {
      const rest = this.#piece.subarray(this.#at);
      if (!isZero(rest)) return skipped || rest[0] === 0;
      this.#at = this.#piece.length;
      skipped = true;
    }
    return skipped;
  }

  #need(count: number): void {
    while (this.#count < count) {
      if (this.#at === this.#piece.length && !this.#fill())
        throw corrupt('TRUNCATED', 'its bzip2 data is truncated');
      this.#bits = (this.#bits << 8) | this.#piece[this.#at++]!;
      this.#count += 8;
    }
  }

  #fill(): boolean {
    while (this.#at === this.#piece.length) {
      const next = this.#pieces.next();
      if (next.done) return false;
      this.#piece = next.value;
      this.#at = 0;
    }
    return true;
  }
}
