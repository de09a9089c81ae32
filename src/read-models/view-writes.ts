import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { inTransaction } from '../sqlite/transaction.ts';
import { dropViews } from './view-schema.ts';
import type { Seen } from './view-store.ts';

/** Views as JSON by key, `null` where there is none any more, as they are when the log is in the table up to `last`. */
export type ViewChanges = {
  readonly views: readonly (readonly [key: string, view: string | null])[];
  readonly last: Seen;
};

export function toChanges(views: ReadonlyMap<string, unknown>, last: Seen): ViewChanges {
  const rows = [...views].map(
    ([key, view]) => [key, view === undefined ? null : JSON.stringify(view)] as const,
  );
  return { views: rows, last };
}

/** What writes the rows of a file of views. */
export class ViewWrites {
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

  /** In one transaction. */
  write({ views, last }: ViewChanges): void {
    inTransaction(this.#database, () => {
      for (const [key, view] of views) {
        if (view === null) this.#remove.run(key);
        else this.#put.run(key, view);
      }
      this.#move.run(last.position, JSON.stringify(last));
    });
  }

  /** All views go. */
  clear(): void {
    inTransaction(this.#database, () => {
      dropViews(this.#database);
      this.#move.run(null, null);
    });
  }
}
