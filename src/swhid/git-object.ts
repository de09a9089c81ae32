import { createHash, type Hash, hash } from 'node:crypto';

/** Git's names of what SWHIDs call cnt, dir, rev, rel and snp. */
type GitObjectType = 'blob' | 'tree' | 'commit' | 'tag' | 'snapshot';

// A one-shot hash saves the set-up of a Hash object; above about this size, the copy that it needs costs more.
const ONE_SHOT_LENGTH = 1024 ** 2;
const HEADER_LENGTH = 32;

let scratch: Buffer | undefined;

/** Returns the SHA-1 of the object with this body, as 40 lower-case hex digits. */
export function gitObjectId(type: GitObjectType, body: Uint8Array): string {
  if (body.length > ONE_SHOT_LENGTH) return new GitObjectHash(type, body.length).update(body).digest();
  scratch ??= Buffer.allocUnsafeSlow(HEADER_LENGTH + ONE_SHOT_LENGTH);
  const start = scratch.write(headerOf(type, body.length), 'latin1');
  scratch.set(body, start);
  return hash('sha1', scratch.subarray(0, start + body.length), 'hex');
}

/**
 * Returns the id of a body that is not in memory, or `undefined` if the body has another length. `read` fills the
 * buffer that it gets, and writes fewer bytes only at the end of the body. A small body is hashed where it was written.
 */
export function gitObjectIdOf(
  type: GitObjectType,
  length: number,
  read: (room: Buffer) => number,
): string | undefined {
  scratch ??= Buffer.allocUnsafeSlow(HEADER_LENGTH + ONE_SHOT_LENGTH);
  if (length < ONE_SHOT_LENGTH) {
    const start = scratch.write(headerOf(type, length), 'latin1');
    // A buffer that is one byte longer shows whether the body is.
    if (read(scratch.subarray(start, start + length + 1)) !== length) return undefined;
    return hash('sha1', scratch.subarray(0, start + length), 'hex');
  }
  const whole = new GitObjectHash(type, length);
  for (let rest = length; ; ) {
    const count = read(scratch);
    rest -= count;
    if (rest < 0) return undefined;
    whole.update(scratch.subarray(0, count));
    if (count < scratch.length) return rest === 0 ? whole.digest() : undefined;
  }
}

/** Incremental hash of a body in chunks; its length must be known beforehand. */
export class GitObjectHash {
  readonly #hash: Hash;

  constructor(type: GitObjectType, length: number) {
    this.#hash = createHash('sha1').update(headerOf(type, length), 'latin1');
  }

  update(piece: Uint8Array): this {
    this.#hash.update(piece);
    return this;
  }

  digest(): string {
    return this.#hash.digest('hex');
  }
}

function headerOf(type: GitObjectType, length: number): string {
  return `${type} ${length}\0`;
}
