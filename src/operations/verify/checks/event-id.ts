import { createHash } from 'node:crypto';
import type { LogAudit } from '../../../event-log/integrity/log-audit.ts';
import { DigestSet } from '../../../tools/digest-set.ts';
import { random } from '../../../tools/random.ts';
import type { LogCheck } from '../log-pass.ts';
import { eventFinding, type Report } from '../report.ts';

const KEY_BYTES = 8;

/**
 * Finds ids that occur twice in a stream. Remembers 8 bytes per id. If these repeat, the stream is read, so that a
 * collision is not a finding.
 */
export function eventIdCheck(report: Report, log: Pick<LogAudit, 'stream'>): LogCheck {
  const seen = new DigestSet(KEY_BYTES);
  const secret = random.bytes(16); // makes it impossible to construct ids that collide in the set
  return {
    async see(event) {
      const key = createHash('sha256').update(secret).update(`${event.stream}/${event.id}`).digest();
      if (seen.add(key) || (await timesIn(log, event.stream, event.id)) < 2) return;
      report.find(
        eventFinding(event, 'log', 'ID_REPEATED', `has the id ${event.id} of another of its stream`),
      );
    },
  };
}

async function timesIn(log: Pick<LogAudit, 'stream'>, stream: string, id: string): Promise<number> {
  let times = 0;
  try {
    for await (const record of log.stream(stream)) {
      if (record.kind === 'event' && record.event.id === id) times += 1;
    }
    return times;
  } catch {
    return 2; // a stream that cannot be read is reported rather than ignored
  }
}
