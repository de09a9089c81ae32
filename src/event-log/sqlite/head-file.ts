import type { DatabaseSync } from 'node:sqlite';
import { newestSlot, slotFaults, writeSlot } from '../../sqlite/slots.ts';
import { files } from '../../tools/files.ts';
import { EventLogRefused } from '../event-log-refused.ts';

/** The last event that is known to be durable. `hash` is its `metadata.hash`, or `-`. */
export type Head = { readonly position: number; readonly id: string; readonly hash: string };

/**
 * `<file>.head` remembers how far the log had come, since SQLite drops commits behind a damaged WAL frame without
 * a word. It may lag behind the log but never lead it: it is written after the commit, and needs no sync of its
 * own because an older or torn record only says less. The caller holds the log's write lock, so with several
 * processes the records never go backwards.
 */
export function writeHead(file: string, { position, id, hash }: Head): void {
  writeSlot(headFile(file), { number: position, words: [id, hash] });
}

/** The newest whole record; undefined when there is none. @throws {EventLogRefused} */
export function readHead(file: string): Head | undefined {
  const record = isThere(file) ? newestSlot(headFile(file)) : undefined;
  const [id, hash] = record?.words ?? [];
  return record && id !== undefined && hash !== undefined ? { position: record.number, id, hash } : undefined;
}

/** What is neither a whole record nor empty: torn by a power cut, or altered. The next appends write it anew. @throws {EventLogRefused} */
export function headFileFaults(file: string): string[] {
  return isThere(file) ? slotFaults(headFile(file)) : [];
}

/** To be asked again and again. */
export function lastEventOf(db: DatabaseSync): () => Head | undefined {
  const last = db.prepare(`${SELECT_HEAD} ORDER BY position DESC LIMIT 1`);
  return () => toHead(last.get());
}

export function eventAt(db: DatabaseSync, position: number): Head | undefined {
  return toHead(db.prepare(`${SELECT_HEAD} WHERE position = ?`).get(position));
}

const SELECT_HEAD = `SELECT position, lower(hex(id)) AS id, metadata ->> '$.hash' AS hash FROM events`;

function toHead(row: Record<string, unknown> | undefined): Head | undefined {
  if (!row) return undefined;
  const { position, id, hash } = row;
  return { position: Number(position), id: String(id), hash: writable(hash) };
}

/** A hash that would not fit the line of a slot is left out; the id still tells events apart. */
function writable(hash: unknown): string {
  return typeof hash === 'string' && /^[!-~]{1,256}$/.test(hash) ? hash : '-';
}

function headFile(file: string): string {
  return `${file}.head`;
}

/** @throws {EventLogRefused} a folder, say, is in its place: no append could write to it. */
function isThere(file: string): boolean {
  const found = files.statSync(headFile(file), { throwIfNoEntry: false });
  if (!found || found.isFile()) return found !== undefined;
  throw new EventLogRefused(
    'LOG_DAMAGED',
    `${headFile(file)}, where the end of the event log is remembered, is no file: remove it, and the next append makes it again.`,
  );
}
