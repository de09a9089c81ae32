import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { inTransaction } from '../../tools/sqlite/transaction.ts';
import type { EventRef } from '../view.ts';
import { quoted } from './view-schema.ts';

/** Values as JSON by view and key, after the events up to `last`; `null` removes a value. */
export type ViewChanges = {
  readonly views: readonly (readonly [
    name: string,
    rows: readonly (readonly [key: string, view: string | null])[],
  ])[];
  readonly last: EventRef;
};

/** Prepared statements that write the rows of a view file. */
export class ViewStatements {
  readonly #database: DatabaseSync;
  readonly #ofViews = new Map<string, Record<'put' | 'remove', StatementSync>>();
  readonly #move: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#move = database.prepare('UPDATE about SET last_seen = ?');
  }

  /** Writes all changes in one transaction. */
  write({ views, last }: ViewChanges): void {
    inTransaction(this.#database, () => {
      for (const [name, rows] of views) {
        if (rows.length === 0) continue;
        const { put, remove } = this.#of(name);
        for (const [key, view] of rows) {
          if (view === null) remove.run(key);
          else put.run(key, view);
        }
      }
      this.#move.run(JSON.stringify(last));
    });
  }

  #of(name: string): Record<'put' | 'remove', StatementSync> {
    const table = quoted(name);
    const statements = this.#ofViews.get(name) ?? {
      put: this.#database.prepare(
        `INSERT INTO ${table} (key, view) VALUES (?, ?) ON CONFLICT DO UPDATE SET view = excluded.view`,
      ),
      remove: this.#database.prepare(`DELETE FROM ${table} WHERE key = ?`),
    };
    this.#ofViews.set(name, statements);
    return statements;
  }
}
