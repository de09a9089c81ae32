import { temporaryDatabase } from '../../tools/sqlite/temporary-database.ts';

/** An object that is missing, corrupt or unreadable in the source, or that the target does not accept. */
export type FailedObject = { readonly sha256: string; readonly isNamed: boolean; readonly reason: string };

/** `was_missing` is what `is_missing` was before the copy. */
const SCHEMA = `
  CREATE TABLE objects (
    sha256 BLOB PRIMARY KEY, length INTEGER, is_named INTEGER NOT NULL, was_missing INTEGER NOT NULL DEFAULT 0,
    is_missing INTEGER NOT NULL DEFAULT 1, failure TEXT
  ) STRICT, WITHOUT ROWID;
`;
const PAGE = 500;
const CONDITIONS = { all: 'TRUE', missing: 'is_missing' } as const;

/**
 * The objects that a copy is to contain, and what became of each. They are stored on disk, so that memory does not grow
 * with their number.
 */
export class ObjectTable implements Disposable {
  readonly #database = temporaryDatabase(SCHEMA);
  readonly #add = this.#database.prepare(
    'INSERT OR IGNORE INTO objects (sha256, length, is_named) VALUES (?, ?, 0)',
  );
  readonly #addNamed = this.#database.prepare(
    'INSERT INTO objects (sha256, is_named) VALUES (?, 1) ON CONFLICT DO UPDATE SET is_named = 1',
  );
  readonly #find = this.#database.prepare(
    'UPDATE objects SET length = ?2, is_missing = 0 WHERE sha256 = ?1 AND ifnull(length, ?2) = ?2',
  );
  readonly #setLength = this.#database.prepare('UPDATE objects SET length = ?2 WHERE sha256 = ?1');
  readonly #setFailure = this.#database.prepare('UPDATE objects SET failure = ?2 WHERE sha256 = ?1');
  readonly #remove = this.#database.prepare('DELETE FROM objects WHERE sha256 = ?');
  readonly #has = this.#database.prepare('SELECT is_named FROM objects WHERE sha256 = ?');

  [Symbol.dispose](): void {
    this.#database.close();
  }

  add(sha256: string, length: number): void {
    this.#add.run(bytesOf(sha256), length);
  }

  /** Adds an object that an event references; its length is not known unless the source lists it. */
  addNamed(sha256: string): void {
    this.#addNamed.run(bytesOf(sha256));
  }

  has(sha256: string): boolean {
    return this.#has.get(bytesOf(sha256)) !== undefined;
  }

  /** Must be called before the objects of the target are listed again. */
  forgetTarget(): void {
    this.#database.exec('UPDATE objects SET is_missing = 1');
  }

  /** Records that the target lists an object; one of another length stays missing. */
  foundInTarget(sha256: string, length: number): void {
    this.#find.run(bytesOf(sha256), length);
  }

  /** Must be called once the objects of the target are listed, before any is copied. */
  beginCopy(): void {
    this.#database.exec('UPDATE objects SET was_missing = is_missing');
  }

  setLength(sha256: string, length: number): void {
    this.#setLength.run(bytesOf(sha256), length);
  }

  setFailure(sha256: string, reason: string): void {
    this.#setFailure.run(bytesOf(sha256), reason);
  }

  remove(sha256: string): void {
    this.#remove.run(bytesOf(sha256));
  }

  isNamed(sha256: string): boolean {
    return this.#has.get(bytesOf(sha256))?.['is_named'] === 1;
  }

  count(which: keyof typeof CONDITIONS): number {
    const sql = `SELECT count(*) AS count FROM objects WHERE failure IS NULL AND ${CONDITIONS[which]}`;
    return Number(this.#database.prepare(sql).get()?.['count']);
  }

  /** Yields the objects that have not failed. The table may change meanwhile. */
  *each(which: keyof typeof CONDITIONS): Generator<string> {
    const page = this.#database.prepare(
      `SELECT sha256 FROM objects WHERE sha256 > ? AND failure IS NULL AND ${CONDITIONS[which]} ORDER BY sha256 LIMIT ${PAGE}`,
    );
    for (let after = new Uint8Array(); ; ) {
      const rows = page.all(after);
      if (rows.length === 0) return;
      for (const row of rows) {
        after = row['sha256'] as Uint8Array<ArrayBuffer>; // STRICT
        yield after.toHex();
      }
    }
  }

  /** Returns the counts of the objects that have not failed. */
  totals(): { readonly objects: number; readonly bytes: number; readonly copied: number } {
    const row = this.#database
      .prepare(
        `SELECT count(*) AS objects, ifnull(sum(length), 0) AS bytes, ifnull(sum(was_missing), 0) AS copied
         FROM objects WHERE failure IS NULL`,
      )
      .get();
    return {
      objects: Number(row?.['objects']),
      bytes: Number(row?.['bytes']),
      copied: Number(row?.['copied']),
    };
  }

  failed(): readonly FailedObject[] {
    return this.#database
      .prepare('SELECT sha256, is_named, failure FROM objects WHERE failure IS NOT NULL')
      .all()
      .map((row) => ({
        sha256: (row['sha256'] as Uint8Array).toHex(), // STRICT
        isNamed: row['is_named'] === 1,
        reason: String(row['failure']),
      }));
  }
}

function bytesOf(sha256: string): Buffer {
  return Buffer.from(sha256, 'hex');
}
