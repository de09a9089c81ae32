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
  /** By the name of the stream; events before `next` were read. */
  readonly #known = new Map<string, { next: number; readonly events: Map<string, Decided> }>();

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
    const known = (await this.#decided(event.stream)).get(stored.data.eventId);
    if (!known?.parked || known.last > event.revision) return undefined;
    const { stream, revision: from } = known.parked;
    for await (const original of this.#log.readStream(stream, { from, limit: 1 })) return original;
    return undefined;
  }

  /** What was decided about each event of a stream of parked ones, of which only what is new is read. */
  async #decided(stream: string): Promise<ReadonlyMap<string, Decided>> {
    const known = this.#known.get(stream) ?? { next: 0, events: new Map<string, Decided>() };
    this.#known.set(stream, known);
    for await (const stored of this.#log.readStream(stream, { from: known.next })) {
      if (stored.revision < known.next) continue; // somebody else has read on meanwhile
      known.next = stored.revision + 1;
      const { type, data } = parkings.codec.read(stored);
      const parked =
        type === 'EventParked'
          ? { stream: data.stream, revision: data.revision }
          : known.events.get(data.eventId)?.parked;
      known.events.set(data.eventId, { last: stored.revision, parked });
    }
    return known.events;
  }

  async left(reactor: string): Promise<ReadonlySet<string>> {
    const { state } = await load(this.#log, parkings, reactor);
    return leftIn(state);
  }
}

/** Where an event lies, and at which revision it was last decided about. */
type Decided = {
  readonly last: number;
  readonly parked: Pick<ParkedEvent, 'stream' | 'revision'> | undefined;
};

/** What waits for an operator. */
export async function parkedEvents(log: EventLog, reactor: string) {
  const { state } = await load(log, parkings, reactor);
  return waitingIn(state);
}
