import type { Appended, EventLog, NewEvent, RecordedEvent } from './event-log.ts';
import { chainHash, sealAfter } from './integrity/hash-chain.ts';

/**
 * Appends an event to a stream directly after `last`, its last event as it was read; `undefined` for an empty stream.
 * @throws {WrongExpectedRevision} the stream has another event there
 */
export async function appendAfter(
  log: Pick<EventLog, 'append'>,
  stream: string,
  last: RecordedEvent | undefined,
  event: NewEvent,
): Promise<Appended> {
  const expected = last?.revision ?? 'none';
  return await log.append(stream, expected, sealAfter(stream, expected, chainHash(last), [event]));
}
