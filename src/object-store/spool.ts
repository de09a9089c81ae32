import { fill } from './chunks.ts';
import type { IncomingFile } from './incoming-file.ts';

/** Objects up to this many bytes are rows of a database, larger ones are files. */
const SMALL_BYTES = 64 * 1024;

/** Buffers a body until it is verified: in memory while it is small, else in a file. */
export class Spool implements AsyncDisposable {
  readonly #createFile: () => Promise<IncomingFile>;
  #head: Uint8Array[] = [];
  #length = 0;
  #file: IncomingFile | undefined;

  constructor(createFile: () => Promise<IncomingFile>) {
    this.#createFile = createFile;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#length += chunk.byteLength;
    if (this.#file !== undefined) return this.#file.write(chunk);
    this.#head.push(chunk);
    if (this.#length > SMALL_BYTES) await this.#overflow();
  }

  get length(): number {
    return this.#length;
  }

  /** The file, when the body is larger than {@link SMALL_BYTES}. */
  get file(): IncomingFile | undefined {
    return this.#file;
  }

  /** Returns a small body; not a copy if it arrived in one chunk. */
  bytes(): Uint8Array {
    const [only, ...others] = this.#head;
    if (only !== undefined && others.length === 0) return only;
    const bytes = new Uint8Array(this.#length);
    fill(bytes, this.#head);
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
