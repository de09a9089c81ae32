import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { readTwice } from '../../tools/sqlite/found-twice.ts';
import { LIMIT } from '../../tools/sqlite/limit.ts';
import {
  EventLogUnusable,
  type Json,
  type JsonObject,
  type Position,
  type RecordedEvent,
} from '../event-log.ts';
import type { LogPage } from '../log-pages.ts';
import { positionNumber, toPosition } from '../position.ts';
import { uuidOf } from '../uuid.ts';
import { openForReading, orUnavailable } from './connection.ts';
import type { CommittedAppend } from './log-writer-client.ts';

/**
 * Maximum number of events in a page, and of rows that one page of a filtered read examines: some milliseconds each.
 */
const PAGE = 1_000;
const LOOKED_AT = 5_000;
/**
 * Maximum number of events in a page of one stream. It is lower, since a client may have made each event as large as
 * possible.
 */
export const STREAM_PAGE = 100;

// An id as hexadecimal digits: a blob would be a separate buffer for each row.
const EVENTS = `
  SELECT e.position, s.name, e.revision, hex(e.id), e.type, e.data, e.metadata
  FROM events e JOIN streams s ON s.id = e.stream`;
const STREAM = `
  SELECT e.position, s.name, e.revision, hex(e.id), e.type, e.data, e.metadata
  FROM streams s JOIN events e ON e.stream = s.id WHERE s.name = ?`;

type EventRow = [
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  data: string,
  metadata: string,
];

/** Some events of one stream, and the revision of the last one. */
export type StreamPage = {
  readonly events: Iterable<RecordedEvent>;
  readonly length: number;
  readonly last: number | undefined;
};

/** The reading part: each page is one statement run to its end, so no snapshot is held between two pages. */
export class SqlitePages {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #head: StatementSync;
  readonly #dataVersion: StatementSync;
  readonly #forwards: StatementSync;
  readonly #backwards: StatementSync;
  /** Statements by the number of prefixes; -1 for no filter. */
  readonly #after = new Map<number, StatementSync>();
  #version: unknown;

  constructor(file: string) {
    this.#file = file;
    const db = openForReading(file);
    this.#db = db;
    this.#head = db.prepare('SELECT max(position) AS position FROM events');
    this.#dataVersion = db.prepare('PRAGMA data_version');
    this.#forwards = rows(db, `${STREAM} AND e.revision >= ? ORDER BY e.revision ${LIMIT}`);
    this.#backwards = rows(db, `${STREAM} AND e.revision <= ? ORDER BY e.revision DESC ${LIMIT}`);
  }

  /**
   * Reads at most `STREAM_PAGE` events of one stream, from revision `from` on (or back). Events before a corrupt one
   * are still returned.
   */
  streamPage(stream: string, from: number, backwards: boolean, limit: number): StreamPage {
    const statement = backwards ? this.#backwards : this.#forwards;
    const found = this.#reading(() => statement.all(stream, from, Math.min(limit, STREAM_PAGE)));
    const events = found as unknown as EventRow[]; // the schema is STRICT and the columns are those of EVENTS
    return { events: Iterator.from(events).map(toEvent), length: events.length, last: events.at(-1)?.[2] };
  }

  pageAfter(after: Position | undefined, streamPrefixes: readonly string[] | undefined): LogPage {
    const start = positionNumber(after);
    return this.#reading(() => {
      const head = this.#headNumber();
      const end = Math.max(start, Math.min(head, start + LOOKED_AT));
      const statement = this.#after.getOrInsertComputed(streamPrefixes?.length ?? -1, (prefixes) =>
        this.#prepareAfter(prefixes),
      );
      const ranges = (streamPrefixes ?? []).flatMap((prefix) => [prefix, prefixUpperBound(prefix)]);
      const found = statement.all(start, end, ...ranges, PAGE) as unknown as EventRow[]; // as above
      const events = found.map(toEvent);
      const last = events.at(-1);
      if (last && events.length === PAGE) return { events, upTo: last.position, atEnd: false };
      return { events, upTo: end === 0 ? undefined : toPosition(end), atEnd: end >= head };
    });
  }

  head(): Position | undefined {
    const head = this.#reading(() => this.#headNumber());
    return head === 0 ? undefined : toPosition(head);
  }

  /**
   * Returns whether another connection has committed since the last call. An error counts as a commit: the reads that
   * follow meet it and handle it.
   */
  hasChanged(): boolean {
    const before = this.#version;
    try {
      this.#version = this.#dataVersion.get()?.['data_version'];
    } catch {
      this.#version = undefined;
    }
    return this.#version === undefined || this.#version !== before;
  }

  close(): void {
    this.#db.close();
  }

  #headNumber(): number {
    return Number(this.#head.get()?.['position'] ?? 0);
  }

  #prepareAfter(prefixes: number): StatementSync {
    // The plus disables the index of names, which would read every event of these streams.
    const ranges = Array.from({ length: Math.max(prefixes, 0) }, () => '(+s.name >= ? AND +s.name < ?)');
    const filter = prefixes < 0 ? '' : `AND (${ranges.join(' OR ') || 'FALSE'})`;
    const sql = `${EVENTS} WHERE e.position > ? AND e.position <= ? ${filter} ORDER BY e.position ${LIMIT}`;
    return rows(this.#db, sql);
  }

  #reading<T>(read: () => T): T {
    return orUnavailable(this.#file, () => readTwice(this.#db, read));
  }
}

/**
 * Returns the first name after all that begin with the prefix, in the order of SQLite: comparing is cheaper than LIKE,
 * and has no wildcards.
 */
function prefixUpperBound(prefix: string): string {
  if (prefix === '') return '\u{10ffff}';
  return prefix.slice(0, -1) + String.fromCodePoint((prefix.codePointAt(prefix.length - 1) as number) + 1);
}

/** Prepares a statement that returns rows as arrays, which are cheaper than objects. */
function rows(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** Returns the events of a committed append, as reading them would: they are JSON, and are not changed once appended. */
export function committedEvents({ stream, events, revision, position }: CommittedAppend): RecordedEvent[] {
  const before = events.length - 1;
  return events.map(({ id, type, data, metadata }, index) => ({
    id,
    type,
    data,
    metadata,
    stream,
    revision: revision - before + index,
    position: toPosition(position - before + index),
  }));
}

function toEvent([position, stream, revision, id, type, data, metadata]: EventRow): RecordedEvent {
  try {
    return {
      id: uuidOf(id),
      type,
      data: objectIn(data),
      metadata: objectIn(metadata),
      stream,
      revision,
      position: toPosition(position),
    };
  } catch (cause) {
    throw new EventLogUnusable(
      'LOG_DAMAGED',
      `The event at position ${toPosition(position)} of the event log (revision ${revision} of ${stream}) is corrupt: its data or metadata are not the JSON of an event. Run "deposit-service verify --all" to find others.`,
      { cause },
    );
  }
}

function objectIn(text: string): JsonObject {
  const value = JSON.parse(text) as Json;
  if (typeof value === 'object' && value !== null) return value as JsonObject;
  throw new SyntaxError(`${text} is no object.`);
}
