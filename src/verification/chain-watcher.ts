import { chainFaults } from '../event-log/chain-faults.ts';
import { StreamHeads } from '../event-log/stream-heads.ts';
import { aboutEvent } from './event-finding.ts';
import type { Watcher } from './history.ts';
import type { Report } from './report.ts';

/**
 * Recomputes the hash chain of every stream: revisions without a gap, each event sealed with the hash of its
 * contents and with that of the one before it. Goes on after a fault with what the event says of itself.
 */
export function chainWatcher(report: Report, heads = new StreamHeads()): Watcher {
  return {
    see(event) {
      for (const [code, what] of chainFaults(event, heads)) report.find(aboutEvent(event, 'log', code, what));
    },
    miss({ stream, revision }) {
      if (stream !== undefined && revision !== undefined) heads.set(stream, { revision, hash: undefined });
    },
    end() {
      report.counts.streams += heads.size;
    },
  };
}
