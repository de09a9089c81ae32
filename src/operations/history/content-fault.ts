import type { RecordedEvent } from '../../event-log/event-log.ts';
import { chainHash, hashOf, isNestedTooDeeply } from '../../event-log/integrity/hash-chain.ts';

/** Returns why the event by itself cannot be the one that was appended; `undefined` if its contents fit its hash. */
export function contentFault(event: RecordedEvent): string | undefined {
  const carried = chainHash(event);
  if (carried === null) return 'it carries no hash';
  if (isTooDeep(event)) return 'its contents nest deeper than those of any event';
  if (carried !== hashOf(event.stream, event.revision, event)) return 'its contents do not fit its hash';
  return undefined;
}

/** Whether the contents nest so deeply that they can be neither searched nor printed; the service writes no such event. */
export function isTooDeep({ data, metadata }: RecordedEvent): boolean {
  return [data, metadata].some((part) => isNestedTooDeeply(part));
}
