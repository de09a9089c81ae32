import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { files } from '../../tools/files.ts';
import { LruCache } from '../../tools/lru-cache.ts';
import { LIMIT } from '../../tools/sqlite/limit.ts';
import { rollback } from '../../tools/sqlite/transaction.ts';
import type { NewEventRow } from '../new-event-row.ts';
import { inTransaction, LARGE_WAL_BYTES, openForWriting } from './connection.ts';
import { type Head, lastEventOf, repairHead, syncHead, writeHead } from './head-file.ts';
import type { AppendAnswer, AppendRequest } from './log-writer-messages.ts';
import { VERSION } from './schema.ts';

type StreamHead = { readonly key: number; readonly revision: number };

/** Disk space that a few appends need. */
const PROBE_BYTES = 256 * 1024;
const REMEMBERED_STREAMS = 20_000;

/** The writing part of one connection. After an error it must be closed and opened again. */
export class SqliteAppends {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #dataVersion: StatementSync;
  readonly #findStream: StatementSync;
  readonly #addStream: StatementSync;
  readonly #addEvent: StatementSync;
  readonly #eventsFrom: StatementSync;
  readonly #lastEvent: () => Head | undefined;
  /** Heads of recently written streams, valid until another process commits. */
  readonly #heads = new LruCache<StreamHead>(REMEMBERED_STREAMS);
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
      `SELECT id, position FROM events WHERE stream = ? AND revision >= ? ORDER BY revision ${LIMIT}`,
    );
    this.#lastEvent = lastEventOf(db);
  }

  /**
   * Commits the appends of several calls in one transaction; an append that lost its race is refused individually. When
   * this returns, all appended events are durable.
   */
  commit(calls: readonly (readonly AppendRequest[])[]): AppendAnswer[][] {
    return inTransaction(this.#db, () => {
      this.#clearCacheAfterExternalCommit();
      return calls.map((appends) => appends.map((append) => this.#append(append)));
    });
  }

  /**
   * Records the head of the log. Must be called after a commit. Acquires the write lock again, which orders the records
   * of several processes. Gives up when another process has the lock, since that process will record its own, later
   * commit.
   */
  recordHead(): void {
    this.#withHead(writeHead);
  }

  /** Must be called once the file is open, so that the first appends after a power cut have a complete record, too. */
  repairHead(): void {
    this.#withHead(repairHead);
  }

  /** Throws when an append would fail, as on a full disk. A single page may still fit when events do not. */
  probe(): void {
    const room = `${this.#file}.room`;
    try {
      files.writeFileSync(room, Buffer.alloc(PROBE_BYTES));
    } finally {
      files.rmSync(room, { force: true });
    }
    inTransaction(this.#db, () => this.#db.exec(`PRAGMA user_version = ${VERSION}`)); // writes the present value
  }

  /**
   * Throws when the file cannot be written, though commits to its WAL succeed. SQLite hides the errors of its own
   * checkpoints: the WAL would grow without limit, and the next start fail.
   */
  assertMoves(): void {
    const wal = files.statSync(`${this.#file}-wal`);
    if (wal.size > LARGE_WAL_BYTES) this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)'); // waits for no other connection
  }

  close(): void {
    this.#db.close();
  }

  /**
   * Leaves an empty WAL, also when other processes have the file open. Records the head once more, which may have
   * failed before, and syncs the record.
   */
  checkpoint(): void {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.recordHead();
    syncHead(this.#file);
  }

  #withHead(write: typeof writeHead): void {
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      const head = this.#lastEvent();
      if (head) write(this.#file, head);
      this.#db.exec('ROLLBACK');
    } catch {
      // A head that lags is a weaker guard, not a fault: the appends are durable and answered.
      rollback(this.#db);
    }
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

  /** Returns the first answer again when the same ids are already stored at these revisions. */
  #appendedBefore(head: StreamHead | undefined, expected: number, rows: readonly NewEventRow[]) {
    if (!head || expected > head.revision) return undefined;
    const there = this.#eventsFrom.all(head.key, expected + 1, rows.length);
    if (there.length < rows.length) return undefined;
    const same = rows.every(([id], index) => uuidBytes(id).equals(there[index]?.['id'] as Uint8Array));
    if (!same) return undefined;
    return {
      kind: 'repeated' as const,
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

  #clearCacheAfterExternalCommit(): void {
    const version = this.#dataVersion.get()?.['data_version'];
    if (version !== this.#seenVersion) this.#heads.clear();
    this.#seenVersion = version;
  }
}

function uuidBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}
