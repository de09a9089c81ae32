import { parentPort } from 'node:worker_threads';
import { readArchive } from '../inspect.ts';
import { mergeListings } from '../tree/merge-archives.ts';
import type { ArchiveJob, ArchiveReply } from './archive-job.ts';
import { lowerThreadPriority } from './lower-priority.ts';
import { BEGUN } from './worker-pool.ts';

// Entry point of a worker thread: one job at a time, one reply to each.
lowerThreadPriority();
parentPort?.on('message', (job: ArchiveJob) => void answer(job));
parentPort?.postMessage(BEGUN);

// A failure other than of the file system becomes an unhandled rejection, which intentionally ends the
// thread.
async function answer(job: ArchiveJob): Promise<void> {
  const reply = await work(job).catch(failed);
  parentPort?.postMessage(reply, documentsOf(reply));
}

async function work(job: ArchiveJob): Promise<ArchiveReply> {
  if (job.kind === 'overlay') return { kind: 'overlaid', overlay: mergeListings(job.listings) };
  return { kind: 'inspected', reading: await readArchive(job.source, job.sha256, job.limits) };
}

function failed(error: Error & { code?: string; syscall?: string }): ArchiveReply {
  const { message, code, syscall } = error;
  if (code === undefined || syscall === undefined) throw error;
  return { kind: 'failed', error: { message, code, syscall } };
}

/** Returns the buffers to transfer instead of copy: they can be tens of megabytes long. */
function documentsOf(reply: ArchiveReply): ArrayBuffer[] {
  const result =
    reply.kind === 'inspected'
      ? reply.reading.inspection
      : reply.kind === 'overlaid'
        ? reply.overlay
        : undefined;
  if (result?.outcome !== 'accepted') return [];
  return [('listing' in result ? result.listing : result.manifest).buffer as ArrayBuffer];
}
