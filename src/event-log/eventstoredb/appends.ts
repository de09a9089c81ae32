import { type AppendResult, type EventData, jsonEvent } from '@eventstore/db-client';
import { clock } from '../../tools/clock.ts';
import {
  type Appended,
  EventLogUnavailable,
  type ExpectedRevision,
  type NewEvent,
  WrongExpectedRevision,
} from '../event-log.ts';
import { expectedNumber, type NewEventRow, toExpected, toRows } from '../new-event-row.ts';
import type { Action, EventStoreDbConnection } from './connection.ts';
import { factsOf, refusalOf } from './errors.ts';
import type { EventStoreDbPages } from './pages.ts';
import { isKnown, toPosition } from './position.ts';

/**
 * Repeats appends whose outcome is unknown, with the same ids at the same expected revision. The server answers such a
 * repetition like the first attempt if the events are already stored. Appends to one stream are serialised: concurrent
 * calls may overtake each other.
 *
 * If the server refuses the expected revision all the same, the events may be stored by an earlier attempt whose answer
 * was lost. Therefore the stream is read for them before the refusal is passed on, but only after more than one
 * attempt: a first attempt cannot have been overtaken by itself. So the lost races of the command handler, which reads
 * the stream anyway, need no additional read.
 */
export class EventStoreDbAppends {
  readonly #connection: EventStoreDbConnection;
  readonly #pages: EventStoreDbPages;
  /** The last append in flight of each stream; never rejects. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(connection: EventStoreDbConnection, pages: EventStoreDbPages) {
    this.#connection = connection;
    this.#pages = pages;
  }

  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    since = clock.monotonic(),
  ): Promise<Appended> {
    const rows = toRows(events).map(toEventData);
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

  /** Resolves when no append is in flight. */
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
    let tries = 0;
    try {
      const action: Action<AppendResult> = (client, options) => {
        tries += 1;
        return client.appendToStream(stream, events, { ...options, expectedRevision });
      };
      return await this.#answerTo(
        stream,
        await this.#connection.persist(what, action, undefined, since),
        since,
      );
    } catch (error) {
      const cause: unknown = Object(error).cause; // the client's error
      const refused = wrongRevision(stream, expected, cause);
      if (!refused) throw refusalOf(what, cause) ?? error;
      const stored = tries > 1 ? await this.#storedBefore(stream, expected, events, since) : undefined;
      if (!stored) throw refused;
      return stored;
    }
  }

  async #answerTo(
    stream: string,
    { nextExpectedRevision, position }: AppendResult,
    since: number,
  ): Promise<Appended> {
    const revision = Number(nextExpectedRevision);
    // The server does not name the position of the last event if the events were already there.
    const isExact = isKnown(position) && position.commit === position.prepare;
    return {
      revision,
      position: isExact ? toPosition(position) : await this.#positionOf(stream, revision, since),
    };
  }

  /** Returns the result of an earlier attempt if the stream has exactly these events after the expected revision. */
  async #storedBefore(
    stream: string,
    expected: ExpectedRevision,
    events: readonly EventData[],
    since: number,
  ): Promise<Appended | undefined> {
    const from = expectedNumber(expected) + 1;
    const page = await this.#pages.ofStream({ stream, from, backwards: false, count: events.length, since });
    const isStored = events.every(
      ({ id }, index) => page.events[index]?.id === id && page.events[index]?.revision === from + index,
    );
    const last = isStored ? page.events.at(-1) : undefined;
    return last && { revision: last.revision, position: last.position };
  }

  async #positionOf(stream: string, revision: number, since: number) {
    const request = { stream, from: revision, backwards: false, count: 1, since };
    const { events } = await this.#pages.ofStream(request);
    const [event] = events;
    if (event) return event.position;
    throw new EventLogUnavailable(`Event ${revision} of ${stream} was appended but cannot be read.`);
  }
}

/** Returns a snapshot: later changes of the caller's objects have no effect, also when the append is repeated. */
function toEventData([id, type, data, metadata]: NewEventRow): EventData {
  return jsonEvent({ id, type, data: JSON.parse(data), metadata: JSON.parse(metadata) });
}

/**
 * Returns the refusal of the expected revision, if `error` is one. The actual revision is unknown when the server does
 * not name it, which the client reports like a stream that does not exist.
 */
function wrongRevision(stream: string, expected: ExpectedRevision, error: unknown) {
  if (factsOf(error).type !== 'wrong-expected-version') return undefined;
  const { actualVersion: actual } = error as { actualVersion?: unknown };
  if (actual === 'no_stream' && expected !== 'none')
    return new WrongExpectedRevision(stream, expected, 'none');
  const revision = typeof actual === 'bigint' ? Number(actual) : Number.NaN;
  return new WrongExpectedRevision(
    stream,
    expected,
    Number.isSafeInteger(revision) ? toExpected(revision) : 'unknown',
  );
}
