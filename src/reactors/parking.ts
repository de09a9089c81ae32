import { ObjectError } from '../archive-store/archive-store.ts';
import { type CommandContext, execute, load } from '../command-handler.ts';
import { parkings } from '../domain/aggregates.ts';
import { Decisions } from '../domain/parking/decisions.ts';
import { decisionsIn, type ParkedEvent, ParkingRefusal } from '../domain/parking/parking.ts';
import { type EventLog, type RecordedEvent, staleRead } from '../event-log/event-log.ts';
import { random } from '../tools/random.ts';
import { causedBy } from './causation.ts';
import type { Parking } from './reactor.ts';

/** Parked events are facts, too: they are kept in a stream of the log, one a reactor. */
export class LogParking implements Parking {
  readonly #log: EventLog;
  /** By the name of the stream, as far as it was read. */
  readonly #known = new Map<string, Decisions>();

  constructor(log: EventLog) {
    this.#log = log;
  }

  async park(reactor: string, event: RecordedEvent, error: unknown): Promise<void> {
    const { id: eventId, stream, revision } = event;
    const reason = error instanceof Error ? error.message : String(error);
    const object = error instanceof ObjectError ? { object: error.sha256 } : {};
    const command = { type: 'ParkEvent', reactor, eventId, stream, revision, reason, ...object } as const;
    // The same event may be parked again after a retry: each time is a command of its own.
    const context = { ...causedBy(event, reactor, 'park'), commandId: random.uuid() };
    await execute(this.#log, parkings, reactor, command, context);
  }

  streamOf(reactor: string): string {
    return `${parkings.prefix}${reactor}`;
  }

  async retried(event: RecordedEvent): Promise<RecordedEvent | undefined> {
    const stored = parkings.codec.read(event);
    if (stored.type !== 'ParkedRetried') return undefined;
    const decisions = await this.#decided(event.stream);
    if (decisions.count <= event.revision) throw staleRead(event.stream, decisions.count - 1, event.revision);
    const parked = decisions.retried(stored.data.eventId, event.revision);
    if (!parked) return undefined;
    for await (const original of this.#log.readStream(parked.stream, { from: parked.revision, limit: 1 }))
      return original;
    throw staleRead(parked.stream, 'none', parked.revision);
  }

  async left(reactor: string): Promise<ReadonlySet<string>> {
    return (await this.#decided(this.streamOf(reactor))).left;
  }

  async waiting(reactor: string): Promise<readonly ParkedEvent[]> {
    return (await this.#decided(this.streamOf(reactor))).waiting;
  }

  async retry({ reactor, eventId }: ParkedEvent, context: CommandContext): Promise<void> {
    try {
      await execute(this.#log, parkings, reactor, { type: 'RetryParked', reactor, eventId }, context);
    } catch (error) {
      if (!(error instanceof ParkingRefusal)) throw error; // else another node or an operator was faster
    }
  }

  /** What was decided in a stream of parked events, of which only what is new is read. */
  async #decided(stream: string): Promise<Decisions> {
    const known = this.#known.getOrInsertComputed(stream, () => new Decisions());
    for await (const stored of this.#log.readStream(stream, { from: known.count })) {
      if (stored.revision === known.count) known.add(parkings.codec.read(stored)); // else somebody has read on meanwhile
    }
    return known;
  }
}

/** What waits for an operator. */
export async function parkedEvents(log: EventLog, reactor: string) {
  const { state } = await load(log, parkings, reactor);
  return decisionsIn(state).waiting;
}
