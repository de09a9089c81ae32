import type { RecordedEvent } from '../event-log/event-log.ts';
import { canonicalJson, chainHash, hashOf } from '../event-log/hash-chain.ts';

/**
 * What an anchor's tree holds of an event: stream, revision and hash, which covers all the rest. Not its position,
 * which is another one when the log has moved to another engine.
 */
export function coveredEvent(event: RecordedEvent): Buffer {
  const { stream, revision } = event;
  return Buffer.from(canonicalJson([stream, revision, chainHash(event) ?? hashOf(stream, revision, event)]));
}
