import type { ParkedEvent, ParkingEvent } from './parking.ts';

/** What was decided about each event last, and when, counted from 0. */
type Decided = {
  readonly index: number;
  readonly type: ParkingEvent['type'];
  readonly parked: ParkedEvent | undefined;
};

/** The decisions about the parked events of a reactor, added in their order. */
export class Decisions {
  /** In the order in which they were decided about last. */
  readonly #last = new Map<string, Decided>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add({ type, data }: ParkingEvent): void {
    const { eventId } = data;
    const parked = type === 'EventParked' ? data : this.#last.get(eventId)?.parked;
    this.#last.delete(eventId);
    this.#last.set(eventId, { index: this.#count, type, parked });
    this.#count += 1;
  }

  /** The events that wait for an operator, in the order in which they were parked. */
  get waiting(): ParkedEvent[] {
    return [...this.#last.values()].flatMap(({ type, parked }) =>
      type === 'EventParked' && parked ? [parked] : [],
    );
  }

  /** Ids of the events that wait for an operator, or that one has decided to leave for good. */
  get left(): ReadonlySet<string> {
    const left = this.#last.entries().filter(([, { type }]) => type !== 'ParkedRetried');
    return new Set(left.map(([eventId]) => eventId));
  }

  /** Where the event lies that the decision with this index wants tried again, unless a later one is about it, too. */
  retried(eventId: string, index: number): ParkedEvent | undefined {
    const last = this.#last.get(eventId);
    return last?.type === 'ParkedRetried' && last.index === index ? last.parked : undefined;
  }
}
