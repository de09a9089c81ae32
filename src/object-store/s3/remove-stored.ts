import { clock } from '../../tools/clock.ts';
import { unavailable } from '../store-errors.ts';
import type { MinioBucket } from './bucket.ts';
import { PAUSES } from './retries.ts';
import { mayBeOver, mayBeRetained, retained } from './s3-errors.ts';

/** The resolution of Last-Modified in answers to HEAD. */
const RESOLUTION_MS = 1000;

/**
 * Removes an object that was stored before that time, with one DELETE for each HEAD. After a lost answer the key may
 * have an object that was put meanwhile: it stays, unless both were stored within the same second. In a bucket with
 * versions a DELETE removes exactly the version of the HEAD; older versions follow. A version that the store must retain
 * stays: a DELETE without a version would also hide the same bytes if they were stored again since the HEAD. No condition
 * prevents that, since both have the same ETag.
 */
export async function removeStored(bucket: MinioBucket, key: string, storedBefore?: Date): Promise<void> {
  let before = storedBefore?.getTime() ?? Infinity;
  for (let failures = 0; ; ) {
    const found = await bucket.stat(key);
    if (found === undefined || found.storedAt.getTime() + RESOLUTION_MS > before) return;
    before = Math.min(before, found.storedAt.getTime() + RESOLUTION_MS);
    try {
      await bucket.removeOnce(key, found.versionId);
      if (found.versionId === undefined) return;
    } catch (error) {
      if (found.versionId !== undefined && mayBeRetained(error)) throw unavailable('remove', retained());
      await pauseAfter(error, failures++);
    }
  }
}

/** Waits before the next attempt, as for other requests. @throws the error after the last one */
async function pauseAfter(error: unknown, failures: number): Promise<void> {
  const pause = PAUSES[failures];
  if (pause === undefined || !mayBeOver(error)) throw error;
  await clock.sleep(pause);
}
