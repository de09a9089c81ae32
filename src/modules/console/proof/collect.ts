import type { Bytes } from './digests.ts';
import type { CoveredEvent, Evidence, ProvenEvent, SignedAnchor } from './evidence.ts';
import { LogTree, leafHash } from './merkle-tree.ts';

/** The records of a service from which evidence is made. */
export type EvidenceSource = {
  readonly events: (stream: string) => Promise<readonly ProvenEvent[]>;
  /** Resolves to the newest anchors of the log, the oldest of them first. */
  readonly anchors: () => Promise<readonly SignedAnchor[]>;
  /** Yields the hashes of the leaves of all events, in the order of the log. */
  readonly leaves: () => AsyncIterable<readonly Bytes[]>;
  /**
   * Resolves to `null` if the deposit is not loaded, or its manifest is too large for a browser or not readable. Rejects if
   * the service did not answer.
   */
  readonly manifest: (deposit: number) => Promise<string | null>;
};

/** How far the tree over the log is. */
export type Progress = { readonly hashes: number; readonly events: number; readonly of: number };

type About = Pick<Evidence, 'deposit' | 'service' | 'savedAt'>;

/** Collects the evidence about a deposit. Recomputes the tree over all events that the newest anchor covers. */
export async function collectEvidence(
  source: EvidenceSource,
  about: About,
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<Evidence> {
  const [anchors, manifest] = await Promise.all([source.anchors(), source.manifest(about.deposit)]);
  const events = await source.events(`deposit-${about.deposit}`);
  const { covered, roots } = await readLog(events, anchors, source.leaves(), onProgress);
  const earlier = anchors.slice(0, -1).map((anchor) => ({ anchor, root: roots.get(anchor.events) ?? null }));
  return { evidence: 1, ...about, events, anchor: anchors.at(-1) ?? null, covered, earlier, manifest };
}

/** Resolves to the last event that the newest anchor covers, and to the roots of the log where anchors were made. */
async function readLog(
  events: readonly ProvenEvent[],
  anchors: readonly SignedAnchor[],
  leaves: AsyncIterable<readonly Bytes[]>,
  onProgress: (progress: Progress) => void,
): Promise<{ readonly covered: CoveredEvent | null; readonly roots: ReadonlyMap<number, string> }> {
  const own = await Promise.all(events.map(leafHash));
  const revisions = new Map(own.map((leaf, index) => [leaf.toHex(), events[index]?.revision ?? 0]));
  const of = anchors.at(-1)?.events ?? 0;
  let [hashes, read] = [0, 0];
  const tree = new LogTree({
    onHash: (computed) => onProgress({ hashes: (hashes += computed), events: read, of }),
  });
  const roots = new Map<number, string>();
  let covered: CoveredEvent | undefined;
  for await (const page of pagesOf(leaves, tree.pageLeaves, of)) {
    await tree.add(page);
    const at = page.findLastIndex((leaf) => revisions.has(leaf.toHex()));
    const revision = revisions.get(page[at]?.toHex() ?? '');
    if (revision !== undefined) covered = { revision, index: read + at, path: tree.pathInPage(at) };
    for (const size of anchors.map((anchor) => anchor.events))
      if (size > read && size <= read + page.length) roots.set(size, await tree.rootAt(size));
    read += page.length;
    onProgress({ hashes, events: read, of });
  }
  if (!covered) return { covered: null, roots };
  const upper = await tree.pathOfPage(Math.floor(covered.index / tree.pageLeaves));
  return { covered: { ...covered, path: [...covered.path, ...upper] }, roots };
}

/** Yields the first `count` leaves in pages of `size`; the last page may have fewer. */
async function* pagesOf(
  leaves: AsyncIterable<readonly Bytes[]>,
  size: number,
  count: number,
): AsyncGenerator<readonly Bytes[]> {
  let [page, missing]: [Bytes[], number] = [[], count];
  if (missing === 0) return;
  for await (const some of leaves) {
    for (const leaf of some.slice(0, missing)) {
      page.push(leaf);
      if (page.length < size) continue;
      yield page;
      page = [];
    }
    missing -= Math.min(missing, some.length);
    if (missing === 0) break;
  }
  if (page.length > 0) yield page;
}
