import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { rollback } from '../../sqlite/transaction.ts';
import { files } from '../../tools/files.ts';
import type { NewEventRow } from '../new-event-row.ts';
import { inTransaction, openForWriting } from './connection.ts';
import { type Head, lastEventOf, writeHead } from './head-file.ts';
import { VERSION } from './schema.ts';
import type { AppendAnswer, AppendRequest } from './writer-messages.ts';

type StreamHead = { readonly key: number; readonly revision: number };

/** What a few appends need. */
const ROOM_BYTES = 256 * 1024;
const REMEMBERED_STREAMS = 10_000;

/** The writing side of one connection. After an error it is to be closed and opened anew. */
export class SqliteAppends {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #dataVersion: StatementSync;
  readonly #findStream: StatementSync;
  readonly #addStream: StatementSync;
  readonly #addEvent: StatementSync;
  readonly #eventsFrom: StatementSync;
  readonly #lastEvent: () => Head | undefined;
  /** What the log says about streams lately written, as long as nobody else commits. */
  readonly #heads = new Map<string, StreamHead>();
  #seenVersion: unknown;

  constructor(file: string) {
    this.#file = file;
    const db = openForWriting(file);
    this.#db = db;
    this.#dataVersion = db.prepare('PRAGMA data_version');
    this.#findStream = db.prepare(
      `SELECT id AS key, (SELECT max(revision) FROM events WHERE stream = streams.id) AS revision
       FROM streams WHERE name = ?`,
    );
    this.#addStream = db.prepare('INSERT INTO streams (name) VALUES (?)');
    this.#addEvent = db.prepare(
      'INSERT INTO events (stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#eventsFrom = db.prepare(
      'SELECT id, position FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?',
    );
    this.#lastEvent = lastEventOf(db);
  }

  /** One transaction; an append that lost its race is refused alone. When this returns, all is durable. */
  commit(appends: readonly AppendRequest[]): AppendAnswer[] {
    return inTransaction(this.#db, () => {
      this.#forgetIfOthersWrote();
      return appends.map((append) => this.#append(append));
    });
  }

  /**
   * To be called after a commit. Takes the write lock again, which orders the records of several processes;
   * gives up when a neighbour has it, for the neighbour will record its own commit, which is later.
   */
  recordHead(): void {
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      const head = this.#lastEvent();
      if (head) writeHead(this.#file, head);
      this.#db.exec('ROLLBACK');
    } catch {
      // A head that lags is a weaker guard, not a fault: the appends are durable and answered.
      rollback(this.#db);
    }
  }

  /** Throws when an append would fail, as on a full disk: that one page fits does not mean that events do. */
  probe(): void {
    const room = `${this.#file}.room`;
    try {
      files.writeFileSync(room, Buffer.alloc(ROOM_BYTES));
    } finally {
      files.rmSync(room, { force: true });
    }
    inTransaction(this.#db, () => this.#db.exec(`PRAGMA user_version = ${VERSION}`)); // writes what is there already
  }

  close(): void {
    this.#db.close();
  }

  /** Leaves an empty WAL behind, also when neighbours keep the file open. */
  checkpoint(): void {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  #append({ stream, expected, rows }: AppendRequest): AppendAnswer {
    const head = this.#headOf(stream);
    const actual = head?.revision ?? -1;
    if (actual !== expected) return this.#appendedBefore(head, expected, rows) ?? { kind: 'refused', actual };
    const key = head?.key ?? Number(this.#addStream.run(stream).lastInsertRowid);
    let revision = actual;
    let position = 0;
    for (const [id, type, data, metadata] of rows) {
      revision += 1;
      const bytes = uuidBytes(id);
      position = Number(this.#addEvent.run(key, revision, bytes, type, data, metadata).lastInsertRowid);
    }
    this.#heads.set(stream, { key, revision });
    return { kind: 'appended', revision, position };
  }

  /** The answer of the first time, when the same ids already stand where they were to go. */
  #appendedBefore(head: StreamHead | undefined, expected: number, rows: readonly NewEventRow[]) {
    if (!head || expected > head.revision) return undefined;
    const there = this.#eventsFrom.all(head.key, expected + 1, rows.length);
    if (there.length < rows.length) return undefined;
    const same = rows.every(([id], index) => uuidBytes(id).equals(there[index]?.['id'] as Uint8Array));
    if (!same) return undefined;
    return {
      kind: 'appended' as const,
      revision: expected + rows.length,
      position: Number(there.at(-1)?.['position']),
    };
  }

  #headOf(stream: string): StreamHead | undefined {
    const remembered = this.#heads.get(stream);
    if (remembered) return remembered;
    const row = this.#findStream.get(stream);
    if (!row) return undefined;
    const head = { key: Number(row['key']), revision: Number(row['revision']) };
    this.#heads.set(stream, head);
    return head;
  }

  #forgetIfOthersWrote(): void {
    const version = this.#dataVersion.get()?.['data_version'];
    if (version !== this.#seenVersion || this.#heads.size > REMEMBERED_STREAMS) this.#heads.clear();
    this.#seenVersion = version;
  }
}

function uuidBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}
