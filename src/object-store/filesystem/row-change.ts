import type { DatabaseSync } from 'node:sqlite';
import { clock } from '../../tools/clock.ts';
import { fill } from '../chunks.ts';

export type RowChange =
  | { readonly kind: 'put-rows'; readonly rows: PackedRows }
  | { readonly kind: 'remove-row'; readonly sha256: string; readonly storedBefore: number };

export type NewRow = { readonly sha256: string; readonly bytes: Uint8Array };

/** The names of objects, and their bytes concatenated in one buffer. */
type PackedRows = {
  readonly names: readonly string[];
  readonly lengths: readonly number[];
  readonly bytes: ArrayBuffer;
};

/** Returns a function that changes rows in the open transaction, and returns whether a row was changed. */
export function rowChanger(database: DatabaseSync): (change: RowChange) => boolean {
  // Existing bytes were verified again just now: overwriting them repairs a corrupt row.
  const put = database.prepare(`
    INSERT INTO small_object (sha256, stored_at, bytes) VALUES (?, ?, ?)
    ON CONFLICT (sha256) DO UPDATE SET stored_at = excluded.stored_at, bytes = excluded.bytes
  `);
  const remove = database.prepare('DELETE FROM small_object WHERE sha256 = ? AND stored_at < ?');
  const putAll = ({ names, lengths, bytes }: PackedRows): void => {
    let start = 0;
    for (const [index, length] of lengths.entries()) {
      put.run(names[index] as string, clock.now(), new Uint8Array(bytes, start, length)); // names and lengths correspond
      start += length;
    }
  };
  return (change) => {
    if (change.kind === 'remove-row') return remove.run(change.sha256, change.storedBefore).changes > 0;
    putAll(change.rows);
    return true;
  };
}

export function packRows(rows: readonly NewRow[]): PackedRows {
  const chunks = rows.map(({ bytes }) => bytes);
  const lengths = chunks.map(({ byteLength }) => byteLength);
  const packed = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  fill(packed, chunks);
  return { names: rows.map(({ sha256 }) => sha256), lengths, bytes: packed.buffer };
}
