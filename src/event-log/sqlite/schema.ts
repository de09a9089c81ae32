import type { DatabaseSync } from 'node:sqlite';
import { EventLogRefused } from '../event-log-refused.ts';

/** Marks the file as ours ("dpel"), so that no other SQLite file is taken for an event log. */
export const APPLICATION_ID = 0x6470656c;
export const VERSION = 1;

/**
 * `position` is the rowid: rows are never deleted and one writer holds the lock at a time, so positions grow in
 * the order of the commits and have no gaps. Streams are integers in events: short rows, a short index.
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

/** Inside a transaction of the caller, so two processes that start at once do not both create. */
export function createSchemaIfEmpty(db: DatabaseSync): void {
  if (isEmpty(db)) db.exec(SCHEMA);
}

/** @returns false when the file holds nothing yet */
export function hasKnownSchema(db: DatabaseSync, file: string): boolean {
  if (isEmpty(db)) return false;
  const application = pragma(db, 'application_id');
  const version = pragma(db, 'user_version');
  if (application === APPLICATION_ID && version === VERSION) return true;
  const text =
    application === APPLICATION_ID
      ? `is an event log of format ${String(version)}, this release reads format ${VERSION}: start the release that made it`
      : 'is another SQLite file, not an event log: name the file of the log';
  throw new EventLogRefused('LOG_FORMAT_UNKNOWN', `${file} ${text}.`);
}

function isEmpty(db: DatabaseSync): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}

function pragma(db: DatabaseSync, name: string): unknown {
  return db.prepare(`PRAGMA ${name}`).get()?.[name];
}
