import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Position } from '../event-log/event-log.ts';
import { inTransaction } from '../sqlite-transaction.ts';

/** Views as JSON by key, `null` where there is none any more, as they are when the log is in the table up to `position`. */
export type ViewChanges = {
  readonly views: readonly (readonly [key: string, view: string | null])[];
  readonly position: Position | undefined;
};

export function toChanges(views: ReadonlyMap<string, unknown>, position: Position | undefined): ViewChanges {
  const rows = [...views].map(
    ([key, view]) => [key, view === undefined ? null : JSON.stringify(view)] as const,
  );
  return { views: rows, position };
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
    this.#move = database.prepare('UPDATE about SET position = ?');
  }

  /** In one transaction. */
  write({ views, position }: ViewChanges): void {
    inTransaction(this.#database, () => {
      for (const [key, view] of views) {
        if (view === null) this.#remove.run(key);
        else this.#put.run(key, view);
      }
      this.#move.run(position ?? null);
    });
  }

  /** All views go. */
  clear(others: readonly string[]): void {
    inTransaction(this.#database, () => {
      for (const table of ['views', ...others]) this.#database.exec(`DELETE FROM ${table}`);
      this.#move.run(null);
    });
  }
}
