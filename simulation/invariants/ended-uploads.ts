import type { EndedHistory } from '../history/ended-history.ts';

/** A process that lives has completed or aborted each upload in parts that it began: a store keeps the parts of others. */
export function* endedUploads({ store }: EndedHistory): Generator<string> {
  for (const { key, process, parts } of store.uploads.ofLiving)
    yield `${process.name} left the upload to ${key}, of ${parts.size} parts`;
}
