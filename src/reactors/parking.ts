import { type CommandContext, handleCommand, load } from '../deposits/command-handler.ts';
import { parkings } from '../domain/aggregates.ts';
import { Decisions } from '../domain/parking/decisions.ts';
import { decisionsIn, type ParkedEvent, ParkingRefusal } from '../domain/parking/parking.ts';
import { type EventLog, type RecordedEvent, staleRead } from '../event-log/event-log.ts';
import { ObjectError } from '../object-store/object-store.ts';
import { random } from '../tools/random.ts';
import { commandContext } from './command-context.ts';
import type { Parking } from './reactor.ts';

/** Stores parked events in the log: one stream per reactor. */
export class EventLogParking implements Parking {
  readonly #log: EventLog;
  /** Decisions read so far, by name of the stream. */
  readonly #known = new Map<string, Decisions>();

  constructor(log: EventLog) {
    this.#log = log;
  }

  async park(reactor: string, event: RecordedEvent, error: unknown): Promise<void> {
    const { id: eventId, stream, revision } = event;
    const reason = error instanceof Error ? error.message : String(error);
    const object = error instanceof ObjectError ? { object: error.sha256 } : {};
    const command = { type: 'ParkEvent', reactor, eventId, stream, revision, reason, ...object } as const;
    // The same event may be parked again after a retry: each time needs a command id of its own.
    const context = { ...commandContext(event, reactor, 'park'), commandId: random.uuid() };
    await handleCommand(this.#log, parkings, reactor, command, context);
  }

  streamOf(reactor: string): string {
    return `${parkings.prefix}${reactor}`;
  }

  async eventToRetry(event: RecordedEvent): Promise<RecordedEvent | undefined> {
    const stored = parkings.codec.read(event);
    if (stored.type !== 'ParkedRetried') return undefined;
    const decisions = await this.#decisions(event.stream);
    if (decisions.count <= event.revision) throw staleRead(event.stream, decisions.count - 1, event.revision);
    const parked = decisions.eventToRetry(stored.data.eventId, event.revision);
    if (!parked) return undefined;
    for await (const original of this.#log.readStream(parked.stream, { from: parked.revision, limit: 1 }))
      return original;
    throw staleRead(parked.stream, 'none', parked.revision);
  }

  async parkedOrSkipped(reactor: string): Promise<ReadonlySet<string>> {
    return (await this.#decisions(this.streamOf(reactor))).parkedOrSkipped;
  }

  async waiting(reactor: string): Promise<readonly ParkedEvent[]> {
    return (await this.#decisions(this.streamOf(reactor))).waiting;
  }

  async retry({ reactor, eventId }: ParkedEvent, context: CommandContext): Promise<void> {
    try {
      await handleCommand(this.#log, parkings, reactor, { type: 'RetryParked', reactor, eventId }, context);
    } catch (error) {
      if (!(error instanceof ParkingRefusal)) throw error; // else another node or an operator was faster
    }
  }

  /** Returns the decisions in a stream of parked events; reads only the new ones. */
  async #decisions(stream: string): Promise<Decisions> {
    const known = this.#known.getOrInsertComputed(stream, () => new Decisions());
    for await (const stored of this.#log.readStream(stream, { from: known.count })) {
      if (stored.revision === known.count) known.add(parkings.codec.read(stored)); // else a concurrent call has read it
    }
    return known;
  }
}

/** Returns the events that wait for an operator. */
export async function parkedEvents(log: EventLog, reactor: string) {
  const { state } = await load(log, parkings, reactor);
  return decisionsIn(state).waiting;
}
