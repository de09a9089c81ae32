import { createHash, hash } from 'node:crypto';
import { isSha256 } from '../../tools/cryptography/is-sha256.ts';

/** State of a tree, sufficient to append further leaves. */
export type MerkleTreeState = {
  readonly size: number;
  /** Roots of its full subtrees, the largest first, 64 hex digits each: one for each bit that is set in `size`. */
  readonly peaks: readonly string[];
};

/** Whether a stored value is the state of a tree with leaves. */
export function isTreeState(state: Partial<MerkleTreeState> | undefined): state is MerkleTreeState {
  const { size = 0, peaks } = state ?? {};
  if (!Number.isSafeInteger(size) || size < 1 || !Array.isArray(peaks)) return false;
  const fullSubtrees = size.toString(2).replaceAll('0', '').length;
  return peaks.length === fullSubtrees && peaks.every((peak) => isSha256(String(peak)));
}

/**
 * The Merkle tree of RFC 6962 over an append-only list: `SHA-256(0x00, leaf)`, `SHA-256(0x01, left, right)`. Holds a
 * few dozen hashes for any length of the list.
 */
export class MerkleTree {
  #size: number;
  readonly #peaks: Buffer[];

  constructor({ size, peaks }: MerkleTreeState = { size: 0, peaks: [] }) {
    this.#size = size;
    this.#peaks = peaks.map((peak) => Buffer.from(peak, 'hex'));
  }

  get size(): number {
    return this.#size;
  }

  get state(): MerkleTreeState {
    return { size: this.#size, peaks: this.#peaks.map((peak) => peak.toString('hex')) };
  }

  append(leaf: Uint8Array): void {
    let node = leafHash(leaf);
    // Like incrementing a binary number: each carry joins two full subtrees of the same size.
    for (let bits = this.#size; bits % 2 === 1; bits = Math.floor(bits / 2)) {
      node = digest(NODE, this.#peaks.pop() as Buffer, node);
    }
    this.#peaks.push(node);
    this.#size += 1;
  }

  /** Returns the root as 64 hex digits. */
  root(): string {
    const root = this.#peaks.reduceRight<Buffer | undefined>(
      (right, left) => (right === undefined ? left : digest(NODE, left, right)),
      undefined,
    );
    return root?.toString('hex') ?? hash('sha256', '');
  }
}

/** Returns the hash of a leaf in the tree. */
export function leafHash(leaf: Uint8Array): Buffer {
  return digest(LEAF, leaf);
}

const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

function digest(domain: Buffer, ...parts: readonly Uint8Array[]): Buffer {
  const sha256 = createHash('sha256').update(domain);
  for (const part of parts) sha256.update(part);
  return sha256.digest();
}
