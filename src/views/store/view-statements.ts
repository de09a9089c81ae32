import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SeenEvent } from '../../event-log/event-log.ts';
import { inTransaction } from '../../tools/sqlite/transaction.ts';
import { quoted, undoInMemory } from './view-schema.ts';

/** Values as JSON by view and key, after the events up to `last`; `null` removes a value. */
export type ViewChanges = {
  readonly views: readonly (readonly [
    name: string,
    rows: readonly (readonly [key: string, view: string | null])[],
  ])[];
  readonly last: SeenEvent;
};

/** Prepared statements that write the rows of a view file. */
export class ViewStatements {
  readonly #database: DatabaseSync;
  /** By their SQL text, prepared at their first use: most views of a file never lose a row. */
  readonly #statements = new Map<string, StatementSync>();
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
        const table = quoted(name);
        for (const [key, view] of rows) {
          if (view === null) this.#statement(`DELETE FROM ${table} WHERE key = ?`).run(key);
          else
            this.#statement(
              `INSERT INTO ${table} (key, view) VALUES (?, ?) ON CONFLICT DO UPDATE SET view = excluded.view`,
            ).run(key, view);
        }
      }
      this.#move.run(JSON.stringify(last));
    });
  }

  #statement(sql: string): StatementSync {
    return this.#statements.getOrInsertComputed(sql, () => this.#database.prepare(sql));
  }
}

/** Returns the event that the row of metadata names as the last applied one. */
export function lastSeenIn(about: Readonly<Record<string, unknown>> | undefined): SeenEvent | undefined {
  const stored = about?.['last_seen'];
  return typeof stored === 'string' ? (JSON.parse(stored) as SeenEvent) : undefined; // as write() stores it
}
