import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { clock } from '../../tools/clock.ts';
import { type ExpectedSqliteFile, faultsOfSqliteFile } from '../../tools/sqlite/integrity.ts';
import { assertReadable } from '../../tools/sqlite/reading.ts';
import { EventLogUnusable, type Position } from '../event-log.ts';
import type { AuditedRecord, LogAudit, StorageFault } from '../integrity/log-audit.ts';
import { positionNumber, toPosition } from '../position.ts';
import {
  AUDITED_ROW,
  type AuditedRow,
  auditedRecord,
  FIRST_POSITION,
  missing,
  unreadableAt,
} from './audit-rows.ts';
import { openForReading, orUnavailable } from './connection.ts';
import { assertUndamaged } from './corruption-check.ts';
import { headFileFaults, readHead } from './head-file.ts';
import { APPLICATION_ID, SCHEMA, VERSION } from './schema.ts';

const PAGE = 500;
/** Number of consecutive unreadable positions after which the rest of the log is abandoned. */
const UNREADABLE_IN_A_ROW = 100_000;
/** Milliseconds to wait for the head record of an append in flight. */
const HEAD_DELAY = 300;

const EXPECTED: ExpectedSqliteFile = {
  schema: SCHEMA,
  pragmas: { application_id: APPLICATION_ID, user_version: VERSION, journal_mode: 'wal', encoding: 'UTF-8' },
  nothing: [
    {
      sql: `SELECT name FROM streams
        WHERE NOT EXISTS (SELECT 1 FROM events WHERE events.stream = streams.id) LIMIT 10`,
      text: 'a stream has no events',
    },
  ],
};

/**
 * Reads the embedded log for an audit, through a separate read-only connection and regardless of the head file. So a
 * corrupt log is read as far as possible and stays unchanged.
 */
export class SqliteLogAudit implements LogAudit {
  readonly #file: string;
  #database: DatabaseSync | undefined;

  /** @throws {WalNotReadable} reading the file requires write permission. */
  constructor(file: string) {
    assertReadable(file);
    this.#file = file;
  }

  async *events(from?: Position): AsyncGenerator<AuditedRecord> {
    const page = this.#prepare(`${AUDITED_ROW} WHERE e.position > ? ORDER BY e.position LIMIT ${PAGE}`);
    let [reached, unreadable] = [Math.max(0, positionNumber(from) - 1), 0];
    while (unreadable < UNREADABLE_IN_A_ROW) {
      const records = this.#pageAfter(page, reached) ?? this.#oneByOne(reached);
      const last = records.at(-1);
      if (last === undefined) return yield* this.#beforeTheFirst();
      yield* records.map(({ record }) => record);
      reached = last.number;
      const readable = records.findLastIndex(({ record }) => record.kind === 'event');
      unreadable = readable < 0 ? unreadable + records.length : records.length - 1 - readable;
      await clock.nextTurn();
    }
    yield unreadableAt(toPosition(reached + 1), `so was everything in the ${unreadable} places before it`);
  }

  async *stream(name: string): AsyncGenerator<AuditedRecord> {
    const find = this.#prepare('SELECT id FROM streams WHERE name = ?');
    const page = this.#prepare(
      `${AUDITED_ROW} WHERE e.stream = ? AND e.revision > ? ORDER BY e.revision LIMIT ${PAGE}`,
    );
    const key = orUnavailable(this.#file, () => (find.get(name) as unknown as [bigint] | undefined)?.[0]);
    if (key === undefined) return;
    for (let reached = -1n; ; ) {
      const rows = orUnavailable(this.#file, () => page.all(key, reached) as unknown as AuditedRow[]);
      yield* rows.map(auditedRecord);
      const last = rows.at(-1)?.[2];
      if (typeof last !== 'bigint' || rows.length < PAGE || last <= reached) return;
      reached = last;
      await clock.nextTurn();
    }
  }

  count(): Promise<number | undefined> {
    return Promise.resolve(this.#end());
  }

  async structure(): Promise<readonly StorageFault[]> {
    const faults = await faultsOfSqliteFile(this.#file, EXPECTED);
    const head = `${this.#file}.head`;
    return [
      ...faults.map((text) => ({ file: this.#file, text })),
      ...(await this.#headFaults()).map((text) => ({ file: head, text })),
      ...this.#lostItsEnd(faults.length > 0).map((text) => ({ file: this.#file, text })),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#database?.close();
    this.#database = undefined;
  }

  /**
   * Returns events before the first position. Reading all events never finds them, but reading a stream does, also in
   * the service.
   */
  #beforeTheFirst(): AuditedRecord[] {
    try {
      const sql = `${AUDITED_ROW} WHERE e.position < ${FIRST_POSITION} ORDER BY e.position LIMIT ${PAGE}`;
      return (this.#prepare(sql).all() as unknown as AuditedRow[]).map(auditedRecord);
    } catch {
      return []; // structure() reports the corruption of the file
    }
  }

  /** Returns the next page; `undefined` when it cannot be read as a whole. */
  #pageAfter(page: StatementSync, reached: number): Placed[] | undefined {
    try {
      return inOrder(page.all(reached) as unknown as AuditedRow[], reached);
    } catch {
      return undefined;
    }
  }

  /** Reads the next positions one by one, up to the end of the log. */
  #oneByOne(reached: number): Placed[] {
    const at = this.#prepare(`${AUDITED_ROW} WHERE e.position = ?`);
    const end = this.#end() ?? reached + PAGE;
    const length = Math.max(0, Math.min(PAGE, end - reached));
    const numbers = Array.from({ length }, (_, index) => reached + 1 + index);
    return numbers.map((number) => ({ number, record: recordAt(at, number) }));
  }

  /** Returns the last position, from the database or else from the head file. */
  #end(): number | undefined {
    try {
      const row = this.#prepare('SELECT max(position) FROM events').get() as unknown as [bigint | null];
      return Number(row[0] ?? 0);
    } catch {
      return readHead(this.#file)?.position;
    }
  }

  async #headFaults(): Promise<string[]> {
    try {
      return [...headFileFaults(this.#file), ...(await this.#missingHead())];
    } catch (error) {
      if (!(error instanceof EventLogUnusable)) throw error;
      return []; // reported as the reason why the log cannot be opened
    }
  }

  /** Reports a missing head record, after a delay: an append writes it directly after its commit. */
  async #missingHead(): Promise<string[]> {
    for (const ms of [0, HEAD_DELAY]) {
      await clock.sleep(ms);
      if (readHead(this.#file) !== undefined || (this.#end() ?? 0) === 0) return [];
      if (headFileFaults(this.#file).length > 0) return []; // reported already
    }
    return [
      'it is missing or empty although the log has events, so a truncated log would go unnoticed. It was removed, the log was copied without it, or a crash followed the first commit. The next append creates it again',
    ];
  }

  #lostItsEnd(isDamaged: boolean): string[] {
    try {
      assertUndamaged(this.#file);
      return [];
    } catch (error) {
      // The corruption of the file was reported already, in more detail.
      const { message, cause } = error as Error;
      return isDamaged && cause !== undefined ? [] : [message];
    }
  }

  #prepare(sql: string): StatementSync {
    return orUnavailable(this.#file, () => {
      this.#database ??= openForReading(this.#file);
      const statement = this.#database.prepare(sql);
      statement.setReturnArrays(true);
      statement.setReadBigInts(true);
      return statement;
    });
  }
}

type Placed = { readonly number: number; readonly record: AuditedRecord };

/**
 * Adds records for the gaps in the positions of a page: positions have no gaps, so an event missing from a tree is
 * found here. Throws when positions do not grow.
 */
function inOrder(rows: readonly AuditedRow[], reached: number): Placed[] {
  const placed: Placed[] = [];
  let last = reached;
  for (const row of rows) {
    const number = Number(row[0]);
    if (number <= last) throw new RangeError(`Position ${number} comes after ${last}.`);
    if (number > last + 1) {
      placed.push({ number: number - 1, record: missing(toPosition(last + 1), number - last - 1) });
    }
    placed.push({ number, record: auditedRecord(row) });
    last = number;
  }
  return placed;
}

function recordAt(at: StatementSync, number: number): AuditedRecord {
  const position = toPosition(number);
  try {
    const row = at.get(number) as unknown as AuditedRow | undefined;
    return row ? auditedRecord(row) : missing(position, 1);
  } catch (error) {
    return unreadableAt(position, error);
  }
}
