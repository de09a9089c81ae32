import { existsSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { SqliteStorage } from '../../testing/eventstoredb-double/storage/sqlite-storage.ts';

/** More bytes than an event of the service has: the double has events at positions that are further apart than this. */
const POSITIONS = 1_000_000;
/** Hundreds of nanoseconds from 1970 to 2026. */
const CREATED = 17_672_256_000_000_000n;

/**
 * Writes the events of an embedded log, in their order, into a file that the double of EventStoreDB serves from disk. An
 * existing file is reused.
 */
export function writeDoubleFile(logFile: string, file: string): void {
  if (existsSync(file)) return;
  const unfinished = `${file}.new`;
  rmSync(unfinished, { force: true });
  new SqliteStorage(unfinished)[Symbol.dispose](); // creates the tables
  copyEvents(logFile, unfinished);
  renameSync(unfinished, file);
}

function copyEvents(logFile: string, file: string): void {
  using database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  database.prepare('ATTACH ? AS log').run(logFile);
  database.exec(`
    INSERT INTO main.streams (number, name, next)
      SELECT stream, name, max(revision) + 1 FROM log.events JOIN log.streams ON streams.id = stream GROUP BY stream;
    INSERT INTO main.events (position, stream, revision, id, type, contentType, data, metadata, created)
      SELECT position * ${POSITIONS}, stream, revision, ${uuidSql('hex(id)')}, type, 'application/json',
        CAST(data AS BLOB), CAST(metadata AS BLOB), ${CREATED}
      FROM log.events ORDER BY position`);
}

/** Returns the SQL of a UUID with hyphens, from that of its 32 hex digits. */
function uuidSql(hex: string): string {
  const parts = [
    [1, 8],
    [9, 4],
    [13, 4],
    [17, 4],
    [21, 12],
  ].map(([from, length]) => `substr(lower(${hex}), ${from}, ${length})`);
  return parts.join(` || '-' || `);
}
