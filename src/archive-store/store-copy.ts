import { addAbortSignal, type Readable } from 'node:stream';
import {
  type ArchiveStore,
  ArchiveStoreUnavailable,
  BrokenPromise,
  ObjectError,
  ObjectMissing,
  type StoredObject,
} from './archive-store.ts';
import { severalAtATime } from './several-at-a-time.ts';
import { readiness } from './store-readiness.ts';

export type StoreCopyOptions = {
  /** Digests of the objects that events name: they are looked for even where the source does not list them. */
  readonly named: ReadonlySet<string>;
  /** Reads every byte of the target again, and copies anew what it holds damaged. */
  readonly verify?: boolean;
  readonly progress?: (step: 'copied' | 'verified', objects: number, total: number) => void;
  /** Objects are whole or not there when it aborts; a copy begun again brings the missing ones. */
  readonly signal?: AbortSignal;
};

export type StoreCopied = {
  /** What the target holds now of the source. */
  readonly objects: number;
  readonly bytes: number;
  /** Of them were not there before. */
  readonly copied: number;
  /** Of them were there before, but damaged, as only `verify` finds out. */
  readonly repaired: number;
  readonly failed: readonly FailedObject[];
  /** Objects that came to the source while it was copied, and are not in the target. */
  readonly cameMeanwhile: number;
  /** Why the source was not ready before or after it listed its objects: the list may have been short. */
  readonly notReady: string | null;
};

/** An object that is missing or damaged in the source or cannot be read, or that the target does not take. */
export type FailedObject = { readonly sha256: string; readonly isNamed: boolean; readonly reason: string };

/** The target does not hold what it took. */
export class StoreCopyWrong extends Error {
  override readonly name = 'StoreCopyWrong';
  readonly code = 'STORE_COPY_WRONG';
}

const AT_ONCE = 8;
/** One that cannot be read is on a bad spot of a disk; that many in a row, and a store is gone. */
const FAULTS_IN_A_ROW = 2 * AT_ONCE;

/**
 * Copies every object of `source` that `target` does not hold, then compares what the target lists. An object that
 * cannot be copied does not stop the others. Takes some 300 bytes of memory for each object.
 * @throws {StoreCopyWrong}
 * @throws {ArchiveStoreUnavailable}
 */
export function copyStore(
  source: ArchiveStore,
  target: ArchiveStore,
  options: StoreCopyOptions,
): Promise<StoreCopied> {
  return new StoreCopy(source, target, options).run();
}

class StoreCopy {
  readonly #source: ArchiveStore;
  readonly #target: ArchiveStore;
  readonly #options: StoreCopyOptions;
  /** Lengths of the objects to copy, `undefined` while unknown. */
  readonly #wanted = new Map<string, number | undefined>();
  readonly #failed = new Map<string, string>();
  readonly #gone = new Set<string>();
  #faultsInARow = 0;

  constructor(source: ArchiveStore, target: ArchiveStore, options: StoreCopyOptions) {
    this.#source = source;
    this.#target = target;
    this.#options = options;
  }

  async run(): Promise<StoreCopied> {
    const notReady = await this.#list();
    const missing = await this.#missing();
    await this.#each('copied', missing, (sha256) => this.#copy(sha256));
    const repaired = this.#options.verify ? await this.#verify() : 0;
    const [lost] = this.#kept(await this.#missing());
    if (lost) throw new StoreCopyWrong(`The target does not list the object ${lost}, which it took.`);
    const kept = this.#kept([...this.#wanted.keys()]);
    return {
      objects: kept.length,
      bytes: kept.reduce((sum, sha256) => sum + (this.#wanted.get(sha256) ?? 0), 0),
      copied: this.#kept(missing).length,
      repaired,
      failed: Array.from(this.#failed, ([sha256, reason]) => ({
        sha256,
        isNamed: this.#options.named.has(sha256),
        reason,
      })),
      cameMeanwhile: await this.#cameMeanwhile(),
      notReady,
    };
  }

  /** Resolves to why the list may be short. */
  async #list(): Promise<string | null> {
    const before = await readiness(this.#source);
    for await (const { sha256, length } of this.#source.list()) {
      this.#options.signal?.throwIfAborted();
      this.#wanted.set(sha256, length);
    }
    for (const sha256 of this.#options.named)
      if (!this.#wanted.has(sha256)) this.#wanted.set(sha256, undefined);
    return before ?? (await readiness(this.#source));
  }

  /** Listing costs a store far less than being asked for one object after the other. */
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

  /** All but those that failed or went. */
  #kept(objects: readonly string[]): string[] {
    return objects.filter((sha256) => !this.#failed.has(sha256) && !this.#gone.has(sha256));
  }

  async #cameMeanwhile(): Promise<number> {
    let came = 0;
    for await (const { sha256 } of this.#source.list()) came += this.#wanted.has(sha256) ? 0 : 1;
    return came;
  }

  async #copy(sha256: string): Promise<void> {
    const { length, body } = await this.#source.get(sha256);
    const stored: StoredObject = { sha256, length };
    await this.#target.put(this.#stoppable(body), stored);
    this.#wanted.set(sha256, length);
  }

  async #verify(): Promise<number> {
    let repaired = 0;
    await this.#each('verified', this.#kept([...this.#wanted.keys()]), async (sha256) => {
      if (await this.#isWholeInTarget(sha256)) return;
      await this.#copy(sha256);
      repaired += 1;
      if (await this.#isWholeInTarget(sha256)) return;
      throw new StoreCopyWrong(`The target does not keep the bytes of ${sha256}, which it took.`);
    });
    return repaired;
  }

  async #isWholeInTarget(sha256: string): Promise<boolean> {
    try {
      const { body } = await this.#target.get(sha256);
      for await (const _chunk of this.#stoppable(body));
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
    await severalAtATime(objects, AT_ONCE, async (sha256) => {
      signal?.throwIfAborted();
      try {
        await work(sha256);
        this.#faultsInARow = 0;
      } catch (error) {
        signal?.throwIfAborted();
        this.#note(sha256, error);
      }
      done += 1;
      progress?.(step, done, objects.length);
    });
  }

  /** Remembers what is about this object only; throws what is not. */
  #note(sha256: string, error: unknown): void {
    if (error instanceof ObjectMissing && !this.#options.named.has(sha256)) {
      this.#gone.add(sha256); // removed since it was listed
    } else if (error instanceof ObjectError || error instanceof BrokenPromise) {
      this.#failed.set(sha256, error.message);
    } else if (error instanceof ArchiveStoreUnavailable && this.#faultsInARow < FAULTS_IN_A_ROW) {
      this.#faultsInARow += 1;
      this.#failed.set(sha256, error.message);
    } else throw error;
  }

  #stoppable(body: Readable): Readable {
    const { signal } = this.#options;
    return signal ? addAbortSignal(signal, body) : body;
  }
}
