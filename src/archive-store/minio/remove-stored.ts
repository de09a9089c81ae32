import type { MinioBucket } from './bucket.ts';
import { mayBeOver } from './fault.ts';

/** How often an object is looked at and removed when answers of the store are lost. */
const TRIES = 3;

/** HEAD tells seconds. */
const SECOND = 1000;

/**
 * Removes an object that was stored before, with one DELETE for each HEAD: after a lost answer the key may have an object
 * that was put in the meantime, which stays, as far as a HEAD tells seconds. In a bucket with versions the DELETE is of
 * exactly the version that was looked at; older ones follow.
 */
export async function removeStored(bucket: MinioBucket, key: string, storedBefore?: Date): Promise<void> {
  let before = storedBefore?.getTime() ?? Infinity;
  for (let tries = 1; ; ) {
    const found = await bucket.stat(key);
    if (found === undefined || found.storedAt.getTime() + SECOND > before) return;
    before = Math.min(before, found.storedAt.getTime() + SECOND);
    try {
      await bucket.removeOnce(key, found.versionId);
      if (found.versionId === undefined) return;
    } catch (error) {
      if (tries === TRIES || !mayBeOver(error)) throw error;
      tries += 1;
    }
  }
}
