import { createHash } from 'node:crypto';
import { BrokenPromise, type Promised, type StoredObject } from './archive-store.ts';
import type { Sha256 } from './sha256.ts';

/** Counts, limits and hashes one body on its way to where it is kept. */
export class Verification {
  readonly #promised: Promised;
  readonly #sha256: Sha256;
  readonly #md5;
  #length = 0;
  #stored: StoredObject | undefined;

  constructor(promised: Promised, sha256: Sha256) {
    this.#promised = promised;
    this.#sha256 = sha256;
    this.#md5 = promised.md5 === undefined ? undefined : createHash('md5');
  }

  /**
   * The same chunks; ends without an error only when every promise was kept.
   * @throws {BrokenPromise} a length as soon as it is exceeded, everything else at the end.
   */
  async *check(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    using sha256 = this.#sha256;
    for await (const chunk of source) {
      this.#count(chunk);
      await sha256.update(chunk);
      this.#md5?.update(chunk);
      yield chunk;
    }
    this.#stored = this.#compare(await sha256.digest());
  }

  /** What was verified; only to be asked once `check` has ended. */
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

  #compare(sha256: string): StoredObject {
    const { md5, sha256: promisedSha256, length = this.#length } = this.#promised;
    if (this.#length !== length) throw otherLength(length, `only ${this.#length}`);
    const md5Found = this.#md5?.digest('hex');
    if (md5Found !== md5) throw this.#otherDigest('MD5', md5, md5Found);
    if (sha256 !== (promisedSha256 ?? sha256)) throw this.#otherDigest('SHA-256', promisedSha256, sha256);
    return { sha256, length };
  }

  #otherDigest(algorithm: 'MD5' | 'SHA-256', promised?: string, found?: string): BrokenPromise {
    const code = algorithm === 'MD5' ? 'MD5_MISMATCH' : 'SHA256_MISMATCH';
    const received = `the ${this.#length} bytes received have ${found}`;
    return new BrokenPromise(code, `The ${algorithm} promised is ${promised}, but ${received}.`);
  }
}

function tooLarge(limit: number, received: number): BrokenPromise {
  return new BrokenPromise(
    'TOO_LARGE',
    `At most ${limit} bytes are accepted, but at least ${received} were sent.`,
  );
}

function otherLength(promised: number, received: string): BrokenPromise {
  return new BrokenPromise(
    'LENGTH_MISMATCH',
    `A length of ${promised} bytes was promised, but ${received} were received.`,
  );
}
