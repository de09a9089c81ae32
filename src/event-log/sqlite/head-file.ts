import { closeSync, constants, openSync, readSync, statSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { EventLogRefused } from '../event-log-refused.ts';

/** The last event that is known to be durable. `hash` is its `metadata.hash`, or `-`. */
export type Head = { readonly position: number; readonly id: string; readonly hash: string };

/** Two slots, each in a disk block of its own, so that a write torn by a power cut leaves the other one whole. */
const SLOT_DISTANCE = 4_096;
const SLOTS = [0, SLOT_DISTANCE];
const SLOT_SIZE = 512;

/**
 * `<file>.head` remembers how far the log had come, since SQLite drops commits behind a damaged WAL frame without
 * a word. It may lag behind the log but never lead it: it is written after the commit, and needs no sync of its
 * own because an older or torn record only says less. The caller holds the log's write lock, so with several
 * processes the records never go backwards.
 */
export function writeHead(file: string, head: Head): void {
  const descriptor = openSync(headFile(file), constants.O_RDWR | constants.O_CREAT, 0o644);
  try {
    const [first, second] = SLOTS.map((offset) => readSlot(descriptor, offset)?.position ?? 0) as [
      number,
      number,
    ];
    const older = first <= second ? 0 : 1;
    writeSync(descriptor, encode(head), 0, null, SLOTS[older]);
  } finally {
    closeSync(descriptor);
  }
}

/** The newest whole record; undefined when there is none. @throws {EventLogRefused} */
export function readHead(file: string): Head | undefined {
  const descriptor = openIfThere(headFile(file));
  if (descriptor === undefined) return undefined;
  try {
    const heads = SLOTS.map((offset) => readSlot(descriptor, offset)).filter((head) => head !== undefined);
    return heads.sort((a, b) => b.position - a.position)[0];
  } finally {
    closeSync(descriptor);
  }
}

/** What is neither a whole record nor empty: torn by a power cut, or altered. The next appends write it anew. @throws {EventLogRefused} */
export function headFileFaults(file: string): string[] {
  const descriptor = openIfThere(headFile(file));
  if (descriptor === undefined) return [];
  try {
    return SLOTS.flatMap((offset) => {
      const bytes = Buffer.alloc(SLOT_DISTANCE);
      const length = readSync(descriptor, bytes, 0, SLOT_DISTANCE, offset);
      const written = bytes.subarray(0, bytes.indexOf('\n') + 1);
      const isWhole = length === 0 || readSlot(descriptor, offset) !== undefined;
      const isEmptyBehind = bytes.subarray(written.length).every((byte) => byte === 0);
      return isWhole && isEmptyBehind ? [] : [`the record at byte ${offset} is not whole`];
    });
  } finally {
    closeSync(descriptor);
  }
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

/** A whole slot, so that nothing of what it held before stays behind the line. */
function encode({ position, id, hash }: Head): Buffer {
  const content = `${position} ${id} ${hash}`;
  const slot = Buffer.alloc(SLOT_SIZE);
  slot.write(`${content} ${crc32(content)}\n`);
  return slot;
}

function readSlot(descriptor: number, offset: number): Head | undefined {
  const slot = Buffer.alloc(SLOT_SIZE);
  const length = readSync(descriptor, slot, 0, SLOT_SIZE, offset);
  const line = /^(\d+) (\S+) (\S+) (\d+)\n/.exec(slot.toString('latin1', 0, length));
  if (!line) return undefined;
  const [, position = '', id = '', hash = '', sum] = line;
  return crc32(`${position} ${id} ${hash}`) === Number(sum)
    ? { position: Number(position), id, hash }
    : undefined;
}

/** @throws {EventLogRefused} a folder, say, is in its place: no append could write to it. */
function openIfThere(file: string): number | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return undefined;
  if (found.isFile()) return openSync(file, constants.O_RDONLY);
  throw new EventLogRefused(
    'LOG_DAMAGED',
    `${file}, where the end of the event log is remembered, is no file: remove it, and the next append makes it again.`,
  );
}
