import { hashOf } from '../../src/event-log/integrity/hash-chain.ts';
import type { EndedHistory } from '../history/ended-history.ts';
import { recorded } from '../history/recorded.ts';

/** Every event names the hash of the one before it in its stream, and its own. */
export function* unbrokenChains({ log }: EndedHistory): Generator<string> {
  for (const [stream, events] of log.streams) {
    let previous: unknown = null;
    for (const [revision, event] of events.entries()) {
      const { prevHash, hash } = event.metadata;
      if (prevHash !== previous)
        yield `${stream}@${revision} names another hash than that of the event before it`;
      if (hash !== hashOf(stream, revision, recorded(event))) yield `${stream}@${revision} has another hash`;
      previous = hash;
    }
  }
}
