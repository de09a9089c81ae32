import type { DatabaseSync } from 'node:sqlite';
import { files } from '../../tools/files.ts';
import { primaryCode } from '../../tools/sqlite/codes.ts';
import { newestSlot, type Slotted, writeAllSlots, writeSlot } from '../../tools/sqlite/slots.ts';
import { rollback } from '../../tools/sqlite/transaction.ts';
import { openToRead } from './object-database.ts';

type LastRow = { readonly id: number; readonly sha256: string };

/**
 * Records the newest small object in `small.sqlite.head`, since SQLite silently drops commits after a corrupt WAL
 * frame, and all of them when the WAL is gone. The record may lag behind the database but never lead it.
 */
export class LastRowRecord {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #last: () => LastRow | undefined;

  constructor(file: string, database: DatabaseSync) {
    this.#file = headOf(file);
    this.#database = database;
    this.#last = lastRowOf(database);
  }

  /** Clears the record durably, before rows are removed durably: one of them may be the recorded one. */
  forget(): void {
    const newest = isThere(this.#file) ? newestSlot(this.#file) : undefined;
    if (newest !== undefined) writeAllSlots(this.#file, numbered(newest, undefined));
  }

  /**
   * Records the last row. Must be called after a commit. Acquires the write lock again, which orders the records of
   * several processes.
   */
  update(): void {
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      writeSlot(this.#file, (newest) => numbered(newest, this.#last()));
      this.#database.exec('ROLLBACK');
    } catch {
      // A record that lags is a weaker guard, not a fault: the rows are durable.
      rollback(this.#database);
    }
  }
}

function numbered(newest: Slotted | undefined, row: LastRow | undefined): Slotted {
  return { number: (newest?.number ?? 0) + 1, words: row ? [String(row.id), row.sha256] : ['0', '-'] };
}

/**
 * Describes the rows that the database has lost according to the record; `undefined` if it has lost none. The record is
 * read first, since rows may be added meanwhile.
 */
export function lostRows(file: string): string | undefined {
  const record = isThere(headOf(file)) ? newestSlot(headOf(file)) : undefined;
  const [id = '0', sha256 = '-'] = record?.words ?? [];
  if (id === '0') return undefined;
  const how = shortcoming(file, id, sha256);
  return how && `${how}, but ${headOf(file)} records row ${id} for the object ${sha256}`;
}

function shortcoming(file: string, id: string, sha256: string): string | undefined {
  if (!isThere(file)) return 'it is missing';
  try {
    using database = openToRead(file);
    const recorded = database.prepare('SELECT 1 FROM small_object WHERE id = ? AND sha256 = ?');
    if (recorded.get(Number(id), sha256)) return undefined;
    return `it ends at row ${lastRowOf(database)()?.id ?? 0}`;
  } catch (error) {
    const SQLITE_ERROR = 1; // the table was only in the WAL
    return primaryCode(error) === SQLITE_ERROR ? 'it has no rows' : undefined;
  }
}

/** @throws the error of a disk that refuses reads: then the result is unknown. */
function isThere(file: string): boolean {
  return files.statSync(file, { throwIfNoEntry: false }) !== undefined;
}

function lastRowOf(database: DatabaseSync): () => LastRow | undefined {
  const last = database.prepare('SELECT id, sha256 FROM small_object ORDER BY id DESC LIMIT 1');
  return () => last.get() as LastRow | undefined; // the schema is STRICT
}

function headOf(file: string): string {
  return `${file}.head`;
}
