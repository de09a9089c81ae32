import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Overwrites the first page of a table or index in a file of views that no process has open. Returns its number. */
export function damageRootOf(file: string, table: string): number {
  using database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const { rootpage } = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table) as {
    rootpage: number;
  };
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(255, (rootpage - 1) * 4096, rootpage * 4096));
  return rootpage;
}
