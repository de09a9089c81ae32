import { type CommandContext, handleCommand, readState } from '../deposits/command-handler.ts';
import type { StreamState } from '../deposits/stream-state.ts';
import { parkings } from '../domain/aggregates.ts';
import {
  eventToRetry,
  type ParkedEvent,
  type Parking,
  type ParkingCommand,
  ParkingRefusal,
  parkedOrSkipped,
  waitingEvents,
} from '../domain/parking/parking.ts';
import { type EventLog, type RecordedEvent, staleRead } from '../event-log/event-log.ts';
import { ObjectError } from '../object-store/object-store.ts';
import { messageOf } from '../tools/coded-error.ts';
import { random } from '../tools/random.ts';
import { commandContext } from './command-context.ts';
import { ALL_REACTORS } from './reactor-names.ts';

/**
 * Stores in the log the events that failed permanently: for an operator, or until the object that they need can be
 * read. There is one stream of decisions per reactor.
 */
export class EventLogParking {
  readonly #log: EventLog;
  /** The decisions read so far, by reactor. */
  readonly #known = new Map<string, StreamState<Parking>>();
  /** The last result of {@link parkedOrSkipped} by reactor, with the decisions that it was found in. */
  readonly #ids = new Map<string, { readonly state: Parking; readonly ids: ReadonlySet<string> }>();
  /** Settles when no decision is being stored; never rejects. */
  #storing: Promise<unknown> = Promise.resolve();

  constructor(log: EventLog) {
    this.#log = log;
  }

  async park(reactor: string, event: RecordedEvent, error: unknown, tries: number): Promise<void> {
    const { id: eventId, stream, revision } = event;
    const object = error instanceof ObjectError && { object: error.sha256 };
    const why = { reason: messageOf(error), tries, ...object };
    // The same event may be parked again after a retry: each time needs a command id of its own.
    const context = { ...commandContext(event, reactor, 'park'), commandId: random.uuid() };
    await this.#decide({ type: 'ParkEvent', reactor, eventId, stream, revision, ...why }, context);
  }

  streamOf(reactor: string): string {
    return `${parkings.prefix}${reactor}`;
  }

  /** Returns the event that an operator wants to retry, if `event` is such a decision and no later one overrides it. */
  async eventToRetry(event: RecordedEvent): Promise<RecordedEvent | undefined> {
    const { type, data } = parkings.codec.read(event);
    if (type !== 'ParkedRetried') return undefined;
    const { state } = await this.#decisions(data.reactor, event.revision);
    const parked = eventToRetry(state, data.eventId, event.revision);
    if (!parked) return undefined;
    const { stream, revision: from } = parked;
    const [original] = await Array.fromAsync(this.#log.readStream(stream, { from, limit: 1 }));
    if (!original) throw staleRead(stream, 'none', from);
    return original;
  }

  /** Returns the ids of the events that wait for an operator, or that an operator has skipped for good. */
  async parkedOrSkipped(reactor: string): Promise<ReadonlySet<string>> {
    const { state } = await this.#decisions(reactor);
    const known = this.#ids.get(reactor);
    if (known && known.state === state) return known.ids;
    const ids = parkedOrSkipped(state);
    this.#ids.set(reactor, { state, ids });
    return ids;
  }

  async waiting(reactor: string): Promise<readonly ParkedEvent[]> {
    return waitingEvents((await this.#decisions(reactor)).state);
  }

  /** Returns how many events of all reactors wait for an operator. */
  async count(): Promise<number> {
    const waiting = await Promise.all(ALL_REACTORS.map((reactor) => this.waiting(reactor)));
    return waiting.flat().length;
  }

  async retry({ reactor, eventId }: ParkedEvent, context: CommandContext): Promise<void> {
    try {
      await this.#decide({ type: 'RetryParked', reactor, eventId }, context);
    } catch (error) {
      if (!(error instanceof ParkingRefusal)) throw error; // else another node or an operator was faster
    }
  }

  /**
   * Stores a decision, one after the other: of several at a time, each that lost the race for the revision would read
   * all decisions again.
   */
  #decide(command: ParkingCommand, context: CommandContext): Promise<void> {
    const { reactor } = command;
    const stored = this.#storing.then(async () => {
      const from = await this.#decisions(reactor);
      this.#known.set(reactor, await handleCommand(this.#log, parkings, reactor, command, context, { from }));
    });
    this.#storing = stored.catch(() => undefined);
    return stored;
  }

  /** Returns all decisions about the parked events of a reactor; reads only the new ones. */
  async #decisions(reactor: string, atLeast?: number): Promise<StreamState<Parking>> {
    const from = this.#known.get(reactor);
    const loaded = await readState(this.#log, parkings, reactor, { from, atLeast });
    this.#known.set(reactor, loaded);
    return loaded;
  }
}

export async function parkedEvents(log: EventLog, reactor: string): Promise<readonly ParkedEvent[]> {
  return new EventLogParking(log).waiting(reactor);
}
