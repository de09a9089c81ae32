import { createHash } from 'node:crypto';
import type { LogAudit } from '../event-log/log-audit.ts';
import { random } from '../tools/random.ts';
import { aboutEvent } from './event-finding.ts';
import type { Watcher } from './history.ts';
import { KeySet } from './key-set.ts';
import type { Report } from './report.ts';

const KEY_BYTES = 8;

/**
 * Finds an id that a stream has twice. Remembers 8 bytes of each; where those come again the stream is read, so
 * that what they have in common by chance is no finding.
 */
export function eventIdWatcher(report: Report, log: Pick<LogAudit, 'stream'>): Watcher {
  const seen = new KeySet(KEY_BYTES);
  const secret = random.bytes(16); // nobody can make ids that meet in the set
  return {
    async see(event) {
      const key = createHash('sha256').update(secret).update(`${event.stream}/${event.id}`).digest();
      if (seen.add(key) || (await timesIn(log, event.stream, event.id)) < 2) return;
      report.find(aboutEvent(event, 'log', 'ID_REPEATED', `has the id ${event.id} of another of its stream`));
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
    return 2; // what cannot be looked at is no reason to say nothing
  }
}
