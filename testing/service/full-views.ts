import { DatabaseSync } from 'node:sqlite';

/**
 * Makes writes to the file of the views fail with SQLite's own “database or disk is full”: a trigger of each write
 * requests a row after the last one that a table can have. Disposal ends it.
 */
export function fullViews(file: string): Disposable {
  change(
    file,
    `CREATE TABLE no_room (id INTEGER PRIMARY KEY AUTOINCREMENT);
    INSERT INTO no_room VALUES (9223372036854775807);
    CREATE TRIGGER full_disk BEFORE UPDATE ON about BEGIN INSERT INTO no_room VALUES (NULL); END;`,
  );
  return { [Symbol.dispose]: () => change(file, 'DROP TRIGGER full_disk; DROP TABLE no_room') };
}

function change(file: string, sql: string): void {
  using database = new DatabaseSync(file, { timeout: 5000 });
  database.exec(`BEGIN IMMEDIATE; ${sql}; COMMIT`);
}
