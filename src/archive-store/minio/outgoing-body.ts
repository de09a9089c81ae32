import type { HashingThreads } from '../hashing-threads.ts';
import type { IncomingFile } from '../incoming-file.ts';
import type { MinioBucket } from './bucket.ts';
import type { Leftovers } from './leftovers.ts';
import { Part } from './part.ts';
import { MultipartUpload } from './upload.ts';

/** S3 takes no part of less than 5 MiB but the last, and no more than 10,000 of them. */
const PART_BYTES = 8 * 1024 * 1024;

/** What one body is sent with. */
export type Sending = {
  readonly bucket: MinioBucket;
  readonly leftovers: Leftovers;
  readonly hashing: HashingThreads;
  readonly createFile: () => Promise<IncomingFile>;
  /** Where the body is until it is known to be what was promised. */
  readonly incomingKey: string;
};

/**
 * A body on its way to the store: while it is one part it waits here, longer ones are sent as they come.
 * Disposing leaves nothing of it, here or there, but what {@link place} has placed.
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
   * Gives the verified body its name; resolves when the store has it there. The name has the whole body or not:
   * a single request does, and so does a copy by the store from the key where the parts were put together.
   * Parts cannot go to the name itself, since it is known only after the last byte.
   * @returns the MD5 that the object's ETag has to be, where it has to be one.
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
    const { bucket, leftovers, incomingKey } = this.#sending;
    this.#upload ??= await MultipartUpload.begin(bucket, leftovers, incomingKey);
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
