import { StoreDamaged } from './object-store.ts';

/** The name of the file or object that holds the id of a store, next to `v1/` and `incoming/`. */
export const STORE_ID = 'store-id';

export function formatStoreId(id: string): string {
  return `${id}\n`;
}

/** @throws {StoreDamaged} the text is not a UUID on a line */
export function parseStoreId(text: string, place: string): string {
  const [, id] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\n$/.exec(text) ?? [];
  if (id !== undefined) return id;
  const reason = `${place}, which contains the id of the archive store, is corrupt: it is not a UUID on a line.`;
  throw new StoreDamaged(`${reason} Restore it: the last StoreBound of the event log has the id.`);
}
