import { randomUUID } from 'node:crypto';
import { execute, load } from '../command-handler.ts';
import { parkings } from '../domain/aggregates.ts';
import { leftIn, type ParkedEvent, waitingIn } from '../domain/parking/parking.ts';
import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';
import { causedBy } from './causation.ts';
import type { Parking } from './reactor.ts';

/** Parked events are facts, too: they are kept in a stream of the log, one a reactor. */
export class LogParking implements Parking {
  readonly #log: EventLog;

  constructor(log: EventLog) {
    this.#log = log;
  }

  async park(reactor: string, event: RecordedEvent, error: unknown): Promise<void> {
    const { id: eventId, stream, revision } = event;
    const reason = error instanceof Error ? error.message : String(error);
    const command = { type: 'ParkEvent', reactor, eventId, stream, revision, reason } as const;
    // The same event may be parked again after a retry: each time is a command of its own.
    const context = { ...causedBy(event, reactor, 'park'), commandId: randomUUID() };
    await execute(this.#log, parkings, reactor, command, context);
  }

  streamOf(reactor: string): string {
    return `${parkings.prefix}${reactor}`;
  }

  async retried(event: RecordedEvent): Promise<RecordedEvent | undefined> {
    const stored = parkings.codec.read(event);
    if (stored.type !== 'ParkedRetried') return undefined;
    const { eventId } = stored.data;
    for await (const other of this.#log.readStream(event.stream, { backwards: true })) {
      const { type, data } = parkings.codec.read(other);
      if (data.eventId !== eventId) continue;
      if (other.revision > event.revision) return undefined;
      if (type === 'EventParked') return this.#eventAt(data);
    }
    return undefined;
  }

  async left(reactor: string): Promise<ReadonlySet<string>> {
    const { state } = await load(this.#log, parkings, reactor);
    return leftIn(state);
  }

  async #eventAt({ stream, revision: from }: ParkedEvent): Promise<RecordedEvent | undefined> {
    for await (const event of this.#log.readStream(stream, { from, limit: 1 })) return event;
    return undefined;
  }
}

/** What waits for an operator. */
export async function parkedEvents(log: EventLog, reactor: string) {
  const { state } = await load(log, parkings, reactor);
  return waitingIn(state);
}
