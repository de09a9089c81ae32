import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { inTransaction } from '../../tools/sqlite/transaction.ts';
import type { EventRef } from '../view-store.ts';
import { dropViews } from './view-schema.ts';

/** Views as JSON by key, after the events up to `last`; `null` removes a view. */
export type ViewChanges = {
  readonly views: readonly (readonly [key: string, view: string | null])[];
  readonly last: EventRef;
};

export function toChanges(views: ReadonlyMap<string, unknown>, last: EventRef): ViewChanges {
  const rows = [...views].map(
    ([key, view]) => [key, view === undefined ? null : JSON.stringify(view)] as const,
  );
  return { views: rows, last };
}

/** Prepared statements that write the rows of a view file. */
export class ViewStatements {
  readonly #database: DatabaseSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #move: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#put = database.prepare(
      'INSERT INTO views (key, view) VALUES (?, ?) ON CONFLICT DO UPDATE SET view = excluded.view',
    );
    this.#remove = database.prepare('DELETE FROM views WHERE key = ?');
    this.#move = database.prepare('UPDATE about SET position = ?, last_seen = ?');
  }

  /** Writes all changes in one transaction. */
  write({ views, last }: ViewChanges): void {
    inTransaction(this.#database, () => {
      for (const [key, view] of views) {
        if (view === null) this.#remove.run(key);
        else this.#put.run(key, view);
      }
      this.#move.run(last.position, JSON.stringify(last));
    });
  }

  /** Removes all views. */
  clear(): void {
    inTransaction(this.#database, () => {
      dropViews(this.#database);
      this.#move.run(null, null);
    });
  }
}
