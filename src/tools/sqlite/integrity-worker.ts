import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { ExpectedSqliteFile, IntegrityRequest } from './integrity.ts';
import { type OpenedToRead, openedToRead } from './reading.ts';

const BUSY_MS = 5000;
/** Maximum number of reported faults of one file; one corrupt page can have thousands. */
const MAX_FAULTS = 100;

const { file, expected } = workerData as IntegrityRequest;
parentPort?.postMessage(faults(file, expected).slice(0, MAX_FAULTS));

/** Runs all checks separately: an error in one must not hide the faults that another finds. */
function faults(file: string, { schema, pragmas, nothing }: ExpectedSqliteFile): string[] {
  const found = opened(file);
  if (typeof found === 'string') return [found];
  const { database } = found;
  try {
    return [
      ...attempt(() => integrity(database)),
      ...attempt(() => schemaFaults(database, schema)),
      ...Object.entries(pragmas).flatMap(([name, wanted]) =>
        attempt(() => pragmaFaults(found, name, wanted)),
      ),
      ...nothing.flatMap(({ sql, text }) =>
        attempt(() =>
          database
            .prepare(sql)
            .all()
            .map((row) => `${text}: ${Object.values(row).join(', ')}`),
        ),
      ),
    ].filter((text, index, all) => all.indexOf(text) === index);
  } finally {
    database.close();
  }
}

function opened(file: string): OpenedToRead | string {
  try {
    return openedToRead(file, BUSY_MS);
  } catch (error) {
    return (error as Error).message;
  }
}

function integrity(database: DatabaseSync): string[] {
  const rows = database.prepare(`PRAGMA integrity_check(${MAX_FAULTS})`).all();
  const texts = rows.flatMap((row) => String(row['integrity_check']).split('\n'));
  return texts.filter((text) => text !== 'ok' && !text.startsWith('***'));
}

function schemaFaults(database: DatabaseSync, schema: string): string[] {
  const fresh = new DatabaseSync(':memory:');
  fresh.exec(schema);
  const [wanted, found] = [fresh, database].map(schemaOf) as [string[], string[]];
  fresh.close();
  return [
    ...wanted.filter((entry) => !found.includes(entry)).map((entry) => `its schema lacks ${entry}`),
    ...found.filter((entry) => !wanted.includes(entry)).map((entry) => `its schema has ${entry}`),
  ];
}

/**
 * Returns the schema with normalised white space: older releases indented it differently, and SQLite stores the
 * original text.
 */
function schemaOf(database: DatabaseSync): string[] {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').all();
  return rows.map((row) =>
    JSON.stringify(
      Object.values(row).map((value) => (typeof value === 'string' ? value.replace(/\s+/g, ' ') : value)),
    ),
  );
}

function pragmaFaults(
  { database, journalMode }: OpenedToRead,
  name: string,
  wanted: string | number,
): string[] {
  const found = name === 'journal_mode' ? journalMode() : database.prepare(`PRAGMA ${name}`).get()?.[name];
  return found === wanted ? [] : [`${name} is ${String(found)}, not ${wanted}`];
}

function attempt(step: () => string[]): string[] {
  try {
    return step();
  } catch (error) {
    return [(error as Error).message];
  }
}
