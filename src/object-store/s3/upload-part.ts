import type { Readable } from 'node:stream';
import { files } from '../../tools/files.ts';
import type { BodyHash } from '../hashing/body-hash.ts';
import type { IncomingFile } from '../incoming-file.ts';
import { Spool } from '../spool.ts';

/** Bytes that can be sent, and sent again. */
export type Sendable = {
  readonly length: number;
  /** Both in lower-case hex digits. */
  readonly digests: { readonly sha256: string; readonly md5: string };
  /** Opens the bytes from their beginning. */
  readonly open: () => Readable | Buffer;
};

/** The bytes of one request, collected while they arrive: in a local file unless they are few. */
export class Part implements AsyncDisposable {
  readonly #spool: Spool;
  readonly #hash: BodyHash;
  #length = 0;

  /** @param hash must compute the MD5, too. */
  constructor(createFile: () => Promise<IncomingFile>, hash: BodyHash) {
    this.#spool = new Spool(createFile);
    this.#hash = hash;
  }

  get length(): number {
    return this.#length;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#length += chunk.byteLength;
    await this.#hash.update(chunk);
    await this.#spool.write(chunk);
  }

  /** Resolves when the bytes can be read again; no more may be written then. */
  async seal(): Promise<Sendable> {
    const { sha256, md5 = '' } = await this.#hash.digest();
    const { file } = this.#spool;
    await file?.written();
    return { length: this.#length, digests: { sha256, md5 }, open: () => this.#open() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hash[Symbol.dispose]();
    await this.#spool[Symbol.asyncDispose]();
  }

  #open(): Readable | Buffer {
    const { file } = this.#spool;
    if (file !== undefined) return files.createReadStream(file.path, { highWaterMark: 256 * 1024 });
    const { buffer, byteOffset, byteLength } = this.#spool.bytes();
    return Buffer.from(buffer, byteOffset, byteLength);
  }
}
