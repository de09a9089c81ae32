import { clock } from '../tools/clock.ts';
import { random } from '../tools/random.ts';
import type { Appended, EventLog, NewEvent, RecordedEvent } from './event-log.ts';
import { chainHash, sealAfter } from './integrity/hash-chain.ts';

/** An event of the service itself. By default it gets a new id, and the version 1 of its schema. */
type OwnEvent = Pick<NewEvent, 'type' | 'data'> & Partial<Pick<NewEvent, 'id' | 'metadata'>>;

/**
 * Appends an event to a stream directly after `last`, its last event as it was read; `undefined` for an empty stream.
 * @throws {WrongExpectedRevision} the stream has another event there
 */
export async function appendAfter(
  log: Pick<EventLog, 'append'>,
  stream: string,
  last: RecordedEvent | undefined,
  { id = random.uuid(), type, data, metadata }: OwnEvent,
): Promise<Appended> {
  const expected = last?.revision ?? 'none';
  const own = { schemaVersion: 1, occurredAt: clock.date().toISOString(), ...metadata };
  const sealed = sealAfter(stream, expected, chainHash(last), [{ id, type, data, metadata: own }]);
  return await log.append(stream, expected, sealed);
}
