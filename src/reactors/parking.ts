import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';
import { chainHash, eventId, seal } from '../event-log/hash-chain.ts';
import type { Parking } from './reactor.ts';

/** Parked events are facts, too: they are kept in a stream of the log, one a reactor. */
export class LogParking implements Parking {
  readonly #log: EventLog;

  constructor(log: EventLog) {
    this.#log = log;
  }

  async park(reactor: string, event: RecordedEvent, error: unknown): Promise<void> {
    const stream = `parked-${reactor}`;
    let [revision, hash]: [number, string | null] = [-1, null];
    for await (const last of this.#log.readStream(stream, { backwards: true, limit: 1 })) {
      [revision, hash] = [last.revision, chainHash(last)];
    }
    const parked = {
      id: eventId(`parked/${reactor}/${event.id}`, revision + 1),
      type: 'EventParked',
      data: {
        reactor,
        eventId: event.id,
        stream: event.stream,
        revision: event.revision,
        reason: error instanceof Error ? error.message : String(error),
      },
      metadata: { schemaVersion: 1, occurredAt: new Date().toISOString(), $causationId: event.id },
    };
    await this.#log.append(
      stream,
      revision < 0 ? 'none' : revision,
      seal(stream, revision + 1, hash, [parked]),
    );
  }
}
