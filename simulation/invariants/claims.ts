import { notifications } from '../../src/domain/aggregates.ts';
import { MAX_PAUSE_MS } from '../../src/modules/webhooks/circuit-breaker.ts';
import { nameOf, type StoredEvent } from '../cluster/stored-event.ts';
import type { EndedHistory } from '../history/ended-history.ts';

/** Events after which nothing is tried before a time that they name. */
const WAITS = new Set(['DeliveryTried', 'DeliveryFailed']);

/** A node that sends what is held has the deposit for itself: by its own clock, no earlier try is under way or pauses. */
export function* exclusiveClaims({ log }: EndedHistory): Generator<string> {
  for (const [stream, events] of log.streams) {
    if (!stream.startsWith(notifications.prefix)) continue;
    let before: StoredEvent | undefined;
    for (const event of events) {
      if (event.type === 'DeliveryTried' && before && isWaitedFor(before, timeOf(event)))
        yield `${nameOf(event)} began at ${String(event.metadata['occurredAt'])}, but ${before.type} ${nameOf(before)} waits until ${String(before.data['nextTryAt'])}`;
      if (WAITS.has(event.type)) before = event;
      else if (event.type !== 'NotificationHeld') before = undefined;
    }
  }
}

/** A time that is further away than any pause is that of another clock: it does not count. */
function isWaitedFor({ data }: StoredEvent, now: number): boolean {
  const until = Date.parse(String(data['nextTryAt']));
  return until > now && until <= now + MAX_PAUSE_MS;
}

function timeOf({ metadata }: StoredEvent): number {
  return Date.parse(String(metadata['occurredAt']));
}
