import type { RecordedEvent } from '../../event-log/event-log.ts';
import { canonicalJson, chainHash, hashOf } from '../../event-log/integrity/hash-chain.ts';

/**
 * Returns the leaf of an event in an anchor's tree: stream, revision and hash, which covers the rest. The position is
 * excluded, since it changes when the log moves to another engine.
 */
export function coveredEvent(event: RecordedEvent): Buffer {
  const { stream, revision } = event;
  return Buffer.from(canonicalJson([stream, revision, chainHash(event) ?? hashOf(stream, revision, event)]));
}
