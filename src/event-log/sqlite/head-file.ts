import type { DatabaseSync } from 'node:sqlite';
import { syncName } from '../../tools/files/make-directory.ts';
import { withDescriptor } from '../../tools/files/with-descriptor.ts';
import { files } from '../../tools/files.ts';
import { newestSlot, slotFaults, writeSlot } from '../../tools/sqlite/slots.ts';
import { EventLogUnusable } from '../event-log.ts';

/** The last event that is known to be durable. `hash` is its `metadata.hash`, or `-`. */
export type Head = { readonly position: number; readonly id: string; readonly hash: string };

/**
 * Records the head of the log in `<file>.head`, since SQLite silently drops commits after a corrupt WAL frame. The
 * record may lag behind the log but never lead it: it is written after the commit. It needs no sync of its own, because
 * an older or torn record only says less; {@link syncHead} follows when the log is closed. The caller holds the log's
 * write lock, so with several processes the records never go backwards.
 */
export function writeHead(file: string, { position, id, hash }: Head): void {
  writeSlot(headFile(file), () => ({ number: position, words: [id, hash] }));
}

/**
 * Replaces each torn record, as a power cut may leave them, and writes one if there is no record. The caller holds the
 * write lock, as for {@link writeHead}.
 */
export function repairHead(file: string, head: Head): void {
  if (readHead(file) === undefined) writeHead(file, head);
  for (const _torn of headFileFaults(file)) writeHead(file, head);
}

/** Makes the record and its name durable before the log is closed: after a backup, for example, no append follows. */
export function syncHead(file: string): void {
  if (!isThere(file)) return;
  withDescriptor(headFile(file), 'r', files.fsyncSync);
  syncName(headFile(file));
}

/** Returns the newest complete record; undefined when there is no record. @throws {EventLogUnusable} */
export function readHead(file: string): Head | undefined {
  const record = isThere(file) ? newestSlot(headFile(file)) : undefined;
  const [id, hash] = record?.words ?? [];
  return record && id !== undefined && hash !== undefined ? { position: record.number, id, hash } : undefined;
}

/**
 * Describes records that are neither complete nor empty: torn by a power cut, or altered. They are repaired when the
 * log is opened. @throws {EventLogUnusable}
 */
export function headFileFaults(file: string): string[] {
  return isThere(file) ? slotFaults(headFile(file)) : [];
}

/** Prepares a query for the last event, for repeated use. */
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

/**
 * Returns the hash as it is recorded; `-` if it would not fit the line of a slot. The id still distinguishes events.
 */
function writable(hash: unknown): string {
  return typeof hash === 'string' && /^[!-~]{1,256}$/.test(hash) ? hash : '-';
}

function headFile(file: string): string {
  return `${file}.head`;
}

/** @throws {EventLogUnusable} the path is not a file (for example a folder): no append could write to it. */
function isThere(file: string): boolean {
  const found = files.statSync(headFile(file), { throwIfNoEntry: false });
  if (!found || found.isFile()) return found !== undefined;
  throw new EventLogUnusable(
    'LOG_DAMAGED',
    `${headFile(file)}, which records the end of the event log, is not a file: remove it, and the next append creates it again.`,
  );
}
