import { clock } from '../../../tools/clock.ts';
import { random } from '../../../tools/random.ts';
import { appendAfter } from '../../append-after.ts';
import { CRASHES_BEFORE_ISOLATION } from '../../consumer-groups/deliveries.ts';
import { uncaughtExceptionCount } from '../../consumer-groups/uncaught-exception-count.ts';
import { type EventLog, lastEvent, type RecordedEvent, WrongExpectedRevision } from '../../event-log.ts';
import { OutageRetries } from '../../outage-retries.ts';

type Attempt = { readonly id: string; readonly isAlone: boolean };

/**
 * Counts how often a receiver started to process an event, in one stream per event: `attempts-<group>-<event id>`. Here
 * `group` is the receiver, as stored: in older releases each was a group. The server does not count starts. When a
 * consumer crashes, it does not count either that it delivers all unacknowledged events again, nearly all of which were
 * only queued.
 *
 * Each count costs a durable append before the work, and a stream that stays. So only events on which work may have
 * begun before are counted.
 */
export class EventStoreDbAttempts {
  readonly #log: EventLog;
  readonly #uncaughtBefore = uncaughtExceptionCount();

  constructor(log: EventLog) {
    this.#log = log;
  }

  /**
   * Resolves to the number of this attempt, from 1, after recording it. Resolves to `undefined`, without recording it,
   * when the attempt must be exclusive and is not. An id is recorded once, so that the call can be repeated when its
   * outcome is unknown. @throws {EventLogUnavailable}
   */
  async next(group: string, event: RecordedEvent, { id, isAlone }: Attempt): Promise<number | undefined> {
    const stream = streamOf(group, event);
    const retries = new OutageRetries();
    let last: RecordedEvent | undefined;
    while (true) {
      try {
        const count = countIn(last) + 1;
        await this.#record(stream, last, { id, type: 'EventHandedOut', group, eventId: event.id, count });
        return count;
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        const before = last;
        for await (const later of this.#log.readStream(stream, { from: (last?.revision ?? -1) + 1 })) {
          if (later.id === id) return countIn(later);
          last = later;
        }
        if (last === before) await retries.pauseUnexplained(stream);
        if (countIn(last) >= CRASHES_BEFORE_ISOLATION && !isAlone) return undefined;
      }
    }
  }

  /** Removes a recorded attempt from the count, unless the process stops because of an uncaught exception. */
  async takeBack(group: string, event: RecordedEvent, attempt: string): Promise<void> {
    if (uncaughtExceptionCount() !== this.#uncaughtBefore) return;
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
    await appendAfter(this.#log, stream, last, { id, type, data, metadata });
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

/** Returns the count of the last event. Earlier releases stored no count, and never removed one. */
function countIn(last: RecordedEvent | undefined): number {
  const count = last?.data['count'];
  return typeof count === 'number' ? count : (last?.revision ?? -1) + 1;
}
