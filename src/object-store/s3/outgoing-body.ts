import type { HashingThreads } from '../hashing/hashing-threads.ts';
import type { IncomingFile } from '../incoming-file.ts';
import type { MinioBucket } from './bucket.ts';
import type { IncomingKeys } from './incoming-keys.ts';
import { MultipartUpload } from './multipart-upload.ts';
import { Part } from './upload-part.ts';

/** Size of a part. S3 accepts no part of less than 5 MiB but the last, and at most 10,000 parts. */
const PART_BYTES = 8 * 1024 * 1024;

/** The resources for sending one body. */
export type Sending = {
  readonly bucket: MinioBucket;
  readonly incoming: IncomingKeys;
  readonly hashing: HashingThreads;
  readonly createFile: () => Promise<IncomingFile>;
  /** Key of the body until it is verified. */
  readonly incomingKey: string;
};

/**
 * A body in transit to the store: buffered locally up to one part; a longer one is sent while it arrives.
 * Disposing removes all of it, locally and in the store, except the object that {@link place} has placed.
 */
export class OutgoingBody implements AsyncDisposable {
  readonly #sending: Sending;
  #part: Part;
  #upload: MultipartUpload | undefined;

  constructor(sending: Sending) {
    this.#sending = sending;
    this.#part = this.#newPart();
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let taken = 0; taken < chunk.byteLength; ) {
      if (this.#part.length === PART_BYTES) await this.#sendPart();
      const rest = chunk.subarray(taken, taken + PART_BYTES - this.#part.length);
      await this.#part.write(rest);
      taken += rest.byteLength;
    }
  }

  /**
   * Moves the verified body to its name; resolves when the store has it there. The name gets the whole body
   * or nothing: by a single request, or by a copy within the store from the key of the upload in parts. Parts
   * cannot be sent to the name itself, since it is known only after the last byte.
   * @returns the MD5 that must be the ETag of the object, if the ETag is an MD5.
   */
  async place(key: string): Promise<{ readonly md5?: string }> {
    if (this.#upload === undefined) {
      const sealed = await this.#part.seal();
      const { isMd5 } = await this.#sending.bucket.send(key, sealed);
      return isMd5 ? { md5: sealed.digests.md5 } : {};
    }
    await this.#sendPart();
    const length = await this.#upload.complete();
    await this.#sending.bucket.copy(this.#sending.incomingKey, key, length);
    return {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#part[Symbol.asyncDispose]();
    await this.#upload?.[Symbol.asyncDispose]();
  }

  async #sendPart(): Promise<void> {
    const { bucket, incoming, incomingKey } = this.#sending;
    this.#upload ??= await MultipartUpload.begin(bucket, incoming, incomingKey);
    const part = this.#part;
    const sealed = await part.seal();
    this.#part = this.#newPart();
    await this.#upload.send(part, sealed);
  }

  #newPart(): Part {
    const { createFile, hashing } = this.#sending;
    return new Part(createFile, hashing.begin({ md5: true }));
  }
}
