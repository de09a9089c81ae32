import { UUID } from '../tools/random.ts';
import type { ExpectedRevision, NewEvent } from './event-log.ts';

/** An event as it is sent to the writer and stored in the log: JSON as text. */
export type NewEventRow = readonly [id: string, type: string, data: string, metadata: string];

/**
 * Serialises events at the moment of the call, so that later changes of the caller's objects have no effect.
 * @throws {TypeError} there is no event, or an id is not a lower-case UUID.
 */
export function toRows(events: readonly NewEvent[]): NewEventRow[] {
  if (events.length === 0) throw new TypeError('An append needs at least one event.');
  return events.map(({ id, type, data, metadata }) => {
    if (!UUID.test(id)) throw new TypeError(`Event id "${id}" is not a lower-case UUID.`);
    return [id, type, JSON.stringify(data), JSON.stringify(metadata)];
  });
}

/** Returns an expected revision as a number, -1 for a stream that must not exist. */
export function expectedNumber(expected: ExpectedRevision): number {
  if (expected === 'none') return -1;
  if (Number.isSafeInteger(expected) && expected >= 0) return expected;
  throw new TypeError(`Expected revision ${expected} is neither 'none' nor a revision.`);
}

export function toExpected(revision: number): ExpectedRevision {
  return revision < 0 ? 'none' : revision;
}
