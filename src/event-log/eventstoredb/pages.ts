import type { EventStoreDBClient } from '@eventstore/db-client';
import { clock } from '../../tools/clock.ts';
import type { Position, RecordedEvent } from '../event-log.ts';
import { ClientStream } from './client-stream.ts';
import type { Action, CallOptions, EventStoreDbConnection } from './connection.ts';
import { factsOf, isTimeout } from './errors.ts';
import { PageSize } from './page-size.ts';
import { type LogPosition, toLogPosition, toPosition } from './position.ts';
import { type ClientEvent, toRecordedEvent } from './to-recorded-event.ts';

/** A page whose places are revisions or positions. */
type Page<Place> = {
  readonly events: readonly RecordedEvent[];
  /** Whether the log had no further events when it was read. */
  readonly atEnd: boolean;
  /** Place of the last event that was read, also when it is not of this log. */
  readonly upTo: Place | undefined;
};

type StreamPageRequest = {
  readonly stream: string;
  /** Undefined: from the beginning, or from the end when it reads backwards. */
  readonly from: number | undefined;
  readonly backwards: boolean;
  readonly count: number;
  /** Start of the work that needs the page, by `clock.monotonic()`: the time limit counts from there. */
  readonly since?: number | undefined;
};

const HEAD_PAGE = 64;
/** Number of events that are read from the client's buffer in one step. */
const AT_ONCE = 1000;

/** Reads page by page, each as a separate call that may be repeated: an interrupted read returns no events. */
export class EventStoreDbPages {
  readonly #connection: EventStoreDbConnection;
  readonly #size: PageSize;
  readonly #repeats: boolean;

  constructor(connection: EventStoreDbConnection, size = new PageSize(), repeats = true) {
    this.#connection = connection;
    this.#size = size;
    this.#repeats = repeats;
  }

  /** Returns reads that are tried once and fail with the client's error: for work that has pauses of its own. */
  get tryingOnce(): EventStoreDbPages {
    return new EventStoreDbPages(this.#connection, this.#size, false);
  }

  /** Reads a page of one stream. An unknown stream is empty. */
  async ofStream(request: StreamPageRequest, signal?: AbortSignal): Promise<Page<number>> {
    const { stream, from, backwards } = request;
    const direction = backwards ? 'backwards' : 'forwards';
    const fromRevision = from === undefined ? (backwards ? 'end' : 'start') : BigInt(from);
    const { seen, atEnd } = await this.#read(`Reading ${stream}`, { ...request, signal }, (client, options) =>
      client.readStream(stream, { ...options, direction, fromRevision }),
    );
    const last = seen.at(-1)?.revision;
    return { events: ofThisLog(seen), upTo: last === undefined ? undefined : Number(last), atEnd };
  }

  /** Reads a page of all events. @throws {InvalidPosition} */
  async ofAll(after: Position | undefined, signal?: AbortSignal): Promise<Page<Position>> {
    const fromPosition = after === undefined ? 'start' : toLogPosition(after);
    // The server begins with the event at the position, which is already known.
    const { seen, atEnd } = await this.#read(
      'Reading all events',
      { overlap: 1, signal },
      (client, options) => client.readAll({ ...options, fromPosition }),
    );
    return {
      events: ofThisLog(seen).filter(({ position }) => after === undefined || position > after),
      upTo: seen.at(-1)?.position ?? after,
      atEnd,
    };
  }

  /** Resolves to the last event of this log. */
  async lastEvent(signal?: AbortSignal): Promise<RecordedEvent | undefined> {
    let fromPosition: LogPosition | 'end' = 'end';
    while (true) {
      const bounds = { count: HEAD_PAGE, signal };
      const { seen, atEnd } = await this.#read('Reading the last event', bounds, (client, options) =>
        client.readAll({ ...options, fromPosition, direction: 'backwards' }),
      );
      const [newest] = ofThisLog(seen);
      if (newest) return newest;
      const oldest = seen.at(-1)?.position;
      if (atEnd || oldest === undefined) return undefined;
      fromPosition = toLogPosition(oldest);
    }
  }

  async #read(what: string, bounds: Bounds, start: Start): Promise<Found> {
    const { count = Number.MAX_SAFE_INTEGER, overlap = 0, signal, since } = bounds;
    const action: Action<Found> = async (client, options, stop) => {
      const maxCount = Math.min(count, this.#size.current) + overlap;
      const begun = clock.monotonic();
      try {
        const found = await collectEvents(start(client, { ...options, maxCount }), options.deadline, stop);
        this.#size.succeeded(maxCount, found.length, (clock.monotonic() - begun) / options.deadline);
        return { seen: found.map(seenIn), atEnd: found.length < maxCount };
      } catch (error) {
        if (isTimeout(error)) this.#size.timedOut(maxCount);
        throw error;
      }
    };
    return this.#repeats
      ? this.#connection.persist(what, action, signal, since)
      : this.#connection.call(action, signal);
  }
}

type Bounds = {
  readonly count?: number;
  /** Events that are read in addition to a page. */
  readonly overlap?: number;
  readonly signal?: AbortSignal | undefined;
  readonly since?: number | undefined;
};

type Start = (
  client: EventStoreDBClient,
  options: CallOptions & { readonly maxCount: number },
) => ConstructorParameters<typeof ClientStream>[0];

/** One record of the server's log: an event of this log, or another record. */
type Seen = {
  readonly event: RecordedEvent | undefined;
  readonly revision: bigint | undefined;
  readonly position: Position | undefined;
};

type Found = { readonly seen: readonly Seen[]; readonly atEnd: boolean };

/** Types of errors that say that a stream has no events. */
const WITHOUT_EVENTS: ReadonlySet<string | undefined> = new Set(['stream-not-found', 'stream-deleted']);

/**
 * Resolves to the events of one bounded read; none when there is no such stream, also after it was deleted permanently.
 * Reads have no deadline of their own.
 */
export async function collectEvents(
  source: ReturnType<Start>,
  deadline: number,
  signal: AbortSignal,
): Promise<ClientEvent[]> {
  await using stream = new ClientStream<ClientEvent>(source);
  const events: ClientEvent[] = [];
  try {
    while (true) {
      const more = await stream.take(AT_ONCE, deadline, signal);
      if (more === undefined) return events;
      events.push(...more);
    }
  } catch (error) {
    if (WITHOUT_EVENTS.has(factsOf(error).type)) return [];
    throw error;
  }
}

function seenIn(found: ClientEvent): Seen {
  const event = toRecordedEvent(found);
  const { position, revision } = found.event ?? {};
  return { event, revision, position: event?.position ?? (position && toPosition(position)) };
}

function ofThisLog(seen: readonly Seen[]): RecordedEvent[] {
  return seen.map(({ event }) => event).filter((event) => event !== undefined);
}
