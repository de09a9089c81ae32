import type { IncomingFile } from './incoming-file.ts';

/** Objects up to this many bytes are rows of a database, larger ones are files. */
const SMALL_BYTES = 64 * 1024;

/** Buffers a body until it is verified: in memory while it is small, else in a file. */
export class Spool implements AsyncDisposable {
  readonly #createFile: () => Promise<IncomingFile>;
  #head: Uint8Array[] = [];
  #headBytes = 0;
  #file: IncomingFile | undefined;

  constructor(createFile: () => Promise<IncomingFile>) {
    this.#createFile = createFile;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#file !== undefined) return this.#file.write(chunk);
    this.#head.push(chunk);
    this.#headBytes += chunk.byteLength;
    if (this.#headBytes > SMALL_BYTES) await this.#overflow();
  }

  /** The file, when the body is larger than {@link SMALL_BYTES}. */
  get file(): IncomingFile | undefined {
    return this.#file;
  }

  /** Returns a small body; not a copy if it arrived in one chunk. */
  bytes(): Uint8Array {
    const [only, ...others] = this.#head;
    if (only !== undefined && others.length === 0) return only;
    const bytes = new Uint8Array(this.#headBytes);
    let written = 0;
    for (const chunk of this.#head) {
      bytes.set(chunk, written);
      written += chunk.byteLength;
    }
    return bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.[Symbol.asyncDispose]();
  }

  async #overflow(): Promise<void> {
    const file = await this.#createFile();
    this.#file = file;
    for (const chunk of this.#head) await file.write(chunk);
    this.#head = [];
  }
}
