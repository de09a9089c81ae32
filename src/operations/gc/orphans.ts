import { objectsReferenced } from '../../deposits/objects-in-log.ts';
import { pluralize } from '../../domain/description.ts';
import type { EventLog, Position } from '../../event-log/event-log.ts';
import { listReadiness } from '../../object-store/list-readiness.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { assertSameStore } from '../../service/backends/store-binding.ts';
import { codedError } from '../../tools/coded-error.ts';
import { temporaryDatabase } from '../../tools/sqlite/temporary-database.ts';
import { objectsOf, retainedSnapshots } from '../../views/snapshots/snapshot-records.ts';

export type OrphanSearch = {
  readonly log: EventLog;
  readonly store: ObjectStore;
  /** Only objects stored before this time are orphans. It must be earlier than the start of any running upload. */
  readonly storedBefore: Date;
  readonly progress: (step: 'objects listed' | 'objects named', done: number) => void;
  /** Aborts the search with its reason. */
  readonly signal: AbortSignal;
};

export type Orphan = { readonly sha256: string; readonly length: number };

const SCHEMA = `
  CREATE TABLE named (sha256 BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE listed (sha256 BLOB PRIMARY KEY, length INTEGER NOT NULL, is_old INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE VIEW orphans AS
    SELECT sha256, length FROM listed WHERE is_old AND NOT EXISTS (SELECT 1 FROM named WHERE named.sha256 = listed.sha256);
`;

/**
 * Finds the objects that no event references. The log is read before and after the objects are listed.
 * The list must contain all objects that the events before it reference, since an object is durable before an event
 * references it. An object that an event references in the meantime is not an orphan.
 * The lists are stored on disk, so that memory does not grow with them.
 */
export class Orphans implements Disposable {
  readonly #database = temporaryDatabase(SCHEMA);
  readonly #addName = this.#database.prepare('INSERT OR IGNORE INTO named VALUES (?)');

  /**
   * @throws an error of one sentence if the store does not belong to the log, is not ready, or misses a referenced
   * object.
   */
  static async find(search: OrphanSearch): Promise<Orphans> {
    const orphans = new Orphans();
    try {
      await assertSameStore(search.log, search.store, search.signal);
      const upTo = await orphans.#addNamed(search);
      await orphans.#list(search);
      orphans.#assertWhole();
      await orphans.#addNamed(search, upTo);
      await orphans.#addSnapshots(search);
      return orphans;
    } catch (error) {
      orphans[Symbol.dispose]();
      throw error;
    }
  }

  get totals(): { readonly objects: number; readonly bytes: number; readonly listed: number } {
    const row = this.#database
      .prepare(
        'SELECT count(*) AS objects, total(length) AS bytes, (SELECT count(*) FROM listed) AS listed FROM orphans',
      )
      .get();
    return {
      objects: Number(row?.['objects']),
      bytes: Number(row?.['bytes']),
      listed: Number(row?.['listed']),
    };
  }

  *[Symbol.iterator](): IterableIterator<Orphan> {
    const all = this.#database.prepare('SELECT sha256, length FROM orphans ORDER BY sha256');
    for (const row of all.iterate())
      yield { sha256: (row['sha256'] as Uint8Array).toHex(), length: Number(row['length']) }; // STRICT
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  /** Resolves to the position of the last event that references an object. */
  async #addNamed({ log, progress, signal }: OrphanSearch, after?: Position): Promise<Position | undefined> {
    let [read, last] = [0, after];
    for await (const { sha256, position } of objectsReferenced(log, { after, signal })) {
      this.#addName.run(Buffer.from(sha256, 'hex'));
      last = position;
      progress('objects named', (read += 1));
    }
    return last;
  }

  /** Adds the snapshots of the views that new nodes may begin with. One that the store has lost is no reason to stop. */
  async #addSnapshots({ log }: OrphanSearch): Promise<void> {
    for (const sha256 of objectsOf(await retainedSnapshots(log)))
      this.#addName.run(Buffer.from(sha256, 'hex'));
  }

  async #list({ store, storedBefore, progress, signal }: OrphanSearch): Promise<void> {
    const insert = this.#database.prepare('INSERT OR IGNORE INTO listed VALUES (?, ?, ?)');
    let listed = 0;
    await assertReady(store);
    for await (const { sha256, length, storedAt } of store.list()) {
      signal.throwIfAborted();
      insert.run(Buffer.from(sha256, 'hex'), length, Number(storedAt < storedBefore));
      progress('objects listed', (listed += 1));
    }
    await assertReady(store);
  }

  #assertWhole(): void {
    const row = this.#database
      .prepare(
        'SELECT count(*) AS lacking, min(lower(hex(sha256))) AS first FROM named WHERE sha256 NOT IN (SELECT sha256 FROM listed)',
      )
      .get();
    const lacking = Number(row?.['lacking']);
    if (lacking === 0) return;
    throw codedError(
      'STORE_LACKS_OBJECTS',
      `The store does not list ${pluralize(lacking, 'object')} that events name, among them ${String(row?.['first'])}: nothing is removed. "deposit-service verify --all" names what is missing.`,
    );
  }
}

async function assertReady(store: ObjectStore): Promise<void> {
  const reason = await listReadiness(store);
  if (reason === null) return;
  throw codedError(
    'STORE_NOT_READY',
    `The list of objects may be incomplete, so nothing is removed: ${reason}`,
  );
}
