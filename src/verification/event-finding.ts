import type { RecordedEvent } from '../event-log/event-log.ts';
import type { Finding } from './report.ts';

/** About one event: `what` goes on after its name, as in "… has another hash"; it may end as a sentence does. */
export function aboutEvent(
  { stream, revision, position, type }: RecordedEvent,
  check: Finding['check'],
  code: string,
  what: string,
): Finding {
  const text = `The ${type} at revision ${revision} of ${stream} (position ${position}) ${what.replace(/\.$/, '')}.`;
  return { check, code, text, stream, revision, position };
}
