import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { MessageChannel } from 'node:worker_threads';
import type { LocalSource } from '../../object-store/object-store.ts';
import { codedError, codeOf, messageOf } from '../../tools/coded-error.ts';
import { files } from '../../tools/files.ts';
import {
  type ArchiveFault,
  type ArchiveLimits,
  type ArchiveListing,
  type ArchiveReader,
  defaultArchiveLimits,
  type HashedInspection,
  type Inspection,
  type Merged,
  trustInspection,
} from '../archive-reader.ts';
import { sanitizeName } from '../members/sanitize-name.ts';
import type { TreeEntry } from '../tree/tree-entry.ts';
import type { ArchiveJob, ArchiveReply, CheckJob, FindOrder, ReadOrder } from './archive-job.ts';
import { OfferedBatches } from './assistance.ts';
import { JobAborted, type JobOptions, type PoolLoad, WorkerPool } from './worker-pool.ts';

type ArchiveWorkersOptions = {
  /** Name of the threads in the log, one for each use in a process. */
  readonly name?: string;
  readonly size?: number;
  readonly queueLength?: number;
  /** Maximum heap of each worker; the readers themselves bound their buffers. */
  readonly heapMegabytes?: number;
  /** Whether the threads have a lower priority than those that answer requests. */
  readonly isBackground?: boolean;
  /** Time limit in milliseconds for merging the tree of a deposit. */
  readonly mergeTime?: number;
  /** Called for every aborted check, with the SHA-256 of its archives, for the operator's log. */
  readonly onAborted?: (error: JobAborted, archives: readonly string[]) => void;
};

/** Bytes of an archive from which on idle threads read parts of it. */
const ASSISTED_LENGTH = 4 * 1024 ** 2;

/**
 * Reads archives and manifests in worker threads: hostile bytes can crash or occupy only one of them. The jobs are
 * checks and loads, or reads for clients.
 */
export class ArchiveWorkers implements ArchiveReader {
  readonly #pool: WorkerPool<ArchiveJob, ArchiveReply>;
  readonly #mergeTime: number;
  readonly #onAborted: NonNullable<ArchiveWorkersOptions['onAborted']>;

  constructor({
    name = 'archive-reader',
    size = 2,
    queueLength = 1000,
    heapMegabytes = 512,
    isBackground = true,
    mergeTime = defaultArchiveLimits.wallTime,
    onAborted,
  }: ArchiveWorkersOptions = {}) {
    const resourceLimits = {
      maxOldGenerationSizeMb: heapMegabytes,
      maxYoungGenerationSizeMb: isBackground ? 3 : 8,
    };
    const worker = { name, resourceLimits, workerData: { isBackground } };
    this.#pool = new WorkerPool(entry, { size, queueLength, worker });
    this.#mergeTime = mergeTime;
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
    const length = await lengthOf(source);
    const milliseconds = limits.wallTime + Math.ceil(length / limits.wallBytesPerMs);
    const threads = this.#pool.started - 1; // the archive needs one of them
    using offered = threads > 0 && length >= ASSISTED_LENGTH ? this.#assist(milliseconds, owner) : undefined;
    const assistance = offered && { port: offered.port, threads };
    const job = { kind: 'inspect', source, sha256, limits, assistance } as const;
    const transfer = offered ? [offered.port] : [];
    const read = await this.#check(job, milliseconds, { owner, transfer }, offered);
    if ('fault' in read) return { outcome: 'refused', format: null, faults: [read.fault] };
    return trustInspection(read.result as HashedInspection, sha256); // as for this kind of job
  }

  async merge(listings: readonly ArchiveListing[], owner?: string): Promise<Merged> {
    const job = { kind: 'merge', listings } as const;
    const merged = await this.#check(job, this.#mergeTime, {
      owner,
      transfer: wholeBuffersOf(listings),
    });
    if ('fault' in merged) return { outcome: 'refused', faults: [merged.fault] };
    return merged.result as Merged; // as for this kind of job
  }

  /**
   * Returns the bytes as a stream. It fails, before its last byte, if they have changed or the read takes longer than
   * `milliseconds`; destroying it aborts the read. `onLength` is called before the first byte of a directory.
   */
  read(order: ReadOrder, milliseconds: number, onLength?: (bytes: number) => void): Readable {
    const { port1: chunks, port2: port } = new MessageChannel();
    const gone = new AbortController();
    const readable = new Readable({
      read: () => chunks.postMessage(null),
      destroy: (error, done) => {
        gone.abort();
        chunks.close();
        done(error);
      },
    });
    chunks.on('message', (message: Uint8Array | number | null) => {
      if (typeof message === 'number') onLength?.(message);
      else readable.push(message);
    });
    this.#run({ ...order, port }, milliseconds, { transfer: [port], signal: gone.signal }).catch(
      (error: Error) => readable.destroy(error),
    );
    return readable;
  }

  /**
   * Resolves to the first entry of a manifest that matches. Rejects with the reason of the signal once its worker has
   * stopped.
   */
  async find(order: FindOrder, milliseconds: number, signal?: AbortSignal): Promise<TreeEntry | undefined> {
    signal?.throwIfAborted();
    const { port1: control, port2: port } = new MessageChannel();
    const abort = () => control.close();
    signal?.addEventListener('abort', abort);
    try {
      const found = await this.#run({ ...order, port }, milliseconds, { transfer: [port], signal });
      return found as TreeEntry | undefined; // as for this kind of job
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      signal?.removeEventListener('abort', abort);
      control.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }

  /** Has idle threads read parts of an archive. */
  #assist(milliseconds: number, owner = ''): OfferedBatches {
    return new OfferedBatches((batch) => {
      const options = { owner, transfer: [batch.bytes.buffer] };
      const reply = this.#pool.runIfIdle({ kind: 'batch', batch }, milliseconds, options);
      return reply?.then((answer) => resultOf(answer) as string); // as for this kind of job
    });
  }

  /**
   * Resolves to the result of the job, or to a fault of its archives if it was aborted. Rejects if the system had no memory
   * for it: then it may be repeated.
   */
  async #check(
    job: CheckJob,
    milliseconds: number,
    options: JobOptions,
    offered?: OfferedBatches,
  ): Promise<{ result: unknown } | { fault: ArchiveFault }> {
    try {
      return { result: await this.#run(job, milliseconds, options) };
    } catch (failure) {
      const error = offered?.fault ?? failure;
      if (!(error instanceof JobAborted)) throw error;
      if (isForMemory(error.cause)) throw codedError('POOL_BUSY', NO_MEMORY_LEFT, { cause: error });
      const archives = job.kind === 'inspect' ? [job] : job.listings;
      this.#onAborted(
        error,
        archives.map(({ sha256 }) => sha256),
      );
      return { fault: faultOf(error, milliseconds) };
    }
  }

  async #run(job: ArchiveJob, milliseconds: number, options: JobOptions): Promise<unknown> {
    return resultOf(await this.#pool.run(job, milliseconds, options));
  }
}

const NO_MEMORY_LEFT = 'The system has no memory left to read an archive.';

/** Codes of errors for want of memory outside of the heap: what a reader takes there is bounded. */
const NO_MEMORY = new Set([
  'ENOMEM',
  'ERR_MEMORY_ALLOCATION_FAILED',
  'ERR_ZLIB_INITIALIZATION_FAILED',
  'Z_MEM_ERROR',
]);

/** Whether a thread ended for want of memory of the system, which says nothing about its archive. */
function isForMemory(error: unknown): boolean {
  return NO_MEMORY.has(codeOf(error) ?? '') || messageOf(error) === 'Array buffer allocation failed';
}

/** Returns what ended a check; without an error of the worker, it was a limit. */
function faultOf({ cause }: JobAborted, milliseconds: number): ArchiveFault {
  const { code, message } = (cause ?? {}) as NodeJS.ErrnoException;
  const reason =
    message === undefined || code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? `: it took more than ${Math.ceil(milliseconds / 1000)} seconds (the limit), or more memory than a check may use`
      : ` by an error: ${sanitizeName(Buffer.from(message).toString('latin1')).replace(/\.$/, '')}`;
  return { code: 'CHECK_ABORTED', text: `The check of the archive was aborted${reason}.` };
}

// The extension of this file: the sources run unchanged, but a published package has JavaScript.
const entry = new URL(`./archive-worker${extname(import.meta.filename)}`, import.meta.url);

/** Rejects for an archive that cannot be read. */
async function lengthOf(source: LocalSource): Promise<number> {
  return source.kind === 'bytes' ? source.bytes.length : (await files.stat(source.path)).size;
}

function resultOf(reply: ArchiveReply): unknown {
  if ('error' in reply) throw Object.assign(new Error(reply.error.message), reply.error);
  return reply.result;
}

/** Returns the buffers of listings that occupy a whole buffer: small ones may share the buffer pool. */
function wholeBuffersOf(listings: readonly ArchiveListing[]): ArrayBuffer[] {
  const whole = listings.filter(({ listing }) => listing.length === listing.buffer.byteLength);
  return [...new Set(whole.map(({ listing }) => listing.buffer as ArrayBuffer))];
}
