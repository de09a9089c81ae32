import type { Readable } from 'node:stream';
import { files } from '../../tools/files.ts';
import type { BodyDigests } from '../hashing-sessions.ts';
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
  #length = 0;

  constructor(createFile: () => Promise<IncomingFile>) {
    this.#spool = new Spool(createFile);
  }

  get length(): number {
    return this.#length;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#length += chunk.byteLength;
    await this.#spool.write(chunk);
  }

  /** Returns the bytes if they are few, so that they are in memory. */
  get bytes(): Uint8Array | undefined {
    return this.#spool.file === undefined ? this.#spool.bytes() : undefined;
  }

  /** Resolves when the bytes can be read again; no more may be written then. */
  async seal({ sha256, md5 = '' }: BodyDigests): Promise<Sendable> {
    await this.#spool.file?.written();
    return { length: this.#length, digests: { sha256, md5 }, open: () => this.#open() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#spool[Symbol.asyncDispose]();
  }

  #open(): Readable | Buffer {
    const { file } = this.#spool;
    if (file !== undefined) return files.createReadStream(file.path, { highWaterMark: 256 * 1024 });
    const { buffer, byteOffset, byteLength } = this.#spool.bytes();
    return Buffer.from(buffer, byteOffset, byteLength);
  }
}
