import type { StoredLog } from './stored-log.ts';

const CHUNK_BYTES = 256n * 1024n * 1024n;

/**
 * Removes the events that their streams no longer show, and returns how many. Only chunks that are complete are looked
 * at: below 256 MB nothing is removed.
 */
export function scavenge(log: StoredLog, chunkBytes = CHUNK_BYTES): number {
  const { storage, metadata } = log;
  const complete = (storage.end / chunkBytes) * chunkBytes;
  let removed = 0;
  storage.together(() => {
    for (const stream of storage.streams()) {
      const { truncateBefore, maxCount } = metadata.of(stream);
      const next = storage.nextRevision(stream);
      // A stream keeps its last event, also one that is deleted, so that its revisions go on.
      const before = Math.min(Math.max(truncateBefore, next - maxCount), next - 1);
      if (before > 0) removed += storage.discard(stream, before, complete);
    }
  });
  return removed;
}
