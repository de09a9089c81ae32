import { extname } from 'node:path';
import type { LocalSource } from '../../object-store/object-store.ts';
import { files } from '../../tools/files.ts';
import type { FaultCode } from '../faults.ts';
import {
  type ArchiveLimits,
  type ArchiveReader,
  defaultArchiveLimits,
  type Inspection,
  type Overlay,
  type OverlayListing,
} from '../inspection.ts';
import { trustReading } from '../reading.ts';
import type { ArchiveJob, ArchiveReply, SystemError } from './archive-job.ts';
import { JobAborted, type PoolLoad, WorkerPool } from './worker-pool.ts';

export type ArchiveWorkersOptions = {
  readonly size?: number;
  readonly queueLength?: number;
  /** Maximum heap of each worker; the readers themselves bound their buffers. */
  readonly heapMegabytes?: number;
  /** Time limit in milliseconds for merging the tree of a deposit. */
  readonly overlayTime?: number;
  /** Called for every aborted job, with the SHA-256 of its archives, for the operator's log. */
  readonly onAborted?: (error: JobAborted, archives: readonly string[]) => void;
};

/**
 * Implements {@link ArchiveReader} with worker threads: hostile bytes can crash or occupy only one of them.
 */
export class ArchiveWorkers implements ArchiveReader {
  readonly #pool: WorkerPool<ArchiveJob, ArchiveReply>;
  readonly #overlayTime: number;
  readonly #onAborted: NonNullable<ArchiveWorkersOptions['onAborted']>;

  constructor({
    size = 2,
    queueLength = 1000,
    heapMegabytes = 512,
    overlayTime = defaultArchiveLimits.wallTime,
    onAborted,
  }: ArchiveWorkersOptions = {}) {
    const resourceLimits = { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 3 };
    this.#pool = new WorkerPool(entry, { size, queueLength, worker: { resourceLimits } });
    this.#overlayTime = overlayTime;
    this.#onAborted = onAborted ?? (() => undefined);
  }

  get load(): PoolLoad {
    return this.#pool.load;
  }

  async inspect(
    source: LocalSource,
    sha256: string,
    limits: ArchiveLimits,
    owner?: string,
  ): Promise<Inspection> {
    const milliseconds = await wallTime(source, limits);
    const reply = await this.#run({ kind: 'inspect', source, sha256, limits }, milliseconds, owner);
    if (reply.kind === 'aborted') return { outcome: 'refused', format: null, faults: [reply.fault] };
    if (reply.kind === 'inspected') return trustReading(reply.reading, sha256);
    throw unexpected(reply);
  }

  async overlay(listings: readonly OverlayListing[], owner?: string): Promise<Overlay> {
    const job = { kind: 'overlay', listings } as const;
    const reply = await this.#run(job, this.#overlayTime, owner, wholeBuffersOf(listings));
    if (reply.kind === 'aborted') return { outcome: 'refused', faults: [reply.fault] };
    if (reply.kind === 'overlaid') return reply.overlay;
    throw unexpected(reply);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }

  async #run(
    job: ArchiveJob,
    milliseconds: number,
    owner = '',
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<ArchiveReply | Aborted> {
    try {
      const reply = await this.#pool.run(job, milliseconds, { owner, transfer });
      if (reply.kind === 'failed') throw asError(reply.error);
      return reply;
    } catch (error) {
      if (!(error instanceof JobAborted)) throw error;
      this.#onAborted(error, archivesOf(job));
      const text = `The check of the archive was aborted: it took more than ${Math.ceil(milliseconds / 1000)} seconds (the limit), or more memory than a check may use.`;
      return { kind: 'aborted', fault: { code: 'CHECK_ABORTED', text } };
    }
  }
}

type Aborted = { kind: 'aborted'; fault: { code: FaultCode; text: string } };

// The extension of this file: the sources run unchanged, but a published package has JavaScript.
const entry = new URL(`./archive-worker${extname(import.meta.filename)}`, import.meta.url);

function archivesOf(job: ArchiveJob): readonly string[] {
  return job.kind === 'inspect' ? [job.sha256] : job.listings.map(({ sha256 }) => sha256);
}

/** Resolves to the time limit in milliseconds; rejects for an archive that cannot be read. */
async function wallTime(source: LocalSource, limits: ArchiveLimits): Promise<number> {
  const length = source.kind === 'bytes' ? source.bytes.length : (await files.stat(source.path)).size;
  return limits.wallTime + Math.ceil(length / limits.wallBytesPerMs);
}

/** Returns the buffers of listings that occupy a whole buffer: small ones may share the buffer pool. */
function wholeBuffersOf(listings: readonly OverlayListing[]): ArrayBuffer[] {
  const whole = listings.filter(({ listing }) => listing.length === listing.buffer.byteLength);
  return [...new Set(whole.map(({ listing }) => listing.buffer as ArrayBuffer))];
}

function asError({ message, code, syscall }: SystemError): Error {
  return Object.assign(new Error(message), { code, syscall });
}

function unexpected(reply: ArchiveReply | Aborted): Error {
  return new Error(`An archive worker gave a reply of the wrong kind: ${reply.kind}.`);
}
