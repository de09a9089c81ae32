import type { Position } from '../../src/event-log/event-log.ts';
import { positionAt } from '../history/log-number.ts';
import { world } from '../world/world.ts';
import { type NewEvent, nameOf, positionOf, type StoredEvent } from './stored-event.ts';

/** The committed events. None is ever removed. */
export class ServerLog {
  readonly events: StoredEvent[] = [];
  readonly streams = new Map<string, StoredEvent[]>();

  readonly #step: number;
  readonly #placeOf: (number: number) => Position;

  /** Positions of the server are bytes; `step` apart. */
  constructor(step = 10, placeOf: (number: number) => Position = positionAt) {
    this.#step = step;
    this.#placeOf = placeOf;
  }

  /** The number of the last event; 0 if the log is empty. */
  get last(): number {
    return this.events.at(-1)?.number ?? 0;
  }

  /** Returns the events of a stream, up to a number. */
  stream(name: string, upTo = Infinity): readonly StoredEvent[] {
    const events = this.streams.get(name) ?? [];
    return upTo === Infinity ? events : events.filter(({ number }) => number <= upTo);
  }

  commit(stream: string, events: readonly NewEvent[]): StoredEvent[] {
    const stored = this.streams.getOrInsertComputed(stream, () => []);
    const committed = events.map((event, index) => this.#stored(event, stream, stored.length + index));
    stored.push(...committed);
    return committed;
  }

  #stored(event: NewEvent, streamId: string, revision: number): StoredEvent {
    const { now } = world();
    const number = this.last + this.#step;
    const stored = {
      ...event,
      streamId,
      revision: BigInt(revision),
      position: positionOf(number),
      isJson: true,
      created: new Date(),
      number,
      place: this.#placeOf(number),
      committedAt: now,
    } as const;
    this.events.push(stored);
    world().note('commit', `commit ${nameOf(stored)} ${stored.type}`);
    return stored;
  }
}
