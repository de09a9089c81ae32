import { hash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { uuidOf } from '../../src/event-log/uuid.ts';
import type { ServerLog } from '../cluster/server-log.ts';
import { type NewEvent, nameOf } from '../cluster/stored-event.ts';
import { keyOf } from '../history/lost-objects.ts';
import type { S3Server } from '../network/s3-server.ts';
import { prepareReliably, type SimulatedDisk } from './disk.ts';

type Row = {
  readonly position: number;
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
};

const ROWS = `SELECT position, lower(hex(e.id)) AS id, s.name AS stream, type, data, metadata
  FROM events e JOIN streams s ON s.id = e.stream WHERE position > ? ORDER BY position`;

/** Returns what adds the events of each commit to a log in memory. */
export function mirrorOf(log: ServerLog): (database: DatabaseSync) => void {
  const statements = new WeakMap<DatabaseSync, StatementSync>();
  return (database) => {
    const statement = statements.getOrInsertComputed(database, () => prepareReliably(database, ROWS));
    for (const { stream, ...row } of rowsAfter(statement, log.last)) log.commit(stream, [toEvent(row)]);
  };
}

/** Returns how the log on a disk differs from what was committed, and puts its whole objects into a store in memory. */
export function faultsOfEmbedded(disk: SimulatedDisk, log: ServerLog, store: S3Server): string[] {
  const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite');
  const archives = path.join(disk.folder, 'archives');
  const put = (sha256: string, bytes: Uint8Array): void => {
    if (hash('sha256', bytes) === sha256) store.put(keyOf(sha256), Buffer.alloc(0));
  };
  using small = new Database(disk.locationOf(path.join(archives, 'small.sqlite')));
  for (const { sha256, bytes } of small.prepare('SELECT sha256, bytes FROM small_object').all())
    put(String(sha256), bytes as Uint8Array); // as the column is
  for (const name of fs.readdirSync(path.join(archives, 'v1'), { recursive: true }).map(String))
    if (/^[0-9a-f]{64}$/.test(path.basename(name)))
      put(path.basename(name), fs.readFileSync(path.join(archives, 'v1', name)));
  using database = new Database(disk.locationOf(path.join(disk.folder, 'event-log.sqlite')));
  const stored = rowsAfter(database.prepare(ROWS), 0).map(({ position, id }) => `${position} ${uuidOf(id)}`);
  const committed = log.events.map((event) => ({ event, line: `${event.number} ${event.id}` }));
  const missing = committed.filter(({ line }, index) => stored[index] !== line);
  const more = stored.length - committed.length;
  return [
    ...missing.map(({ event }) => `${nameOf(event)} was committed and is not in the file`),
    ...(more > 0 ? [`the file holds ${more} events that were never committed`] : []),
  ];
}

function rowsAfter(statement: StatementSync, position: number): readonly Row[] {
  return statement.all(position) as unknown as Row[]; // as the columns are
}

function toEvent({ id, type, data, metadata }: Omit<Row, 'stream'>): NewEvent {
  return { id: uuidOf(id), type, data: JSON.parse(data), metadata: JSON.parse(metadata) };
}
