import { addAbortSignal, type Readable } from 'node:stream';
import { temporaryFolder } from '../../config/temporary-folder.ts';
import { listReadiness } from '../../object-store/list-readiness.ts';
import {
  ContentMismatch,
  ObjectError,
  ObjectMissing,
  type ObjectStore,
  ObjectStoreUnavailable,
  type StoredObject,
} from '../../object-store/object-store.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { mapConcurrent } from '../../tools/concurrency/limiter.ts';
import { isDiskError } from '../../tools/sqlite/codes.ts';
import { onTarget } from './copy-target.ts';
import { type FailedObject, ObjectTable } from './object-table.ts';

export type StoreCopyOptions = {
  /** Names the target in errors. */
  readonly into?: string;
  /** The objects that events reference, repeated or not: they are copied even if the source does not list them. */
  readonly named: AsyncIterable<{ readonly sha256: string }>;
  /** Digests of the objects that are not copied: snapshots of views, which nodes make again. */
  readonly leftOut: ReadonlySet<string>;
  /** Whether to read every byte of the target again, and to replace corrupt objects. */
  readonly verify?: boolean;
  readonly progress?: (step: 'copied' | 'verified', objects: number, total: number) => void;
  /** Aborts the copy. Each object is then complete or missing; a repeated copy adds the missing ones. */
  readonly signal?: AbortSignal;
};

type Source = Pick<ObjectStore, 'get' | 'list' | 'ready'>;
type Target = Pick<ObjectStore, 'get' | 'list' | 'put'>;

export type StoreCopied = {
  /** Number of objects of the source that the target now contains. */
  readonly objects: number;
  readonly bytes: number;
  /** Number of them that were missing before. */
  readonly copied: number;
  /** Number of them that were corrupt before, which only `verify` detects. */
  readonly repaired: number;
  readonly failed: readonly FailedObject[];
  /** Objects that were added to the source during the copy and are not in the target. */
  readonly cameMeanwhile: number;
  /** Why the source was not ready before or after it listed its objects, so that the list may be incomplete. */
  readonly notReady: string | null;
};

/** The target does not contain what it accepted. */
class StoreCopyWrong extends errorsOfCode('STORE_COPY_WRONG') {}

/** The list of objects cannot be written to the temporary disk, as when that is full. */
class TemporaryDiskFailed extends errorsOfCode('TEMPORARY_DISK_FAILED') {}

const MAX_CONCURRENT = 8;
/** Maximum number of consecutive unreadable objects: one may be a bad sector, this many mean a lost store. */
const MAX_CONSECUTIVE_FAULTS = 2 * MAX_CONCURRENT;

/**
 * Copies every object of `source` that `target` does not contain, except those left out, then compares the list of the
 * target. An object that cannot be copied does not stop the others. Needs about 100 bytes of temporary disk per object.
 * @throws {StoreCopyWrong}
 * @throws {ObjectStoreUnavailable}
 * @throws {TemporaryDiskFailed}
 */
export async function copyStore(
  source: Source,
  target: Target,
  options: StoreCopyOptions,
): Promise<StoreCopied> {
  using wanted = new ObjectTable();
  try {
    return await new StoreCopy(source, target, wanted, options).run();
  } catch (error) {
    throw isDiskError(error) ? temporaryDiskError(error as Error) : error; // the stores wrap their own
  }
}

class StoreCopy {
  readonly #source: Source;
  readonly #target: Target;
  readonly #wanted: ObjectTable;
  readonly #options: StoreCopyOptions;
  #faultsInARow = 0;

  constructor(source: Source, target: Target, wanted: ObjectTable, options: StoreCopyOptions) {
    this.#source = source;
    this.#target = target;
    this.#wanted = wanted;
    this.#options = options;
  }

  async run(): Promise<StoreCopied> {
    const notReady = await this.#list();
    await this.#compare();
    this.#wanted.beginCopy();
    await this.#each('copied', 'missing', (sha256) => this.#copy(sha256));
    const repaired = this.#options.verify ? await this.#verify() : 0;
    await this.#compare();
    const [lost] = this.#wanted.each('missing');
    if (lost) throw new StoreCopyWrong(`The target does not list the object ${lost}, which it accepted.`);
    return {
      ...this.#wanted.totals(),
      repaired,
      failed: this.#wanted.failed(),
      cameMeanwhile: await this.#countAdded(),
      notReady,
    };
  }

  /** Lists the objects to copy. Resolves to the reason why the list may be incomplete, if any. */
  async #list(): Promise<string | null> {
    const before = await listReadiness(this.#source);
    for await (const { sha256, length } of this.#source.list()) {
      this.#options.signal?.throwIfAborted();
      if (!this.#options.leftOut.has(sha256)) this.#wanted.add(sha256, length);
    }
    for await (const { sha256 } of this.#options.named) this.#wanted.addNamed(sha256);
    return before ?? (await listReadiness(this.#source));
  }

  /** Records which objects the target lists. A list costs a store far less than a request per object. */
  async #compare(): Promise<void> {
    this.#wanted.forgetTarget();
    for await (const { sha256, length } of this.#target.list()) {
      this.#options.signal?.throwIfAborted();
      this.#wanted.foundInTarget(sha256, length);
    }
  }

  async #countAdded(): Promise<number> {
    let came = 0;
    const { leftOut } = this.#options;
    for await (const { sha256 } of this.#source.list())
      came += this.#wanted.has(sha256) || leftOut.has(sha256) ? 0 : 1;
    return came;
  }

  async #copy(sha256: string): Promise<void> {
    const { length, body } = await this.#source.get(sha256);
    const stored: StoredObject = { sha256, length };
    let unread: unknown; // ends the put as well, but is no fault of the target
    const bytes = reporting(this.#abortable(body), (error) => (unread = error));
    await onTarget(this.#target.put(bytes, stored), this.#options.into).catch((error: unknown) => {
      throw unread ?? error;
    });
    this.#wanted.setLength(sha256, length);
  }

  async #verify(): Promise<number> {
    let repaired = 0;
    await this.#each('verified', 'all', async (sha256) => {
      if (await this.#isIntactInTarget(sha256)) return;
      await this.#copy(sha256);
      repaired += 1;
      if (await this.#isIntactInTarget(sha256)) return;
      throw new StoreCopyWrong(`The target did not store the bytes of ${sha256}, which it accepted.`);
    });
    return repaired;
  }

  async #isIntactInTarget(sha256: string): Promise<boolean> {
    try {
      const { body } = await this.#target.get(sha256);
      for await (const _chunk of this.#abortable(body));
      return true;
    } catch (error) {
      if (error instanceof ObjectError) return false;
      throw error;
    }
  }

  async #each(
    step: 'copied' | 'verified',
    which: 'all' | 'missing',
    work: (sha256: string) => Promise<void>,
  ): Promise<void> {
    const { signal, progress } = this.#options;
    const total = this.#wanted.count(which);
    let done = 0;
    await mapConcurrent(this.#wanted.each(which), MAX_CONCURRENT, async (sha256) => {
      signal?.throwIfAborted();
      try {
        await work(sha256);
        done += 1;
        this.#faultsInARow = 0;
      } catch (error) {
        signal?.throwIfAborted();
        this.#recordFailure(sha256, error);
      }
      progress?.(step, done, total);
    });
  }

  /** Records an error that concerns only this object; rethrows any other. */
  #recordFailure(sha256: string, error: unknown): void {
    if (error instanceof ObjectMissing && !this.#wanted.isNamed(sha256)) {
      this.#wanted.remove(sha256); // removed since it was listed
    } else if (error instanceof ObjectError || error instanceof ContentMismatch) {
      this.#wanted.setFailure(sha256, error.message);
    } else if (error instanceof ObjectStoreUnavailable && this.#faultsInARow < MAX_CONSECUTIVE_FAULTS) {
      this.#faultsInARow += 1;
      this.#wanted.setFailure(sha256, error.message);
    } else throw error;
  }

  #abortable(body: Readable): Readable {
    const { signal } = this.#options;
    return signal ? addAbortSignal(signal, body) : body;
  }
}

async function* reporting(source: Readable, failed: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  try {
    yield* source;
  } catch (error) {
    failed(error);
    throw error;
  }
}

function temporaryDiskError(cause: Error): TemporaryDiskFailed {
  const text = `The temporary disk is full or failed: the list of objects in ${temporaryFolder()} cannot be written (${cause.message}). Free space there, or name another folder in SQLITE_TMPDIR.`;
  return new TemporaryDiskFailed(text, { cause });
}
