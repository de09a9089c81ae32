import type { DatabaseSync } from 'node:sqlite';
import { EventLogUnusable } from '../event-log.ts';

/** Marks the file as an event log of this service ("dpel"), so that no other SQLite file is mistaken for one. */
export const APPLICATION_ID = 0x6470656c;
export const VERSION = 1;

/**
 * `position` is the rowid: rows are never deleted and one writer holds the lock at a time, so positions grow in the
 * order of the commits and have no gaps. Events reference streams by integers, for short rows and a short index.
 */
export const SCHEMA = `
  CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    id BLOB NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    metadata TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX events_by_stream ON events (stream, revision);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`;

/**
 * Creates the schema in an empty file. Runs inside a transaction of the caller, so that two processes that start at
 * once do not both create it.
 */
export function createSchemaIfEmpty(db: DatabaseSync): void {
  if (isEmpty(db)) db.exec(SCHEMA);
}

/** @returns false when the file is empty */
export function hasKnownSchema(db: DatabaseSync, file: string): boolean {
  if (isEmpty(db)) return false;
  const application = pragma(db, 'application_id');
  const version = pragma(db, 'user_version');
  if (application === APPLICATION_ID && version === VERSION) return true;
  const text =
    application === APPLICATION_ID
      ? `is an event log of format ${String(version)}, this release reads format ${VERSION}: start the release that wrote it`
      : 'is another SQLite file, not an event log: name the file of the log';
  throw new EventLogUnusable('LOG_FORMAT_UNKNOWN', `${file} ${text}.`);
}

function isEmpty(db: DatabaseSync): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}

function pragma(db: DatabaseSync, name: string): unknown {
  return db.prepare(`PRAGMA ${name}`).get()?.[name];
}
