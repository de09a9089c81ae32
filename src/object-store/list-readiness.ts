import { codeOf } from '../tools/coded-error.ts';
import { isFull } from '../tools/sqlite/codes.ts';
import { type ObjectStore, ObjectStoreUnavailable } from './object-store.ts';

/**
 * Resolves to the reason why a list of the store may be incomplete, `null` without one. A store with offline drives can
 * answer with an incomplete list, so a list counts as complete only if the store is ready before and after it. A full
 * store accepts no object, but lists all that it has.
 */
export async function listReadiness(store: Pick<ObjectStore, 'ready'>): Promise<string | null> {
  try {
    await store.ready();
    return null;
  } catch (error) {
    if (error instanceof ObjectStoreUnavailable) return isFullStore(error.cause) ? null : error.message;
    throw error;
  }
}

/** Codes of file systems, of MinIO and of Ceph, for a full disk or a quota that is used up. */
const FULL: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'QuotaExceeded',
  'XMinioAdminBucketQuotaExceeded',
  'XMinioStorageFull',
]);

function isFullStore(cause: unknown): boolean {
  return isFull(cause) || FULL.has(codeOf(cause) ?? '');
}
