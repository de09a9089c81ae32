import type { ParkedEvent, ParkingEvent } from './parking.ts';

/** The last decision about an event, and its index, counted from 0. */
type Decided = {
  readonly index: number;
  readonly type: ParkingEvent['type'];
  readonly parked: ParkedEvent | undefined;
};

/** The decisions about the parked events of a reactor, added in their order. */
export class Decisions {
  /** Ordered by the time of the last decision. */
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

  /** Ids of the events that wait for an operator, or that an operator has skipped for good. */
  get parkedOrSkipped(): ReadonlySet<string> {
    const left = this.#last.entries().filter(([, { type }]) => type !== 'ParkedRetried');
    return new Set(left.map(([eventId]) => eventId));
  }

  /**
   * Returns the event that the decision with this index requests to be retried, unless a later decision concerns it,
   * too.
   */
  eventToRetry(eventId: string, index: number): ParkedEvent | undefined {
    const last = this.#last.get(eventId);
    return last?.type === 'ParkedRetried' && last.index === index ? last.parked : undefined;
  }
}
