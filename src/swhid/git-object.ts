import { createHash, type Hash, hash } from 'node:crypto';

/** Git's names of what SWHIDs call cnt, dir, rev, rel and snp. */
export type GitObjectType = 'blob' | 'tree' | 'commit' | 'tag' | 'snapshot';

// A one-shot hash saves the set-up of a Hash object; the copy it needs stops paying at about this size.
const oneShotLength = 1024 ** 2;
const headerLength = 32;

let scratch: Buffer | undefined;

/** SHA-1 of the object with this body, as 40 lower-case hex digits. */
export function gitObjectId(type: GitObjectType, body: Uint8Array): string {
  if (body.length > oneShotLength) return new GitObjectHash(type, body.length).update(body).digest();
  scratch ??= Buffer.allocUnsafeSlow(headerLength + oneShotLength);
  const start = scratch.write(headerOf(type, body.length), 'latin1');
  scratch.set(body, start);
  return hash('sha1', scratch.subarray(0, start + body.length), 'hex');
}

/** The same for a body that comes in pieces; its length has to be known before. */
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
