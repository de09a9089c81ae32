import type { ArchiveBytes } from './archive-bytes.ts';

const MAX_WINDOW_LENGTH = 1024 ** 2;

/** Reads many small ranges of an archive that are close together with few system calls. */
export class ByteWindow {
  readonly #bytes: ArchiveBytes;
  #buffer: Buffer;
  #start = 0;
  #end = 0;

  constructor(bytes: ArchiveBytes) {
    this.#bytes = bytes;
    this.#buffer = Buffer.allocUnsafeSlow(Math.min(MAX_WINDOW_LENGTH, bytes.length));
  }

  /** Returns the bytes from `from` to `to`, valid until the next call. */
  take(from: number, to: number): Buffer {
    if (from < this.#start || to > this.#end) this.#fill(from, to);
    return this.#buffer.subarray(from - this.#start, to - this.#start);
  }

  #fill(from: number, to: number): void {
    if (to - from > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(to - from);
    this.#start = this.#end = from;
    // More than was requested, but never past the end, which `read` refuses.
    const end = Math.max(to, Math.min(from + this.#buffer.length, this.#bytes.length));
    this.#bytes.read(this.#buffer.subarray(0, end - from), from);
    this.#end = end;
  }
}
