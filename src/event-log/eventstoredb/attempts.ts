import { clock } from '../../tools/clock.ts';
import { random } from '../../tools/random.ts';
import { DEATHS_OF_CHANCE } from '../deliveries.ts';
import { type EventLog, lastEvent, type RecordedEvent, WrongExpectedRevision } from '../event-log.ts';
import { chainHash, sealAfter } from '../hash-chain.ts';
import { uncaughtExceptions } from '../uncaught.ts';

export type AttemptedEvent = {
  readonly event: RecordedEvent;
  /** When the server recorded it. */
  readonly created: Date;
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
  readonly #uncaughtBefore = uncaughtExceptions();

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
    { event, created }: AttemptedEvent,
    { id, isAlone }: Attempt,
  ): Promise<number | undefined> {
    const age = Math.abs(clock.now() - created.getTime()); // a clock that is wrong only makes more be counted
    if (age < this.#freshFor) return 1; // the server's retryCount also rises with every lost connection
    const stream = streamOf(group, event);
    let last: RecordedEvent | undefined;
    while (true) {
      try {
        const count = countIn(last) + 1;
        await this.#record(stream, last, { id, type: 'EventHandedOut', group, eventId: event.id, count });
        return count;
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        last = await lastEvent(this.#log, stream);
        const count = countIn(last);
        if (last?.id === id) return count;
        if (count >= DEATHS_OF_CHANCE && !isAlone) return undefined;
      }
    }
  }

  /** Takes back an attempt that was recorded, unless the process stops for an exception that nobody caught. */
  async takeBack(group: string, { event }: Pick<AttemptedEvent, 'event'>, attempt: string): Promise<void> {
    if (uncaughtExceptions() !== this.#uncaughtBefore) return;
    const stream = streamOf(group, event);
    const last = await lastEvent(this.#log, stream);
    if (last?.id !== attempt) return;
    const [id, count] = [random.uuid(), countIn(last) - 1];
    await this.#record(stream, last, { id, type: 'EventHandedBack', group, eventId: event.id, count });
  }

  async #record(
    stream: string,
    last: RecordedEvent | undefined,
    { id, type, ...data }: Counted,
  ): Promise<void> {
    const metadata = { schemaVersion: 1, occurredAt: clock.date().toISOString(), $causationId: data.eventId };
    const expected = last?.revision ?? 'none';
    const sealed = sealAfter(stream, expected, chainHash(last), [{ id, type, data, metadata }]);
    await this.#log.append(stream, expected, sealed);
  }
}

type Counted = {
  readonly id: string;
  readonly type: 'EventHandedOut' | 'EventHandedBack';
  readonly group: string;
  readonly eventId: string;
  /** Attempts so far that were not taken back. */
  readonly count: number;
};

function streamOf(group: string, event: RecordedEvent): string {
  return `attempts-${group}-${event.id}`;
}

/** Earlier releases told no count, and took none back. */
function countIn(last: RecordedEvent | undefined): number {
  const count = last?.data['count'];
  return typeof count === 'number' ? count : (last?.revision ?? -1) + 1;
}
