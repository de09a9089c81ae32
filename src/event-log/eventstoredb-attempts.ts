import { randomUUID } from 'node:crypto';
import { type EventLog, type RecordedEvent, WrongExpectedRevision } from './event-log.ts';
import { chainHash, seal } from './hash-chain.ts';

export type AttemptedEvent = {
  readonly event: RecordedEvent;
  /** When the server recorded it. */
  readonly created: Date;
  /** As the server counts them: refusals and time-outs, but not the deaths of consumers. */
  readonly retryCount: number;
};

/**
 * Counts how often an event was handed out to a group, in a stream for each: `attempts-<group>-<event id>`. The
 * server does not: when a consumer dies it hands out again what that one held and its count stays as it was.
 *
 * It costs a durable append before handing out, and a stream that stays. Therefore an event that was recorded a
 * moment ago is taken to come for the first time and is not counted: in quiet times, when each event is handed out
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

  /** The number of this time, from 1, recorded before it resolves. @throws {EventLogUnavailable} */
  async next(group: string, { event, created, retryCount }: AttemptedEvent): Promise<number> {
    const age = Math.abs(Date.now() - created.getTime()); // a clock that is wrong only makes more be counted
    if (retryCount === 0 && age < this.#freshFor) return 1;
    const id = randomUUID();
    const stream = `attempts-${group}-${event.id}`;
    let tail: Tail = { revision: -1, hash: null };
    while (true) {
      try {
        return await this.#record(id, stream, tail, { group, eventId: event.id });
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        tail = await this.#tailOf(stream);
      }
    }
  }

  async #record(
    id: string,
    stream: string,
    { revision, hash }: Tail,
    data: { group: string; eventId: string },
  ) {
    const metadata = { schemaVersion: 1, occurredAt: new Date().toISOString(), $causationId: data.eventId };
    const handedOut = { id, type: 'EventHandedOut', data, metadata };
    const expected = revision < 0 ? 'none' : revision;
    const appended = await this.#log.append(stream, expected, seal(stream, revision + 1, hash, [handedOut]));
    return appended.revision + 1;
  }

  async #tailOf(stream: string): Promise<Tail> {
    for await (const last of this.#log.readStream(stream, { backwards: true, limit: 1 })) {
      return { revision: last.revision, hash: chainHash(last) };
    }
    return { revision: -1, hash: null };
  }
}

type Tail = { readonly revision: number; readonly hash: string | null };
