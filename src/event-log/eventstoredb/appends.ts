import { type EventData, jsonEvent } from '@eventstore/db-client';
import {
  type Appended,
  EventLogUnavailable,
  type ExpectedRevision,
  type NewEvent,
  WrongExpectedRevision,
} from '../event-log.ts';
import { expectedNumber, type NewEventRow, toExpected, toRows } from '../new-event-row.ts';
import type { EventStoreDbConnection } from './connection.ts';
import { factsOf } from './faults.ts';
import type { EventStoreDbPages } from './pages.ts';
import { isKnown, toPosition } from './position.ts';

/**
 * Appends whose outcome is unknown are made again with the same ids at the same expected revision, which the
 * server answers like the first time if they are already there. To one stream they go one after the other: calls
 * that run at the same time may overtake each other.
 */
export class EventStoreDbAppends {
  readonly #connection: EventStoreDbConnection;
  readonly #pages: EventStoreDbPages;
  /** The last append under way of each stream that has any; never rejects. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(connection: EventStoreDbConnection, pages: EventStoreDbPages) {
    this.#connection = connection;
    this.#pages = pages;
  }

  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    const [rows, since] = [toRows(events).map(toEventData), performance.now()];
    expectedNumber(expected);
    const before = this.#last.get(stream);
    const append = () => this.#appendOnce(stream, expected, rows, since);
    const appended = before ? before.then(append) : append();
    const done = appended.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(stream, done);
    void done.then(() => this.#last.get(stream) === done && this.#last.delete(stream));
    return appended;
  }

  /** Resolves when nothing is under way. */
  async finished(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }

  async #appendOnce(
    stream: string,
    expected: ExpectedRevision,
    events: EventData[],
    since: number,
  ): Promise<Appended> {
    const expectedRevision = expected === 'none' ? 'no_stream' : BigInt(expected);
    const what = `The append to ${stream}`;
    const result = await this.#connection
      .persist(
        what,
        (client, options) => client.appendToStream(stream, events, { ...options, expectedRevision }),
        undefined,
        since,
      )
      .catch((error: unknown) => {
        throw wrongRevision(stream, expected, error) ?? error;
      });
    const revision = Number(result.nextExpectedRevision);
    const { position } = result;
    // Of events that were already there the server does not tell the position of the last.
    const isExact = isKnown(position) && position.commit === position.prepare;
    return { revision, position: isExact ? toPosition(position) : await this.#positionOf(stream, revision) };
  }

  async #positionOf(stream: string, revision: number) {
    const request = { stream, from: revision, backwards: false, count: 1 };
    const { events } = await this.#pages.ofStream(request);
    const [event] = events;
    if (event) return event.position;
    throw new EventLogUnavailable(`Event ${revision} of ${stream} was appended but cannot be read.`);
  }
}

/** A snapshot: what the caller does to its objects later changes nothing, also when the append is made again. */
function toEventData([id, type, data, metadata]: NewEventRow): EventData {
  return jsonEvent({ id, type, data: JSON.parse(data), metadata: JSON.parse(metadata) });
}

function wrongRevision(stream: string, expected: ExpectedRevision, error: unknown) {
  const cause = Object(error).cause as { actualVersion?: unknown } | undefined; // the client's error
  if (factsOf(cause).type !== 'wrong-expected-version') return undefined;
  const actual = cause?.actualVersion;
  if (actual === 'no_stream') return new WrongExpectedRevision(stream, expected, 'none');
  const isKnownRevision = typeof actual === 'bigint';
  return new WrongExpectedRevision(
    stream,
    expected,
    isKnownRevision ? toExpected(Number(actual)) : 'unknown',
  );
}
