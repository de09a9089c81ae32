import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { clock } from '../../tools/clock.ts';
import { isDamage, isInputOutputError } from '../../tools/sqlite/codes.ts';
import { readTwice } from '../../tools/sqlite/found-twice.ts';
import type { ListedObject } from '../object-store.ts';
import { readOrUnavailable, unavailable, unreadable } from '../store-errors.ts';
import { openToRead } from './object-database.ts';

const PAGE = 1000;

/** Reads the small objects in this thread. */
export class ObjectRows implements Disposable {
  readonly #database: DatabaseSync;
  readonly #bytes: StatementSync;
  readonly #length: StatementSync;
  readonly #page: StatementSync;

  /** Opens the database, which must exist. */
  constructor(file: string) {
    this.#database = openToRead(file);
    this.#bytes = this.#database.prepare('SELECT bytes FROM small_object WHERE sha256 = ?');
    this.#length = this.#database.prepare(
      'SELECT length(bytes) AS length FROM small_object WHERE sha256 = ?',
    );
    this.#page = this.#database.prepare(`
      SELECT id, sha256, stored_at AS storedAt, length(bytes) AS length
      FROM small_object WHERE id > ? ORDER BY id LIMIT ${PAGE}
    `);
  }

  bytes(sha256: string): Uint8Array | undefined {
    // The column type is STRICT.
    return this.#row(sha256, () => this.#bytes.get(sha256)?.['bytes'] as Uint8Array | undefined);
  }

  length(sha256: string): number | undefined {
    return this.#row(sha256, () => this.#length.get(sha256)?.['length'] as number | undefined);
  }

  async *list(): AsyncGenerator<ListedObject> {
    let last = 0;
    for (;;) {
      const rows = readOrUnavailable(() => this.#page.all(last) as Row[]);
      yield* rows.map(({ sha256, length, storedAt }) => ({ sha256, length, storedAt: new Date(storedAt) }));
      if (rows.length < PAGE) return;
      last = rows.at(-1)?.id ?? last;
      await clock.nextTurn(); // for signals of the process, which may end the list
    }
  }

  /** Throws when the database cannot be read. */
  probe(): void {
    readOrUnavailable(() => this.#length.get(''));
  }

  /**
   * Queries one row. A page that is corrupt or unreadable is a fault of its objects if other objects can be looked up.
   */
  #row<T>(sha256: string, query: () => T): T {
    try {
      return readTwice(this.#database, query);
    } catch (cause) {
      if (!isDamage(cause) && !isInputOutputError(cause)) throw unavailable('read', cause);
      this.probe();
      throw unreadable(sha256, cause);
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** The columns of a page of the list; the table is STRICT. */
type Row = {
  readonly id: number;
  readonly sha256: string;
  readonly storedAt: number;
  readonly length: number;
};
