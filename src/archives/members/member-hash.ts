import { createHash, type Hash, hash } from 'node:crypto';
import { contentHash, contentId } from '../../swhid/content.ts';
import { SNIFF_LENGTH, sniffInnerFormat } from '../format.ts';

export type Hashed = {
  readonly length: number;
  /** Content id, 40 hex digits. */
  readonly id: string;
  readonly sha256: string;
  /** Whether the bytes begin like an archive. */
  readonly isArchive: boolean;
};

/** Returns all facts that the service stores about a member's bytes. */
export function hashMember(bytes: Uint8Array): Hashed {
  return {
    length: bytes.length,
    id: contentId(bytes),
    sha256: hash('sha256', bytes, 'hex'),
    isArchive: sniffInnerFormat(bytes) !== undefined,
  };
}

/** Hashing all at once is faster up to this size. */
const LARGE_BYTES = 1024 ** 2;

/**
 * Computes the same facts for a member that is read in chunks; its length must be known before. Most members are one
 * chunk, which is hashed at once.
 */
export class MemberHash {
  readonly #size: number;
  #hashes:
    | { readonly id: ReturnType<typeof contentHash>; readonly sha256: Hash; readonly head: Buffer }
    | undefined;
  #whole: Hashed | undefined;
  #length = 0;

  constructor(size: number) {
    this.#size = size;
  }

  update(piece: Uint8Array): void {
    const at = this.#length;
    this.#length += piece.length;
    if (at === 0 && piece.length === this.#size && piece.length <= LARGE_BYTES && !this.#hashes) {
      this.#whole = hashMember(piece);
      return;
    }
    this.#hashes ??= {
      id: contentHash(this.#size),
      sha256: createHash('sha256'),
      head: Buffer.alloc(SNIFF_LENGTH),
    };
    this.#hashes.id.update(piece);
    this.#hashes.sha256.update(piece);
    if (at < SNIFF_LENGTH) this.#hashes.head.set(piece.subarray(0, SNIFF_LENGTH - at), at);
  }

  /** Returns the facts. If there were more bytes than the size, only their `length` is right. */
  digest(): Hashed {
    if (!this.#hashes) return this.#whole ?? hashMember(Buffer.alloc(0));
    const { id, sha256, head } = this.#hashes;
    return {
      length: this.#length,
      id: id.digest(),
      sha256: sha256.digest('hex'),
      isArchive: sniffInnerFormat(head.subarray(0, this.#length)) !== undefined,
    };
  }
}
