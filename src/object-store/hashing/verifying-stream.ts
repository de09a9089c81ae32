import type { BodyDigests } from '../hashing-sessions.ts';
import { ContentMismatch, type ExpectedContent, type StoredObject } from '../object-store.ts';
import type { HashingThreads } from './hashing-threads.ts';

/** Counts, limits and hashes one body while it passes to storage. */
export class VerifyingStream {
  readonly #promised: ExpectedContent;
  readonly #hashing: HashingThreads;
  #length = 0;
  #stored: StoredObject | undefined;

  constructor(promised: ExpectedContent, hashing: HashingThreads) {
    this.#promised = promised;
    this.#hashing = hashing;
  }

  /**
   * Yields the same chunks; ends without an error only if the content is the expected one.
   * @throws {ContentMismatch} a length as soon as it is exceeded, all others at the end.
   */
  async *check(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    using hash = this.#hashing.begin({ md5: this.#promised.md5 !== undefined });
    for await (const chunk of source) {
      this.#count(chunk);
      await hash.update(chunk);
      yield chunk;
    }
    this.#stored = this.#compare(await hash.digest());
  }

  /** The verified object; only available once `check` has ended. */
  get stored(): StoredObject {
    if (this.#stored === undefined) throw new Error('The bytes are not verified yet.');
    return this.#stored;
  }

  #count(chunk: Uint8Array): void {
    this.#length += chunk.byteLength;
    const { maxLength = Infinity, length = Infinity } = this.#promised;
    if (this.#length > maxLength) throw tooLarge(maxLength, this.#length);
    if (this.#length > length) throw otherLength(length, `at least ${this.#length}`);
  }

  #compare({ sha256, md5 }: BodyDigests): StoredObject {
    const { md5: promisedMd5, sha256: promisedSha256, length = this.#length } = this.#promised;
    if (this.#length !== length) throw otherLength(length, `only ${this.#length}`);
    if (md5 !== promisedMd5) throw this.#otherDigest('MD5', promisedMd5, md5);
    if (sha256 !== (promisedSha256 ?? sha256)) throw this.#otherDigest('SHA-256', promisedSha256, sha256);
    return { sha256, length };
  }

  #otherDigest(algorithm: 'MD5' | 'SHA-256', promised?: string, found?: string): ContentMismatch {
    const code = algorithm === 'MD5' ? 'MD5_MISMATCH' : 'SHA256_MISMATCH';
    const received = `the ${this.#length} bytes received have ${found}`;
    return new ContentMismatch(code, `The ${algorithm} promised is ${promised}, but ${received}.`);
  }
}

function tooLarge(limit: number, received: number): ContentMismatch {
  return new ContentMismatch(
    'TOO_LARGE',
    `At most ${limit} bytes are accepted, but at least ${received} were sent.`,
  );
}

function otherLength(promised: number, received: string): ContentMismatch {
  return new ContentMismatch(
    'LENGTH_MISMATCH',
    `A length of ${promised} bytes was promised, but ${received} were received.`,
  );
}
