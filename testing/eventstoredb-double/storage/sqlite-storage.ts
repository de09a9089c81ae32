import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { type ProposedEvent, type StoredEvent, sizeOf } from './stored-events.ts';

export type PageRequest = {
  readonly count: number;
  readonly backwards?: boolean;
  /** Events behind this position are left out. */
  readonly upTo?: bigint | undefined;
};

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = OFF;
  CREATE TABLE IF NOT EXISTS streams (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, next INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY, stream INTEGER NOT NULL, revision INTEGER NOT NULL, id TEXT NOT NULL,
    type TEXT NOT NULL, contentType TEXT NOT NULL, data BLOB NOT NULL, metadata BLOB NOT NULL, created INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX IF NOT EXISTS revisions ON events (stream, revision);
`;
const COLUMNS = 'position, name, revision, id, type, contentType, data, metadata, created';
const FROM = `SELECT ${COLUMNS} FROM events JOIN streams ON number = stream`;
const NO_LIMIT = 2n ** 62n;

type Row = Readonly<Record<string, SQLInputValue>>;
type EventRow = Omit<StoredEvent, 'stream' | 'revision'> & {
  readonly name: string;
  readonly revision: bigint;
};

/**
 * The events of a server, in a file of SQLite or in memory. A killed process leaves every append that was answered in the
 * file. Every method is synchronous, so that no two of them interleave.
 */
export class SqliteStorage implements Disposable {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();
  #end: bigint;

  constructor(file = ':memory:') {
    this.#database = new DatabaseSync(file);
    this.#database.exec(SCHEMA);
    const [last] = this.page(NO_LIMIT, { count: 1, backwards: true });
    this.#end = last ? last.position + sizeOf(last) : 0n;
  }

  /** Position of the next event. */
  get end(): bigint {
    return this.#end;
  }

  get count(): number {
    return Number(this.#one('SELECT count(*) AS count FROM events')?.['count']);
  }

  /** Stores all of them or none. Streams begin with their first event. */
  store(stream: string, events: readonly ProposedEvent[], created: bigint): readonly StoredEvent[] {
    const first = this.nextRevision(stream);
    let end = this.#end;
    const stored = events.map((event, index) => {
      const recorded = { ...event, stream, revision: first + index, position: end, created };
      end += sizeOf(recorded);
      return recorded;
    });
    this.together(() => {
      for (const event of stored) this.#insert(event);
    });
    this.#end = end;
    return stored;
  }

  /** Stores an event with the position and the revision that it has elsewhere. */
  load(event: StoredEvent): void {
    const [last] = this.page(NO_LIMIT, { count: 1, backwards: true });
    if (last && event.position <= last.position)
      throw new RangeError(`Event at ${event.position} is not behind ${last.position}.`);
    this.#insert(event);
    this.#end = event.position + sizeOf(event);
  }

  /** Returns the number of events that the stream has had, also of those that were discarded. */
  nextRevision(stream: string, upTo?: bigint): number {
    const sql =
      upTo === undefined
        ? 'SELECT next FROM streams WHERE name = ?'
        : `SELECT max(revision) + 1 AS next FROM events JOIN streams ON number = stream
           WHERE name = ? AND position <= ?`;
    return Number(this.#one(sql, stream, ...(upTo === undefined ? [] : [upTo]))?.['next'] ?? 0);
  }

  eventOf(stream: string, revision: number): StoredEvent | undefined {
    const row = this.#one(`${FROM} WHERE name = ? AND revision = ?`, stream, revision);
    return row && toEvent(row);
  }

  /** Returns a page of one stream from a revision on, which is included. */
  pageOf(stream: string, from: number, { count, backwards, upTo = NO_LIMIT }: PageRequest): StoredEvent[] {
    const [compared, order] = backwards ? ['<=', 'DESC'] : ['>=', 'ASC'];
    const sql = `${FROM} WHERE name = ? AND revision ${compared} ? AND position <= ?
                 ORDER BY revision ${order} LIMIT ?`;
    return this.#all(sql, stream, from, upTo, count).map(toEvent);
  }

  /** Returns a page of the whole log from a position on, which is included. */
  page(from: bigint, { count, backwards, upTo = NO_LIMIT }: PageRequest): StoredEvent[] {
    const [compared, order] = backwards ? ['<=', 'DESC'] : ['>=', 'ASC'];
    const sql = `${FROM} WHERE position ${compared} ? AND position <= ? ORDER BY position ${order} LIMIT ?`;
    return this.#all(sql, from, upTo, count).map(toEvent);
  }

  streams(): string[] {
    return this.#all('SELECT name FROM streams ORDER BY number').map(({ name }) => name as string);
  }

  /** Removes events of the stream before the revision that lie before the position; returns how many. */
  discard(stream: string, before: number, upTo: bigint): number {
    const sql = `DELETE FROM events WHERE revision < ? AND position < ?
                 AND stream = (SELECT number FROM streams WHERE name = ?)`;
    return Number(this.#statement(sql).run(before, upTo, stream).changes);
  }

  /** Makes the changes of `work` in one transaction. */
  together(work: () => void): void {
    if (this.#database.isTransaction) return work();
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #insert({ stream, revision, position, created, ...event }: StoredEvent): void {
    const upsert = `INSERT INTO streams (name, next) VALUES (?, ?)
                    ON CONFLICT (name) DO UPDATE SET next = excluded.next RETURNING number`;
    const number = this.#one(upsert, stream, revision + 1)?.['number'] as bigint;
    const { id, type, contentType, data, metadata } = event;
    const values = [position, number, revision, id, type, contentType, data, metadata, created];
    this.#statement('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)').run(...values);
  }

  #one(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#statement(sql).get(...values);
  }

  #all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#statement(sql).all(...values);
  }

  #statement(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const prepared = this.#database.prepare(sql);
    prepared.setReadBigInts(true); // times in ticks are larger than a number is exact
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** Converts a row with the columns of the statements above. */
function toEvent(row: Row): StoredEvent {
  const { name: stream, revision, ...event } = row as unknown as EventRow;
  return { ...event, stream, revision: Number(revision) };
}
