import { chainFaults } from '../../../event-log/integrity/chain-errors.ts';
import { StreamHeads } from '../../../event-log/integrity/stream-heads.ts';
import type { LogCheck } from '../log-pass.ts';
import { eventFinding, type Report } from '../report.ts';

/**
 * Recomputes the hash chain of every stream: revisions without a gap, each event sealed with the hash of its contents
 * and of its predecessor. After a finding, continues with the hash that the event states.
 */
export function chainCheck(report: Report, heads = new StreamHeads()): LogCheck {
  return {
    see(event) {
      for (const [code, what] of chainFaults(event, heads))
        report.find(eventFinding(event, 'log', code, what));
    },
    miss({ stream, revision }) {
      if (stream !== undefined && revision !== undefined) heads.set(stream, { revision, hash: undefined });
    },
    end() {
      report.counts.streams += heads.size;
    },
  };
}
