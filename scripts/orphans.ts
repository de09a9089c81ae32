import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ArchiveStore } from '../src/archive-store/archive-store.ts';
import { deposits } from '../src/domain/aggregates.ts';
import { namedObjects } from '../src/domain/deposit/named-objects.ts';
import type { EventLog } from '../src/event-log/event-log.ts';

export type OrphanSearch = {
  readonly log: EventLog;
  readonly store: ArchiveStore;
  /** Only objects stored before it; further back than any upload may take until the event that names it. */
  readonly storedBefore: Date;
  /** Where the list of objects is kept meanwhile. */
  readonly temporaryFolder: string;
  readonly progress: (step: 'objects listed' | 'events read', done: number) => void;
  /** Ends the search with its reason. */
  readonly signal: AbortSignal;
};

export type Orphan = { readonly sha256: string; readonly length: number };

/**
 * Finds the objects that no event names. First the objects are listed, then the log is read to its end: so what an
 * event comes to name meanwhile is no orphan. The list lies on disk; memory does not grow with it.
 */
export class Orphans implements Disposable {
  readonly #folder: string;
  readonly #database: DatabaseSync;

  static async find(search: OrphanSearch): Promise<Orphans> {
    const orphans = new Orphans(search.temporaryFolder);
    try {
      await orphans.#list(search);
      await orphans.#removeNamed(search);
      return orphans;
    } catch (error) {
      orphans[Symbol.dispose]();
      throw error;
    }
  }

  private constructor(temporaryFolder: string) {
    this.#folder = mkdtempSync(path.join(temporaryFolder, 'orphans-'));
    this.#database = new DatabaseSync(path.join(this.#folder, 'objects.sqlite'));
    this.#database.exec(`
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
      CREATE TABLE objects (sha256 BLOB PRIMARY KEY, length INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    `);
  }

  get totals(): { readonly objects: number; readonly bytes: number } {
    const row = this.#database
      .prepare('SELECT count(*) AS objects, total(length) AS bytes FROM objects')
      .get();
    return { objects: Number(row?.['objects']), bytes: Number(row?.['bytes']) };
  }

  *[Symbol.iterator](): IterableIterator<Orphan> {
    const next = this.#database.prepare(
      'SELECT sha256, length FROM objects WHERE sha256 > ? ORDER BY sha256 LIMIT 500',
    );
    for (let after = Buffer.alloc(0); ; ) {
      const rows = next.all(after);
      for (const row of rows) {
        after = Buffer.from(row['sha256'] as Uint8Array);
        yield { sha256: after.toString('hex'), length: Number(row['length']) };
      }
      if (rows.length === 0) return;
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #list({ store, storedBefore, progress, signal }: OrphanSearch): Promise<void> {
    const insert = this.#database.prepare('INSERT OR IGNORE INTO objects VALUES (?, ?)');
    let listed = 0;
    this.#database.exec('BEGIN');
    for await (const { sha256, length, storedAt } of store.list()) {
      signal.throwIfAborted();
      if (storedAt < storedBefore) insert.run(Buffer.from(sha256, 'hex'), length);
      progress('objects listed', (listed += 1));
    }
    this.#database.exec('COMMIT');
  }

  async #removeNamed({ log, progress, signal }: OrphanSearch): Promise<void> {
    const remove = this.#database.prepare('DELETE FROM objects WHERE sha256 = ?');
    let read = 0;
    this.#database.exec('BEGIN');
    for await (const stored of log.readAll({ streamPrefixes: [deposits.prefix], signal })) {
      for (const sha256 of namedObjects(deposits.codec.read(stored))) remove.run(Buffer.from(sha256, 'hex'));
      progress('events read', (read += 1));
    }
    this.#database.exec('COMMIT');
  }
}
