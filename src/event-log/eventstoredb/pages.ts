import type { Position, RecordedEvent } from '../event-log.ts';
import { ClientStream } from './client-stream.ts';
import type { Action, EventStoreDbConnection } from './connection.ts';
import { factsOf } from './faults.ts';
import { type LogPosition, toLogPosition, toPosition } from './position.ts';
import { type ClientEvent, toRecordedEvent } from './records.ts';

type Page<Place> = {
  readonly events: readonly RecordedEvent[];
  /** There was nothing more when it was read. */
  readonly atEnd: boolean;
  /** Where the last event lies that was looked at, also when it is not of this log. */
  readonly upTo: Place | undefined;
};

/** Places are revisions. */
export type StreamPage = Page<number>;

export type AllPage = Page<Position>;

export type StreamPageRequest = {
  readonly stream: string;
  /** Undefined: from the beginning, or from the end when it goes backwards. */
  readonly from: number | undefined;
  readonly backwards: boolean;
  readonly count: number;
};

const PAGE = 1000;
const HEAD_PAGE = 64;

/** Reads page by page, each a call of its own that may be repeated: a read that breaks off gives nothing. */
export class EventStoreDbPages {
  readonly #connection: EventStoreDbConnection;

  constructor(connection: EventStoreDbConnection) {
    this.#connection = connection;
  }

  /** An unknown stream is empty. */
  async ofStream(request: StreamPageRequest, signal?: AbortSignal): Promise<StreamPage> {
    const { stream, from, backwards } = request;
    const maxCount = Math.min(request.count, PAGE);
    const read = reading((client, options) =>
      client.readStream(stream, {
        ...options,
        maxCount,
        direction: backwards ? 'backwards' : 'forwards',
        fromRevision: from === undefined ? (backwards ? 'end' : 'start') : BigInt(from),
      }),
    );
    const found = await this.#connection.persist(`Reading ${stream}`, read, signal);
    const last = found.at(-1)?.event?.revision;
    return {
      events: ofThisLog(found),
      upTo: last === undefined ? undefined : Number(last),
      atEnd: found.length < maxCount,
    };
  }

  /** @throws {TypeError} `after` is no position of this log. */
  async ofAll(after: Position | undefined, signal?: AbortSignal): Promise<AllPage> {
    // The server begins with the event at the position, which is the one already known.
    const maxCount = PAGE + 1;
    const fromPosition = after === undefined ? 'start' : toLogPosition(after);
    const read = reading((client, options) => client.readAll({ ...options, maxCount, fromPosition }));
    const found = await this.#connection.persist('Reading all events', read, signal);
    const last = found.at(-1);
    return {
      events: ofThisLog(found).filter(({ position }) => after === undefined || position > after),
      upTo: (last && positionOf(last)) ?? after,
      atEnd: found.length < maxCount,
    };
  }

  /** Position of the last event of this log. */
  async head(signal?: AbortSignal): Promise<Position | undefined> {
    let fromPosition: LogPosition | 'end' = 'end';
    while (true) {
      const read = reading((client, options) =>
        client.readAll({ ...options, maxCount: HEAD_PAGE, fromPosition, direction: 'backwards' }),
      );
      const found = await this.#connection.persist('Reading the last event', read, signal);
      const [newest] = ofThisLog(found);
      if (newest) return newest.position;
      const oldest = found.at(-1);
      const position = oldest && positionOf(oldest);
      if (found.length < HEAD_PAGE || position === undefined) return undefined;
      fromPosition = toLogPosition(position);
    }
  }
}

type Start = (...call: Parameters<Action<unknown>>) => ConstructorParameters<typeof ClientStream>[0];

/** The events of one bounded read; none when there is no such stream. Reads have no deadline of their own. */
function reading(start: Start): Action<ClientEvent[]> {
  return async (client, options, signal) => {
    await using stream = new ClientStream<ClientEvent>(start(client, options, signal));
    const events: ClientEvent[] = [];
    try {
      while (true) {
        const more = await stream.take(PAGE, options.deadline, signal);
        if (more === undefined) return events;
        events.push(...more);
      }
    } catch (error) {
      if (factsOf(error).type === 'stream-not-found') return [];
      throw error;
    }
  };
}

function ofThisLog(found: readonly ClientEvent[]): RecordedEvent[] {
  return found.map(toRecordedEvent).filter((event) => event !== undefined);
}

function positionOf({ event }: ClientEvent): Position | undefined {
  return event?.position && toPosition(event.position);
}
