import { world } from '../world/world.ts';
import type { Connection } from './leadership.ts';
import type { LibraryStream } from './library-stream.ts';
import { nameOf, type StoredEvent } from './stored-event.ts';

/** One connection to a group. */
export class Consumer {
  readonly connection: Connection;
  readonly out: LibraryStream;
  readonly #size: number;
  /** Events handed out to it and not acknowledged. */
  held = 0;
  isOver = false;
  #lastArrival = 0;

  constructor(connection: Connection, size: number, out: LibraryStream) {
    this.connection = connection;
    this.#size = size;
    this.out = out;
  }

  get availableSlots(): number {
    return this.#size - this.held;
  }

  /** Sends an event; the order of the messages stays. */
  hand(event: StoredEvent, retryCount: number, latency: number): void {
    const { process } = this.connection;
    const { now } = world();
    this.held += 1;
    const time = Math.max(now + latency, this.#lastArrival + 0.001);
    this.#lastArrival = time;
    world().called(process, 'delivery', 'done');
    world().schedule(time - now, process, () => {
      if (this.isOver || this.out.isOver) return;
      world().note('call', `deliver ${nameOf(event)} to ${process.name}`);
      world().called(process, 'delivery', 'answered');
      this.out.give([{ event, retryCount }]);
    });
  }
}
