import type { CopyableEvent } from './copyable-event.ts';
import { chainHash, hashOf } from './hash-chain.ts';
import type { StreamHeads } from './stream-heads.ts';

/** A fault of an event; `what` is a predicate, as in "… carries no hash". */
export type ChainFault = readonly [code: string, what: string];

/** Returns the faults of the next event of a stream, and makes that event the head of the stream. */
export function chainFaults(event: CopyableEvent, heads: StreamHeads): ChainFault[] {
  const { stream, revision, metadata } = event;
  const head = heads.get(stream);
  const expected = head === undefined ? 0 : head.revision + 1;
  const before = head === undefined ? null : head.hash;
  const carried = chainHash(event);
  heads.set(stream, { revision, hash: carried });
  const faults: ChainFault[] = [];
  if (revision !== expected) faults.push(['REVISION_WRONG', `is stored where revision ${expected} belongs`]);
  if (carried === null) return [...faults, ['NOT_SEALED', 'carries no hash']];
  if (carried !== hashOf(stream, revision, event)) {
    faults.push(['HASH_WRONG', 'does not carry the hash of its contents']);
  }
  const isKnown = revision === expected && before !== undefined;
  if (isKnown && metadata['prevHash'] !== before) {
    faults.push(['CHAIN_BROKEN', 'does not name the hash of the event before it in its stream']);
  }
  return faults;
}
