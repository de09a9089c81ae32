import type { RecordedEvent } from '../../event-log/event-log.ts';
import type { Finding } from './report.ts';

/**
 * Returns a finding about an event. `what` is a predicate, such as "has another hash"; a final full stop is removed.
 */
export function eventFinding(
  { stream, revision, position, type }: RecordedEvent,
  check: Finding['check'],
  code: string,
  what: string,
): Finding {
  const text = `The ${type} at revision ${revision} of ${stream} (position ${position}) ${what.replace(/\.$/, '')}.`;
  return { check, code, text, stream, revision, position };
}
