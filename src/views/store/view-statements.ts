import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { inTransaction } from '../../tools/sqlite/transaction.ts';
import type { EventRef } from '../view.ts';
import { quoted, undoInMemory } from './view-schema.ts';

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
  readonly #lastSeen: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    undoInMemory(database);
    this.#move = database.prepare('UPDATE about SET last_seen = ?');
    this.#lastSeen = database.prepare('SELECT last_seen FROM about');
  }

  /** Writes all changes in one transaction, unless another connection has written them with later ones. */
  write({ views, last }: ViewChanges): void {
    inTransaction(this.#database, () => {
      const stored = lastSeenIn(this.#lastSeen.get());
      if (stored !== undefined && stored.position >= last.position) return;
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

/** Returns the event that the row of metadata names as the last applied one. */
export function lastSeenIn(about: Readonly<Record<string, unknown>> | undefined): EventRef | undefined {
  const stored = about?.['last_seen'];
  return typeof stored === 'string' ? (JSON.parse(stored) as EventRef) : undefined; // as write() stores it
}
