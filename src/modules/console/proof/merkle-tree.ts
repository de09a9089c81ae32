import { canonicalJson } from './canonical-json.ts';
import { type Bytes, bytesOf, digest, joined } from './digests.ts';
import type { Inclusion, ProvenEvent } from './evidence.ts';
import { carriedHash } from './hash-chain.ts';

const [LEAF, NODE] = [Uint8Array.of(0), Uint8Array.of(1)];

/** Maximum number of hashes that are computed at once. */
const BATCH = 4096;

/** Returns the hash of the leaf of an event. */
export function leafHash(event: ProvenEvent): Promise<Bytes> {
  const leaf = canonicalJson([event.stream, event.revision, carriedHash(event)]);
  return digest('SHA-256', joined(LEAF, bytesOf(leaf)));
}

/** Receives the number of hashes that were computed. */
export type OnHash = (hashes: number) => void;

/** Computes the root over the hashes of all leaves, and the path of one of them. */
export async function merkleTree(
  leaves: readonly Bytes[],
  index: number,
  onHash?: OnHash,
): Promise<Inclusion & { readonly root: string }> {
  const levels = await levelsOf(leaves, onHash);
  return { index, path: pathIn(levels, index), root: levels.at(-1)?.[0]?.toHex() ?? '' };
}

/**
 * The Merkle tree over a log that is read page by page. It stores one hash for each page, and the levels of the page that
 * was added last. Pages have as many leaves as a power of two, so their roots are nodes of the whole tree.
 */
export class LogTree {
  readonly pageLeaves: number;
  readonly #onHash: OnHash | undefined;
  readonly #roots: Bytes[] = [];
  #levels: Levels = [];

  constructor({
    pageLeaves = 4096,
    onHash,
  }: { readonly pageLeaves?: number; readonly onHash?: OnHash } = {}) {
    this.pageLeaves = pageLeaves;
    this.#onHash = onHash;
  }

  /** Adds a page. Only the last one has fewer leaves than `pageLeaves`. */
  async add(leaves: readonly Bytes[]): Promise<void> {
    this.#levels = await levelsOf(leaves, this.#onHash);
    this.#roots.push(this.#levels.at(-1)?.[0] as Bytes);
  }

  /** Returns the path of a leaf of the last page, by its index in the page, to the root of the page. */
  pathInPage(index: number): string[] {
    return pathIn(this.#levels, index);
  }

  /** Resolves to the path from the root of a page to the root of all that was added. */
  async pathOfPage(page: number): Promise<readonly string[]> {
    return (await merkleTree(this.#roots, page, this.#onHash)).path;
  }

  /** Resolves to the root over the first `size` leaves, the last of which is in the page that was added last. */
  async rootAt(size: number): Promise<string> {
    const before = this.#roots.slice(0, -1);
    const last = await rootOfFirst(this.#levels, size - before.length * this.pageLeaves);
    return (await merkleTree([...before, last], 0, this.#onHash)).root;
  }
}

/** The hashes of all levels, from the leaves to the root. */
type Levels = readonly (readonly Bytes[])[];

/** Computes level by level: the last hash of an odd number is left as it is, which gives the tree of RFC 6962. */
async function levelsOf(leaves: readonly Bytes[], onHash: OnHash = () => undefined): Promise<Levels> {
  const levels = [leaves];
  for (let level = leaves; level.length > 1; levels.push(level)) level = await levelAbove(level, onHash);
  return levels;
}

function pathIn(levels: Levels, index: number): string[] {
  return levels.flatMap((level, height) => {
    const at = Math.floor(index / 2 ** height);
    return level[at % 2 === 0 ? at + 1 : at - 1]?.toHex() ?? [];
  });
}

/** Resolves to the root over the first `size` leaves, from the nodes that cover no other leaf. */
async function rootOfFirst(levels: Levels, size: number): Promise<Bytes> {
  let root: Bytes | undefined;
  for (const [height, level] of levels.entries()) {
    const whole = Math.floor(size / 2 ** height);
    if (whole % 2 === 0) continue;
    const node = level[whole - 1] as Bytes;
    root = root === undefined ? node : await nodeHash(node, root);
  }
  return root as Bytes; // a size of at least 1 has a node
}

function nodeHash(left: Bytes, right: Bytes): Promise<Bytes> {
  return digest('SHA-256', joined(NODE, left, right));
}

async function levelAbove(level: readonly Bytes[], onHash: OnHash): Promise<readonly Bytes[]> {
  const above: Bytes[] = [];
  for (let start = 0; start < level.length; start += 2 * BATCH) {
    const pairs = Math.min(BATCH, Math.ceil((level.length - start) / 2));
    const nodes = Array.from({ length: pairs }, async (_, pair) => {
      const [left, right] = [level[start + 2 * pair] as Bytes, level[start + 2 * pair + 1]];
      return right === undefined ? left : nodeHash(left, right);
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
    node = await nodeHash(left, right);
  }
  return rest.length === 0 ? node.toHex() : undefined;
}

function half(number: number): number {
  return Math.floor(number / 2);
}
