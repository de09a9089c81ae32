import { parentPort } from 'node:worker_threads';
import { readArchive } from '../inspect.ts';
import { overlayListings } from '../overlay.ts';
import type { ArchiveJob, ArchiveReply } from './archive-job.ts';
import { letRequestsGoFirst } from './background-thread.ts';
import { BEGUN } from './worker-pool.ts';

// The entry of a worker thread: one job at a time, one reply to each.
letRequestsGoFirst();
parentPort?.on('message', (job: ArchiveJob) => void answer(job));
parentPort?.postMessage(BEGUN);

// A failure that is not the file system's becomes an unhandled rejection, which ends the thread: so intended.
async function answer(job: ArchiveJob): Promise<void> {
  const reply = await work(job).catch(failed);
  parentPort?.postMessage(reply, documentsOf(reply));
}

async function work(job: ArchiveJob): Promise<ArchiveReply> {
  if (job.kind === 'overlay') return { kind: 'overlaid', overlay: overlayListings(job.listings) };
  return { kind: 'inspected', reading: await readArchive(job.source, job.sha256, job.limits) };
}

function failed(error: Error & { code?: string; syscall?: string }): ArchiveReply {
  const { message, code, syscall } = error;
  if (code === undefined || syscall === undefined) throw error;
  return { kind: 'failed', error: { message, code, syscall } };
}

/** Handed over instead of copied: they can be tens of megabytes long. */
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
