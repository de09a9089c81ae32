import type { SignedAnchor } from './anchor.ts';
import type { Bytes } from './digests.ts';
import type { CoveredEvent, Evidence } from './evidence.ts';
import type { ProvenEvent } from './hash-chain.ts';
import { leafHash, merkleTree } from './merkle-tree.ts';

/** The records of a service from which evidence is made. */
export type EvidenceSource = {
  readonly events: (stream: string) => Promise<readonly ProvenEvent[]>;
  readonly newestAnchor: () => Promise<SignedAnchor | null>;
  /** Resolves to the hashes of the leaves of the first `count` events, in the order of the log. */
  readonly leaves: (count: number) => Promise<readonly Bytes[]>;
  /** Resolves to `null` if the deposit is not loaded, or its manifest is too large for a browser. */
  readonly manifest: (deposit: number) => Promise<string | null>;
};

type About = Pick<Evidence, 'deposit' | 'service' | 'savedAt'>;

/** Collects the evidence about a deposit. Recomputes the tree over all events that the newest anchor covers. */
export async function collectEvidence(
  source: EvidenceSource,
  about: About,
  onHash?: (hashes: number) => void,
): Promise<Evidence> {
  const [anchor, manifest] = await Promise.all([source.newestAnchor(), source.manifest(about.deposit)]);
  const events = await source.events(`deposit-${about.deposit}`);
  const leaves = anchor === null ? [] : await source.leaves(anchor.events);
  const covered = await coveredEvent(events, leaves, onHash);
  return { evidence: 1, ...about, events, anchor, covered, manifest };
}

async function coveredEvent(
  events: readonly ProvenEvent[],
  leaves: readonly Bytes[],
  onHash?: (hashes: number) => void,
): Promise<CoveredEvent | null> {
  const indexes = new Map(leaves.map((leaf, index) => [leaf.toHex(), index]));
  for (const event of events.toReversed()) {
    const index = indexes.get((await leafHash(event)).toHex());
    if (index === undefined) continue;
    const { path } = await merkleTree(leaves, index, onHash);
    return { revision: event.revision, index, path };
  }
  return null;
}
