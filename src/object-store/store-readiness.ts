import { type ObjectStore, ObjectStoreUnavailable } from './object-store.ts';

/**
 * Resolves to the reason why the store is not ready, `null` when it is ready. A store with offline drives can
 * answer with an incomplete list, so a list counts as complete only if the store is ready before and after it.
 */
export async function readiness(store: Pick<ObjectStore, 'ready'>): Promise<string | null> {
  try {
    await store.ready();
    return null;
  } catch (error) {
    if (error instanceof ObjectStoreUnavailable) return error.message;
    throw error;
  }
}
