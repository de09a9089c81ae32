import { randomUUID } from 'node:crypto';
import { execute, load } from '../command-handler.ts';
import { parkings } from '../domain/aggregates.ts';
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
    for await (const earlier of this.#log.readStream(event.stream)) {
      const fact = parkings.codec.read(earlier);
      if (fact.type !== 'EventParked' || fact.data.eventId !== eventId) continue;
      const { stream, revision: from } = fact.data;
      for await (const original of this.#log.readStream(stream, { from, limit: 1 })) return original;
    }
    return undefined;
  }
}

/** What waits for an operator. */
export async function parkedEvents(log: EventLog, reactor: string) {
  const { state } = await load(log, parkings, reactor);
  return [...state.values()];
}
