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

/**
 * Returns a function that writes all changes in one transaction, by prepared statements, unless another connection has
 * written them with later ones.
 */
export function changeWriter(database: DatabaseSync): (changes: ViewChanges) => void {
  undoInMemory(database);
  const move = database.prepare('UPDATE about SET last_seen = ?');
  const lastSeen = database.prepare('SELECT last_seen FROM about');
  /** By their SQL text, prepared at their first use: most views of a file never lose a row. */
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string) => statements.getOrInsertComputed(sql, () => database.prepare(sql));
  return ({ views, last }) =>
    inTransaction(database, () => {
      const stored = lastSeenIn(lastSeen.get());
      if (stored !== undefined && stored.position >= last.position) return;
      for (const [name, rows] of views) {
        const table = quoted(name);
        for (const [key, view] of rows) {
          if (view === null) statement(`DELETE FROM ${table} WHERE key = ?`).run(key);
          else
            statement(
              `INSERT INTO ${table} (key, view) VALUES (?, ?) ON CONFLICT DO UPDATE SET view = excluded.view`,
            ).run(key, view);
        }
      }
      move.run(JSON.stringify(last));
    });
}

/** Returns the event that the row of metadata names as the last applied one. */
export function lastSeenIn(about: Readonly<Record<string, unknown>> | undefined): SeenEvent | undefined {
  const stored = about?.['last_seen'];
  return typeof stored === 'string' ? (JSON.parse(stored) as SeenEvent) : undefined; // as the writer stores it
}
