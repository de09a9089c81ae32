import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { files } from '../../tools/files.ts';
import type { HashedInspection, Inspection, Merged } from '../archive-reader.ts';
import { ContentOutput, TarOutput } from '../members/member-output.ts';
import { readArchive } from '../read-archive.ts';
import { readMembers } from '../read-members.ts';
import { directoryBytes, findEntry, manifestPieces, readTreePlan } from '../tree/manifest-reads.ts';
import { mergeListings } from '../tree/merge-archives.ts';
import type { TreeEntry } from '../tree/tree-entry.ts';
import type { ArchiveJob, ArchiveReply, ReadOrder } from './archive-job.ts';
import { ChunkSender } from './chunk-sender.ts';
import { PortAssistant, readSentBatch } from './port-assistant.ts';
import { BEGUN } from './worker-pool.ts';

/** Niceness of a thread that no client waits for: a tenth of a core under full load, otherwise all that is free. */
const NICENESS = 10;

// Entry point of a worker thread: one job at a time, of which it sends that it has begun, and one reply.
if ((workerData as { isBackground: boolean }).isBackground) lowerThreadPriority();
parentPort?.on('message', (job: ArchiveJob) => void answer(job));

type Result = HashedInspection | string | Merged | TreeEntry | undefined;

async function answer(job: ArchiveJob): Promise<void> {
  parentPort?.postMessage(BEGUN);
  const reply = await work(job).catch((error: Error & { code?: string; syscall?: string }) => {
    const { message, code, syscall } = error;
    // An error of a check other than of the file system becomes an unhandled rejection, which intentionally ends the
    // thread.
    if (!('port' in job) && (code === undefined || syscall === undefined)) throw error;
    return { error: { message, code: code ?? 'UNEXPECTED', ...(syscall !== undefined && { syscall }) } };
  });
  if ('port' in job) job.port.close();
  parentPort?.postMessage(reply satisfies ArchiveReply, 'result' in reply ? documentsOf(reply.result) : []);
}

async function work(job: ArchiveJob): Promise<{ result: Result }> {
  if (job.kind === 'inspect') {
    const { assistance } = job;
    const assistant = assistance && new PortAssistant(assistance);
    const reading = await readArchive(job.source, job.sha256, job.limits, assistant);
    return { result: { ...reading, inspection: withTree(reading.inspection, job.sha256) } };
  }
  if (job.kind === 'batch') return { result: readSentBatch(job.batch) };
  if (job.kind === 'merge') return { result: mergeListings(job.listings) };
  const sender = new ChunkSender(job.port);
  if (job.kind === 'find')
    return { result: await findEntry(manifestPieces(job.manifest, sender), job.query) };
  await send(job, sender);
  await sender.finish();
  return { result: undefined };
}

async function send(order: ReadOrder, sender: ChunkSender): Promise<void> {
  if (order.kind === 'content') {
    const { archive, member } = order;
    await readMembers(archive, new Map([[member.path, member]]), new ContentOutput(sender));
  } else if (order.kind === 'directory') {
    const body = await directoryBytes(manifestPieces(order.manifest, sender), order);
    sender.announce(body.length);
    sender.write(body);
  } else {
    const about = { path: order.path, archive: order.sha256 };
    const { wanted, directories, below } = await readTreePlan(manifestPieces(order.manifest, sender), about);
    const output = new TarOutput(sender, below);
    if (order.directories) await output.directories(directories);
    await readMembers(order.archive, wanted, output);
  }
}

/** Longest listing, in bytes, whose tree is made in the same job: it takes less than some milliseconds. */
const SMALL_LISTING = 64 * 1024;

/** Adds the tree of a small archive. A load that could not make it will say why, and must not fail the check. */
function withTree(inspection: Inspection, sha256: string): Inspection {
  if (inspection.outcome !== 'accepted' || inspection.listing.length > SMALL_LISTING) return inspection;
  try {
    const tree = mergeListings([{ sha256, listing: inspection.listing }]);
    return tree.outcome === 'accepted' ? { ...inspection, tree } : inspection;
  } catch {
    return inspection;
  }
}

/** Returns the buffers to transfer instead of copy: they can be tens of megabytes long. */
function documentsOf(result: Result): ArrayBuffer[] {
  if (typeof result !== 'object') return [];
  const outcome = 'inspection' in result ? result.inspection : result;
  if (!('outcome' in outcome) || outcome.outcome !== 'accepted') return [];
  if (!('listing' in outcome)) return [outcome.manifest.buffer as ArrayBuffer];
  const documents = [outcome.listing, ...(outcome.tree ? [outcome.tree.manifest] : [])];
  return [...new Set(documents.map(({ buffer }) => buffer as ArrayBuffer))];
}

/**
 * Lowers the priority of this thread below those that answer requests. Only Linux has a niceness per thread; elsewhere
 * this has no effect.
 */
function lowerThreadPriority(): void {
  try {
    const thread = Number(basename(files.readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.max(NICENESS, getPriority(thread)));
  } catch {
    // The priority is only an optimisation.
  }
}
