import type { MinioBucket } from './bucket.ts';
import { mayBeOver } from './s3-errors.ts';

/** Maximum number of attempts when answers of the store are lost. */
const TRIES = 3;

/** The resolution of Last-Modified in answers to HEAD. */
const RESOLUTION_MS = 1000;

/**
 * Removes an object that was stored before that time, with one DELETE for each HEAD. After a lost answer the key may
 * have an object that was put meanwhile: it stays, unless both were stored within the same second. In a bucket with
 * versions a DELETE removes exactly the version of the HEAD; older versions follow.
 */
export async function removeStored(bucket: MinioBucket, key: string, storedBefore?: Date): Promise<void> {
  let before = storedBefore?.getTime() ?? Infinity;
  for (let tries = 1; ; ) {
    const found = await bucket.stat(key);
    if (found === undefined || found.storedAt.getTime() + RESOLUTION_MS > before) return;
    before = Math.min(before, found.storedAt.getTime() + RESOLUTION_MS);
    try {
      await bucket.removeOnce(key, found.versionId);
      if (found.versionId === undefined) return;
    } catch (error) {
      if (tries === TRIES || !mayBeOver(error)) throw error;
      tries += 1;
    }
  }
}
