import type { BodyHash } from '../hashing/body-hash.ts';
import type { HashingThreads } from '../hashing/hashing-threads.ts';
import type { IncomingFolder } from '../incoming-folder.ts';
import { Spool } from '../spool.ts';
import type { MinioBucket } from './bucket.ts';
import type { IncomingKeys } from './incoming-keys.ts';
import { MultipartUpload } from './multipart-upload.ts';
import { type Sendable, sendable } from './sendable.ts';

/** Maximum size of a part, unless it is one large chunk: a body up to this size needs a single request. */
export const PART_BYTES = 32 * 1024 ** 2;
/** S3 accepts no smaller part, except for the last one. */
const MIN_PART_BYTES = 5 * 1024 ** 2;

/** The resources for sending one body. */
export type Sending = {
  readonly bucket: MinioBucket;
  readonly incoming: IncomingKeys;
  readonly hashing: HashingThreads;
  readonly folder: IncomingFolder;
  /** Key of the body until it is verified. */
  readonly incomingKey: string;
  readonly partBytes: number;
};

/**
 * A body in transit to the store: buffered locally up to one part; a longer one is sent while it arrives. Disposing
 * removes all of it, locally and in the store, except the object that {@link place} has placed.
 */
export class OutgoingBody implements AsyncDisposable {
  readonly #sending: Sending;
  readonly #hash: BodyHash;
  #part: Spool;
  /** The hash of the part; that of the first one is the hash of the body. */
  #partHash: BodyHash | undefined;
  #upload: MultipartUpload | undefined;

  /** @param hash that of the body, which the caller updates after each write; it must compute the MD5, too. */
  constructor(sending: Sending, hash: BodyHash) {
    this.#sending = sending;
    this.#hash = hash;
    this.#part = new Spool(() => sending.folder.create());
  }

  async write(chunk: Uint8Array): Promise<void> {
    const { length } = this.#part;
    const { partBytes } = this.#sending;
    const isFull = length + chunk.byteLength > partBytes;
    if (isFull && length >= Math.min(MIN_PART_BYTES, partBytes)) await this.#sendPart();
    await this.#part.write(chunk);
    await this.#partHash?.update(chunk);
  }

  /**
   * Moves the verified body to its name; resolves when the store has it there. The name gets the whole body or nothing:
   * by a single request, or by a copy within the store from the key of the upload in parts. Parts cannot be sent to the
   * name itself, since it is known only after the last byte.
   * @returns the MD5 that must be the ETag of the object, if the ETag is an MD5.
   */
  async place(key: string): Promise<{ readonly md5?: string }> {
    if (this.#upload === undefined) {
      const sealed = await this.#sealed();
      const { isMd5 } = await this.#sending.bucket.send(key, sealed);
      return isMd5 ? { md5: sealed.digests.md5 } : {};
    }
    await this.#sendPart();
    const length = await this.#upload.complete();
    await this.#sending.bucket.copy(this.#sending.incomingKey, key, length);
    return {};
  }

  /** The whole body, if it is small and so in memory. */
  get bytes(): Uint8Array | undefined {
    return this.#upload === undefined && this.#part.file === undefined ? this.#part.bytes() : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#partHash?.[Symbol.dispose]();
    await this.#part[Symbol.asyncDispose]();
    await this.#upload?.[Symbol.asyncDispose]();
  }

  async #sendPart(): Promise<void> {
    const { bucket, incoming, incomingKey, hashing, folder } = this.#sending;
    this.#upload ??= await MultipartUpload.begin(bucket, incoming, incomingKey);
    const part = this.#part;
    const sealed = await this.#sealed();
    this.#partHash?.[Symbol.dispose]();
    this.#partHash = hashing.begin({ md5: true });
    this.#part = new Spool(() => folder.create());
    await this.#upload.send(part, sealed);
  }

  async #sealed(): Promise<Sendable> {
    return sendable(this.#part, await (this.#partHash ?? this.#hash).digest());
  }
}
