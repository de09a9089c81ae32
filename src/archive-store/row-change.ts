import type { DatabaseSync } from 'node:sqlite';

export type RowChange =
  | { readonly kind: 'put-row'; readonly sha256: string; readonly bytes: Uint8Array }
  | { readonly kind: 'remove-row'; readonly sha256: string; readonly storedBefore: number };

/** Changes one row in the transaction that is open; tells whether there was something to change. */
export function rowChanger(database: DatabaseSync): (change: RowChange) => boolean {
  // Bytes that are there already were verified again just now: writing them heals a damaged row.
  const put = database.prepare(`
    INSERT INTO small_object (sha256, stored_at, bytes) VALUES (?, ?, ?)
    ON CONFLICT (sha256) DO UPDATE SET stored_at = excluded.stored_at, bytes = excluded.bytes
  `);
  const remove = database.prepare('DELETE FROM small_object WHERE sha256 = ? AND stored_at < ?');
  return (change) => {
    const { changes } =
      change.kind === 'put-row'
        ? put.run(change.sha256, Date.now(), change.bytes)
        : remove.run(change.sha256, change.storedBefore);
    return changes > 0;
  };
}
