import { randomUUID } from 'node:crypto';
import { execute, load } from '../command-handler.ts';
import { parkings } from '../domain/aggregates.ts';
import { type ParkedEvent, waitingIn } from '../domain/parking/parking.ts';
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
    let parked: ParkedEvent | undefined;
    for await (const other of this.#log.readStream(event.stream)) {
      const fact = parkings.codec.read(other);
      if (fact.data.eventId !== eventId) continue;
      if (other.revision > event.revision) return undefined;
      if (fact.type === 'EventParked') parked = fact.data;
    }
    if (!parked) return undefined;
    const { stream, revision: from } = parked;
    for await (const original of this.#log.readStream(stream, { from, limit: 1 })) return original;
    return undefined;
  }

  async left(reactor: string): Promise<ReadonlySet<string>> {
    const left = new Set<string>();
    for await (const stored of this.#log.readStream(this.streamOf(reactor))) {
      const { type, data } = parkings.codec.read(stored);
      if (type === 'ParkedRetried') left.delete(data.eventId);
      else left.add(data.eventId);
    }
    return left;
  }
}

/** What waits for an operator. */
export async function parkedEvents(log: EventLog, reactor: string) {
  const { state } = await load(log, parkings, reactor);
  return waitingIn(state);
}
