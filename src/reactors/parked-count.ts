import { parkings } from '../domain/aggregates.ts';
import type { EventLog } from '../event-log/event-log.ts';

/** Counts the parked events of a reactor. Each call reads only the new events of its stream. */
export class ParkedCount {
  readonly #log: Pick<EventLog, 'readStream'>;
  readonly #stream: string;
  readonly #parked = new Set<string>();
  #next = 0;

  constructor(log: Pick<EventLog, 'readStream'>, reactor: string) {
    this.#log = log;
    this.#stream = `${parkings.prefix}${reactor}`;
  }

  async now(): Promise<number> {
    for await (const stored of this.#log.readStream(this.#stream, { from: this.#next })) {
      const { type, data } = parkings.codec.read(stored);
      if (type === 'EventParked') this.#parked.add(data.eventId);
      else this.#parked.delete(data.eventId);
      this.#next = stored.revision + 1;
    }
    return this.#parked.size;
  }
}

/** Returns a function that resolves to the number of parked events of all these reactors. */
export function parkedCount(
  log: Pick<EventLog, 'readStream'>,
  reactors: readonly string[],
): () => Promise<number> {
  const counts = reactors.map((reactor) => new ParkedCount(log, reactor));
  return async () => {
    const now = await Promise.all(counts.map((count) => count.now()));
    return now.reduce((sum, count) => sum + count, 0);
  };
}
