import { messageOf } from '../../tools/coded-error.ts';
import type { Json, JsonObject, Position } from '../event-log.ts';
import { isNestedTooDeeply } from '../integrity/hash-chain.ts';
import type { AuditedRecord } from '../integrity/log-audit.ts';
import { toPosition } from '../position.ts';
import { uuidOf } from '../uuid.ts';

/**
 * Selects contents as bytes, so that invalid UTF-8 is visible. The stream is an outer join, so that no event is lost.
 */
export const AUDITED_ROW = `
  SELECT e.position, s.name, e.revision, e.id, e.type, CAST(e.data AS BLOB), CAST(e.metadata AS BLOB),
    typeof(s.name) || ' ' || typeof(e.revision) || ' ' || typeof(e.id) || ' ' || typeof(e.type) || ' ' ||
    typeof(e.data) || ' ' || typeof(e.metadata)
  FROM events e LEFT JOIN streams s ON s.id = e.stream`;

/** A row of the audit. Integers are read as bigint: a corrupt one may be of any size. */
export type AuditedRow = readonly [
  position: bigint,
  stream: unknown,
  revision: unknown,
  id: unknown,
  type: unknown,
  data: unknown,
  metadata: unknown,
  types: string,
];

const TYPES = 'text integer blob text text text';
const UUID_BYTES = 16;
/** SQLite accepts any number; the log counts from 1. */
export const FIRST_POSITION = 1;

/**
 * Returns the event if every byte of the row is as the log itself would have written it; otherwise an unreadable
 * record.
 */
export function auditedRecord(row: AuditedRow): AuditedRecord {
  const [number, stream, revision, id, type, data, metadata, types] = row;
  const position = toPosition(Number(number));
  const about = {
    position,
    stream: typeof stream === 'string' ? stream : undefined,
    revision: typeof revision === 'bigint' ? Number(revision) : undefined,
  };
  const unreadable = (reason: string): AuditedRecord => ({ kind: 'unreadable', ...about, reason });
  if (number < FIRST_POSITION) return unreadable('is before the first position of the log');
  if (stream === null) return unreadable('belongs to a missing stream');
  if (types !== TYPES) return unreadable(`has columns of the types ${types}, not ${TYPES}`);
  const bytes = id as Uint8Array; // the column types were compared above, here and below
  if (bytes.length !== UUID_BYTES) return unreadable(`has an id of ${bytes.length} bytes`);
  const contents = [parsed(data as Uint8Array), parsed(metadata as Uint8Array)] as const;
  if (contents[0] === undefined) return unreadable('has data that are not JSON as the log writes it');
  if (contents[1] === undefined) return unreadable('has metadata that are not JSON as the log writes it');
  return {
    kind: 'event',
    event: {
      id: uuidOf(bytes.toHex()),
      type: type as string,
      data: contents[0],
      metadata: contents[1],
      stream: stream as string,
      revision: Number(revision),
      position,
    },
  };
}

export function missing(position: Position, count: number): AuditedRecord {
  const reason = count === 1 ? 'is missing' : `is missing, with the ${count - 1} events after it`;
  return { kind: 'unreadable', position, stream: undefined, revision: undefined, reason };
}

export function unreadableAt(position: Position, error: unknown): AuditedRecord {
  const reason = `cannot be read: ${messageOf(error)}`;
  return { kind: 'unreadable', position, stream: undefined, revision: undefined, reason };
}

/** Parses an object of the log. Another spelling of the same value (`\u001F` for `\u001f`) is a change, too. */
function parsed(bytes: Uint8Array): JsonObject | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const value = JSON.parse(buffer.toString()) as Json;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    if (isNestedTooDeeply(value)) return undefined;
    return buffer.equals(Buffer.from(JSON.stringify(value))) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
