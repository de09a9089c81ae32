import { createHash, hash } from 'node:crypto';
import { contentHash, contentId } from '../../swhid/content.ts';
import { sniffInnerFormat, sniffLength } from '../format.ts';

export type Hashed = {
  readonly length: number;
  /** Content id, 40 hex digits. */
  readonly id: string;
  readonly sha256: string;
  /** Whether the bytes begin like an archive. */
  readonly archive: boolean;
};

/** Returns all facts that the service stores about a member's bytes. */
export function hashMember(bytes: Uint8Array): Hashed {
  return {
    length: bytes.length,
    id: contentId(bytes),
    sha256: hash('sha256', bytes, 'hex'),
    archive: sniffInnerFormat(bytes) !== undefined,
  };
}

/** Computes the same facts for a member that is read in chunks; its length must be known before. */
export class MemberHash {
  readonly #id;
  readonly #sha256 = createHash('sha256');
  readonly #head = Buffer.alloc(sniffLength);
  #length = 0;

  constructor(length: number) {
    this.#id = contentHash(length);
  }

  update(piece: Uint8Array): void {
    this.#id.update(piece);
    this.#sha256.update(piece);
    if (this.#length < sniffLength)
      this.#head.set(piece.subarray(0, sniffLength - this.#length), this.#length);
    this.#length += piece.length;
  }

  digest(): Hashed {
    return {
      length: this.#length,
      id: this.#id.digest(),
      sha256: this.#sha256.digest('hex'),
      archive: sniffInnerFormat(this.#head.subarray(0, this.#length)) !== undefined,
    };
  }
}
