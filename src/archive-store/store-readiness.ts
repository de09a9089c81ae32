import { type ArchiveStore, ArchiveStoreUnavailable } from './archive-store.ts';

/**
 * Resolves to why the store is not ready, `null` when it is. A store that lacks drives can answer with a short list,
 * so a list counts as complete only if the store is ready before and after it.
 */
export async function readiness(store: Pick<ArchiveStore, 'ready'>): Promise<string | null> {
  try {
    await store.ready();
    return null;
  } catch (error) {
    if (error instanceof ArchiveStoreUnavailable) return error.message;
    throw error;
  }
}
