import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { IncomingFile } from './incoming-file.ts';
import { Spool } from './spool.ts';

/** Bytes that are sent in one request: kept in a local file unless they are few, so that they can be sent again. */
export class Part implements AsyncDisposable {
  readonly #spool: Spool;
  readonly #md5 = createHash('md5');
  #length = 0;
  #digest = '';

  constructor(createFile: () => Promise<IncomingFile>) {
    this.#spool = new Spool(createFile);
  }

  get length(): number {
    return this.#length;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#length += chunk.byteLength;
    this.#md5.update(chunk);
    await this.#spool.write(chunk);
  }

  /** Resolves when the bytes can be read again; no more may be written then. */
  async seal(): Promise<void> {
    this.#digest = this.#md5.digest('hex');
    await this.#spool.file?.written();
  }

  /** 32 lower-case hex digits, once it is sealed. */
  get md5(): string {
    return this.#digest;
  }

  /** The bytes from their beginning, once it is sealed. */
  open(): Readable | Buffer {
    const { file } = this.#spool;
    if (file !== undefined) return createReadStream(file.path, { highWaterMark: 256 * 1024 });
    const { buffer, byteOffset, byteLength } = this.#spool.bytes();
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#spool[Symbol.asyncDispose]();
  }
}
