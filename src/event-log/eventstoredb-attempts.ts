import { DEATHS_OF_CHANCE } from './deliveries.ts';
import { type EventLog, lastEvent, type RecordedEvent, WrongExpectedRevision } from './event-log.ts';
import { chainHash, sealAfter } from './hash-chain.ts';

export type AttemptedEvent = {
  readonly event: RecordedEvent;
  /** When the server recorded it. */
  readonly created: Date;
  /** As the server counts them: refusals and time-outs, but not the deaths of consumers. */
  readonly retryCount: number;
};

export type Attempt = { readonly id: string; readonly isAlone: boolean };

/**
 * Counts how often a consumer of a group began to work on an event, in a stream for each:
 * `attempts-<group>-<event id>`. The server counts neither that nor, when a consumer dies, that it hands out again what
 * that one held; and of what was held nearly all was only waiting.
 *
 * It costs a durable append before the work, and a stream that stays. Therefore an event that was recorded a
 * moment ago is taken to come for the first time and is not counted: in quiet times, when each event is begun
 * at once, nothing is written. One that kills its consumers is soon old enough.
 */
export class EventStoreDbAttempts {
  readonly #log: EventLog;
  readonly #freshFor: number;

  /** `freshFor`: how old an event may be and not be counted, in milliseconds. */
  constructor(log: EventLog, freshFor: number) {
    this.#log = log;
    this.#freshFor = freshFor;
  }

  /**
   * The number of this time, from 1, recorded before it resolves; `undefined`, and nothing is recorded, when the
   * attempt has to be alone and is not. Of the same id it is recorded once, so that it can be asked for again when it
   * is not known whether it was. @throws {EventLogUnavailable}
   */
  async next(
    group: string,
    { event, created, retryCount }: AttemptedEvent,
    { id, isAlone }: Attempt,
  ): Promise<number | undefined> {
    const age = Math.abs(Date.now() - created.getTime()); // a clock that is wrong only makes more be counted
    if (retryCount === 0 && age < this.#freshFor) return 1;
    const stream = `attempts-${group}-${event.id}`;
    let last: RecordedEvent | undefined;
    while (true) {
      try {
        return await this.#record(id, stream, last, { group, eventId: event.id });
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        last = await lastEvent(this.#log, stream);
        const count = last ? last.revision + 1 : 0;
        if (last?.id === id) return count;
        if (count >= DEATHS_OF_CHANCE && !isAlone) return undefined;
      }
    }
  }

  async #record(
    id: string,
    stream: string,
    last: RecordedEvent | undefined,
    data: { group: string; eventId: string },
  ) {
    const metadata = { schemaVersion: 1, occurredAt: new Date().toISOString(), $causationId: data.eventId };
    const handedOut = { id, type: 'EventHandedOut', data, metadata };
    const expected = last?.revision ?? 'none';
    const sealed = sealAfter(stream, expected, chainHash(last), [handedOut]);
    const appended = await this.#log.append(stream, expected, sealed);
    return appended.revision + 1;
  }
}
