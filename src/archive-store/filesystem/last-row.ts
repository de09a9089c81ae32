import type { DatabaseSync } from 'node:sqlite';
import { primaryCode } from '../../sqlite/codes.ts';
import { newestSlot, type Slotted, writeSlot } from '../../sqlite/slots.ts';
import { rollback } from '../../sqlite/transaction.ts';
import { files } from '../../tools/files.ts';

type LastRow = { readonly id: number; readonly sha256: string };

/**
 * Records the newest small object in `small.sqlite.head`, since SQLite drops commits behind a damaged WAL frame without
 * an error, and all of them when the WAL is gone. The record may lag behind the database but never lead it.
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

  /** Forgets the record, before rows are removed: one of them may be the recorded one. */
  forget(): void {
    if (this.#newest() === undefined) return;
    for (const _slot of ['older', 'newer']) this.#write(undefined);
  }

  /** Call after a commit. Takes the write lock again, which orders the records of several processes. */
  update(): void {
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      this.#write(this.#last());
      this.#database.exec('ROLLBACK');
    } catch {
      // A record that lags is a weaker guard, not a fault: the rows are durable.
      rollback(this.#database);
    }
  }

  #newest(): Slotted | undefined {
    return files.existsSync(this.#file) ? newestSlot(this.#file) : undefined;
  }

  #write(row: LastRow | undefined): void {
    const number = (this.#newest()?.number ?? 0) + 1;
    writeSlot(this.#file, { number, words: row ? [String(row.id), row.sha256] : ['0', '-'] });
  }
}

/** Returns how the database falls short of the record. The record is read first, since rows may come meanwhile. */
export function lostRows(file: string, open: (file: string) => DatabaseSync): string | undefined {
  const record = files.existsSync(headOf(file)) ? newestSlot(headOf(file)) : undefined;
  const [id, sha256] = [Number(record?.words[0] ?? 0), record?.words[1]];
  if (id === 0) return undefined;
  const how = shortcoming(file, open, (row) => row?.id === id && row.sha256 === sha256, id);
  return how && `${how}, but ${headOf(file)} records row ${id} for the object ${sha256}`;
}

function shortcoming(
  file: string,
  open: (file: string) => DatabaseSync,
  isRecorded: (row: LastRow | undefined) => boolean,
  id: number,
): string | undefined {
  if (!files.existsSync(file)) return 'it is missing';
  try {
    using database = open(file);
    const row = database.prepare('SELECT id, sha256 FROM small_object WHERE id = ?').get(id);
    if (isRecorded(row as LastRow | undefined)) return undefined;
    return `it ends at row ${lastRowOf(database)()?.id ?? 0}`;
  } catch (error) {
    const SQLITE_ERROR = 1; // the table itself was only in the WAL
    return primaryCode(error) === SQLITE_ERROR ? 'it has no rows' : undefined;
  }
}

function lastRowOf(database: DatabaseSync): () => LastRow | undefined {
  const last = database.prepare('SELECT id, sha256 FROM small_object ORDER BY id DESC LIMIT 1');
  return () => last.get() as LastRow | undefined; // by the schema, which is STRICT
}

function headOf(file: string): string {
  return `${file}.head`;
}
