import { canonicalJson } from './canonical-json.ts';
import { type Bytes, bytesOf, digest, joined } from './digests.ts';
import { carriedHash, type ProvenEvent } from './hash-chain.ts';

/** The place of one leaf in a Merkle tree (RFC 6962), with the hashes that lead from it to the root. */
export type Inclusion = {
  /** Number of the leaf, from 0. */
  readonly index: number;
  /** 64 hex digits each, from the leaf to the root. */
  readonly path: readonly string[];
};

const [LEAF, NODE] = [Uint8Array.of(0), Uint8Array.of(1)];

/** Maximum number of hashes that are computed at once. */
const BATCH = 4096;

/** Returns the hash of the leaf of an event. */
export function leafHash(event: ProvenEvent): Promise<Bytes> {
  const leaf = canonicalJson([event.stream, event.revision, carriedHash(event)]);
  return digest('SHA-256', joined(LEAF, bytesOf(leaf)));
}

/**
 * Computes the root over the hashes of all leaves, and the path of one of them. Level by level: the last hash of an odd
 * number is left as it is, which gives the tree of RFC 6962.
 * @param onHash receives the number of hashes that were computed
 */
export async function merkleTree(
  leaves: readonly Bytes[],
  index: number,
  onHash: (hashes: number) => void = () => undefined,
): Promise<Inclusion & { readonly root: string }> {
  const path: string[] = [];
  let [level, at] = [leaves, index];
  while (level.length > 1) {
    const sibling = level[at % 2 === 0 ? at + 1 : at - 1];
    if (sibling) path.push(sibling.toHex());
    level = await levelAbove(level, onHash);
    at = Math.floor(at / 2);
  }
  return { index, path, root: level[0]?.toHex() ?? '' };
}

async function levelAbove(
  level: readonly Bytes[],
  onHash: (hashes: number) => void,
): Promise<readonly Bytes[]> {
  const above: Bytes[] = [];
  for (let start = 0; start < level.length; start += 2 * BATCH) {
    const pairs = Math.min(BATCH, Math.ceil((level.length - start) / 2));
    const nodes = Array.from({ length: pairs }, async (_, pair) => {
      const [left, right] = [level[start + 2 * pair] as Bytes, level[start + 2 * pair + 1]];
      return right === undefined ? left : digest('SHA-256', joined(NODE, left, right));
    });
    above.push(...(await Promise.all(nodes)));
    onHash(pairs);
  }
  return above;
}

/** Returns the root to which the path leads in a tree of `size` leaves; `undefined` if the path does not fit it. */
export async function rootOfPath(
  leaf: Bytes,
  { index, path }: Inclusion,
  size: number,
): Promise<string | undefined> {
  if (index >= size) return undefined;
  const rest = [...path];
  let node = leaf;
  for (let [at, last] = [index, size - 1]; last > 0; [at, last] = [at, last].map(half) as [number, number]) {
    if (at === last && at % 2 === 0) continue; // without a sibling on this level
    const sibling = rest.shift();
    if (sibling === undefined) return undefined;
    const [left, right] =
      at % 2 === 0 ? [node, Uint8Array.fromHex(sibling)] : [Uint8Array.fromHex(sibling), node];
    node = await digest('SHA-256', joined(NODE, left, right));
  }
  return rest.length === 0 ? node.toHex() : undefined;
}

function half(number: number): number {
  return Math.floor(number / 2);
}
