import { clock } from '../tools/clock.ts';
import { random } from '../tools/random.ts';
import {
  type Appended,
  type EventLog,
  lastEvent,
  type NewEvent,
  type RecordedEvent,
  WrongExpectedRevision,
} from './event-log.ts';
import { chainHash, sealAfter } from './integrity/hash-chain.ts';
import { isBeyond, OutageRetries } from './outage-retries.ts';

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

/**
 * Makes the attempt again after others have appended to the stream, and after a pause if no read shows what they have
 * appended.
 * @throws the error of `overtaken`, after `maxLost` attempts that others were ahead of.
 */
export async function untilAppended<Result>(
  log: Pick<EventLog, 'readStream'>,
  stream: string,
  attempt: () => Promise<Result>,
  { maxLost, overtaken }: { readonly maxLost: number; readonly overtaken: () => Error },
): Promise<Result> {
  let retries: OutageRetries | undefined;
  for (let lost = 0; lost < maxLost; ) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
      const shown = await lastEvent(log, stream);
      retries ??= new OutageRetries();
      if (isBeyond(shown?.revision ?? 'none', error.expected)) lost += 1;
      else await retries.pauseUnexplained(stream);
    }
  }
  throw overtaken();
}
