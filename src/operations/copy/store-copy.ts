import { addAbortSignal, type Readable } from 'node:stream';
import {
  ContentMismatch,
  ObjectError,
  ObjectMissing,
  type ObjectStore,
  ObjectStoreUnavailable,
  readiness,
  type StoredObject,
} from '../../object-store/object-store.ts';
import { mapConcurrent } from '../../tools/concurrency/limiter.ts';

export type StoreCopyOptions = {
  /** Digests of the objects that events reference: they are copied even if the source does not list them. */
  readonly named: ReadonlySet<string>;
  /** Digests of the objects that are not copied: snapshots of views, which nodes make again. */
  readonly leftOut: ReadonlySet<string>;
  /** Whether to read every byte of the target again, and to replace corrupt objects. */
  readonly verify?: boolean;
  readonly progress?: (step: 'copied' | 'verified', objects: number, total: number) => void;
  /** Aborts the copy. Each object is then complete or missing; a repeated copy adds the missing ones. */
  readonly signal?: AbortSignal;
};

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

/** An object that is missing, corrupt or unreadable in the source, or that the target does not accept. */
type FailedObject = { readonly sha256: string; readonly isNamed: boolean; readonly reason: string };

/** The target does not contain what it accepted. */
class StoreCopyWrong extends Error {
  override readonly name = 'StoreCopyWrong';
  readonly code = 'STORE_COPY_WRONG';
}

const MAX_CONCURRENT = 8;
/**
 * Maximum number of consecutive unreadable objects. A single one may be a bad sector; this many mean that the store is
 * gone.
 */
const MAX_CONSECUTIVE_FAULTS = 2 * MAX_CONCURRENT;

/**
 * Copies every object of `source` that `target` does not contain, except those left out, then compares the list of the target. An object that
 * cannot be copied does not stop the others. Needs about 300 bytes of memory per object.
 * @throws {StoreCopyWrong}
 * @throws {ObjectStoreUnavailable}
 */
export function copyStore(
  source: ObjectStore,
  target: ObjectStore,
  options: StoreCopyOptions,
): Promise<StoreCopied> {
  return new StoreCopy(source, target, options).run();
}

class StoreCopy {
  readonly #source: ObjectStore;
  readonly #target: ObjectStore;
  readonly #options: StoreCopyOptions;
  /** Lengths of the objects to copy, `undefined` while unknown. */
  readonly #wanted = new Map<string, number | undefined>();
  readonly #failed = new Map<string, string>();
  readonly #removed = new Set<string>();
  #faultsInARow = 0;

  constructor(source: ObjectStore, target: ObjectStore, options: StoreCopyOptions) {
    this.#source = source;
    this.#target = target;
    this.#options = options;
  }

  async run(): Promise<StoreCopied> {
    const notReady = await this.#list();
    const missing = await this.#missing();
    await this.#each('copied', missing, (sha256) => this.#copy(sha256));
    const repaired = this.#options.verify ? await this.#verify() : 0;
    const [lost] = this.#withoutFailed(await this.#missing());
    if (lost) throw new StoreCopyWrong(`The target does not list the object ${lost}, which it accepted.`);
    const kept = this.#withoutFailed([...this.#wanted.keys()]);
    return {
      objects: kept.length,
      bytes: kept.reduce((sum, sha256) => sum + (this.#wanted.get(sha256) ?? 0), 0),
      copied: this.#withoutFailed(missing).length,
      repaired,
      failed: Array.from(this.#failed, ([sha256, reason]) => ({
        sha256,
        isNamed: this.#options.named.has(sha256),
        reason,
      })),
      cameMeanwhile: await this.#countAdded(),
      notReady,
    };
  }

  /** Lists the objects to copy. Resolves to the reason why the list may be incomplete, if any. */
  async #list(): Promise<string | null> {
    const before = await readiness(this.#source);
    for await (const { sha256, length } of this.#source.list()) {
      this.#options.signal?.throwIfAborted();
      if (!this.#options.leftOut.has(sha256)) this.#wanted.set(sha256, length);
    }
    for (const sha256 of this.#options.named)
      if (!this.#wanted.has(sha256)) this.#wanted.set(sha256, undefined);
    return before ?? (await readiness(this.#source));
  }

  /** Returns the objects that the target does not list. A list costs a store far less than a request per object. */
  async #missing(): Promise<string[]> {
    const missing = new Set(this.#wanted.keys());
    for await (const { sha256, length } of this.#target.list()) {
      this.#options.signal?.throwIfAborted();
      if (!missing.has(sha256)) continue;
      const wanted = this.#wanted.get(sha256);
      if (wanted === undefined) this.#wanted.set(sha256, length);
      if (wanted === undefined || wanted === length) missing.delete(sha256);
    }
    return [...missing];
  }

  /** Returns the objects that neither failed nor were removed. */
  #withoutFailed(objects: readonly string[]): string[] {
    return objects.filter((sha256) => !this.#failed.has(sha256) && !this.#removed.has(sha256));
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
    await this.#target.put(this.#abortable(body), stored);
    this.#wanted.set(sha256, length);
  }

  async #verify(): Promise<number> {
    let repaired = 0;
    await this.#each('verified', this.#withoutFailed([...this.#wanted.keys()]), async (sha256) => {
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
    objects: readonly string[],
    work: (sha256: string) => Promise<void>,
  ): Promise<void> {
    const { signal, progress } = this.#options;
    let done = 0;
    await mapConcurrent(objects, MAX_CONCURRENT, async (sha256) => {
      signal?.throwIfAborted();
      try {
        await work(sha256);
        this.#faultsInARow = 0;
      } catch (error) {
        signal?.throwIfAborted();
        this.#recordFailure(sha256, error);
      }
      done += 1;
      progress?.(step, done, objects.length);
    });
  }

  /** Records an error that concerns only this object; rethrows any other. */
  #recordFailure(sha256: string, error: unknown): void {
    if (error instanceof ObjectMissing && !this.#options.named.has(sha256)) {
      this.#removed.add(sha256); // removed since it was listed
    } else if (error instanceof ObjectError || error instanceof ContentMismatch) {
      this.#failed.set(sha256, error.message);
    } else if (error instanceof ObjectStoreUnavailable && this.#faultsInARow < MAX_CONSECUTIVE_FAULTS) {
      this.#faultsInARow += 1;
      this.#failed.set(sha256, error.message);
    } else throw error;
  }

  #abortable(body: Readable): Readable {
    const { signal } = this.#options;
    return signal ? addAbortSignal(signal, body) : body;
  }
}
