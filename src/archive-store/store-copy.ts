import { addAbortSignal, type Readable } from 'node:stream';
import {
  type ArchiveStore,
  ArchiveStoreUnavailable,
  BrokenPromise,
  ObjectCorrupt,
  ObjectMissing,
  type StoredObject,
} from './archive-store.ts';
import { severalAtATime } from './several-at-a-time.ts';

export type StoreCopyOptions = {
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
};

/** An object of the source that is damaged or cannot be read, or that the target does not take. */
export type FailedObject = { readonly sha256: string; readonly reason: string };

/** The target does not hold what it took. */
export class StoreCopyWrong extends Error {
  override readonly name = 'StoreCopyWrong';
  readonly code = 'STORE_COPY_WRONG';
}

const AT_ONCE = 8;
/** One that cannot be read is on a bad spot of a disk; that many in a row, and a store is gone. */
const FAULTS_IN_A_ROW = 2 * AT_ONCE;

/**
 * Copies every object of `source` that `target` does not hold, then compares what both list. An object that cannot
 * be copied does not stop the others. Takes some 300 bytes of memory for each object.
 * @throws {StoreCopyWrong}
 * @throws {ArchiveStoreUnavailable}
 */
export function copyStore(
  source: ArchiveStore,
  target: ArchiveStore,
  options: StoreCopyOptions = {},
): Promise<StoreCopied> {
  return new StoreCopy(source, target, options).run();
}

class StoreCopy {
  readonly #source: ArchiveStore;
  readonly #target: ArchiveStore;
  readonly #options: StoreCopyOptions;
  readonly #failed = new Map<string, string>();
  readonly #gone = new Set<string>();
  #faultsInARow = 0;

  constructor(source: ArchiveStore, target: ArchiveStore, options: StoreCopyOptions) {
    this.#source = source;
    this.#target = target;
    this.#options = options;
  }

  async run(): Promise<StoreCopied> {
    const wanted = await this.#wanted();
    const missing = await this.#missing(wanted);
    await this.#each('copied', missing, (object) => this.#copy(object));
    const repaired = this.#options.verify ? await this.#verify(wanted) : 0;
    const [lost] = this.#kept(await this.#missing(wanted));
    if (lost) throw new StoreCopyWrong(`The target does not list the object ${lost.sha256}, which it took.`);
    const kept = this.#kept(objectsOf(wanted));
    return {
      objects: kept.length,
      bytes: kept.reduce((sum, { length }) => sum + length, 0),
      copied: this.#kept(missing).length,
      repaired,
      failed: Array.from(this.#failed, ([sha256, reason]) => ({ sha256, reason })),
      cameMeanwhile: await this.#cameSince(wanted),
    };
  }

  async #wanted(): Promise<Map<string, number>> {
    const wanted = new Map<string, number>();
    for await (const { sha256, length } of this.#source.list()) {
      this.#options.signal?.throwIfAborted();
      wanted.set(sha256, length);
    }
    return wanted;
  }

  /** Listing costs a store far less than being asked for one object after the other. */
  async #missing(wanted: ReadonlyMap<string, number>): Promise<StoredObject[]> {
    const missing = new Map(wanted);
    for await (const { sha256, length } of this.#target.list()) {
      this.#options.signal?.throwIfAborted();
      if (missing.get(sha256) === length) missing.delete(sha256);
    }
    return objectsOf(missing);
  }

  /** All but those that failed or went. */
  #kept(objects: readonly StoredObject[]): StoredObject[] {
    return objects.filter(({ sha256 }) => !this.#failed.has(sha256) && !this.#gone.has(sha256));
  }

  async #cameSince(wanted: ReadonlyMap<string, number>): Promise<number> {
    let came = 0;
    for await (const { sha256 } of this.#source.list()) came += wanted.has(sha256) ? 0 : 1;
    return came;
  }

  async #copy({ sha256, length }: StoredObject): Promise<void> {
    const { body } = await this.#source.get(sha256);
    await this.#target.put(this.#stoppable(body), { sha256, length });
  }

  async #verify(wanted: ReadonlyMap<string, number>): Promise<number> {
    let repaired = 0;
    await this.#each('verified', this.#kept(objectsOf(wanted)), async (object) => {
      if (await this.#isWholeInTarget(object)) return;
      await this.#copy(object);
      repaired += 1;
      if (await this.#isWholeInTarget(object)) return;
      throw new StoreCopyWrong(`The target does not keep the bytes of ${object.sha256}, which it took.`);
    });
    return repaired;
  }

  async #isWholeInTarget({ sha256 }: StoredObject): Promise<boolean> {
    try {
      const { body } = await this.#target.get(sha256);
      for await (const _chunk of this.#stoppable(body));
      return true;
    } catch (error) {
      if (error instanceof ObjectCorrupt || error instanceof ObjectMissing) return false;
      throw error;
    }
  }

  async #each(
    step: 'copied' | 'verified',
    objects: readonly StoredObject[],
    work: (object: StoredObject) => Promise<void>,
  ): Promise<void> {
    const { signal, progress } = this.#options;
    let done = 0;
    await severalAtATime(objects, AT_ONCE, async (object) => {
      signal?.throwIfAborted();
      try {
        await work(object);
        this.#faultsInARow = 0;
      } catch (error) {
        signal?.throwIfAborted();
        this.#note(object, error);
      }
      done += 1;
      progress?.(step, done, objects.length);
    });
  }

  /** Remembers what is about this object only; throws what is not. */
  #note({ sha256 }: StoredObject, error: unknown): void {
    if (error instanceof ObjectMissing) {
      this.#gone.add(sha256); // removed since it was listed
    } else if (error instanceof ObjectCorrupt || error instanceof BrokenPromise) {
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

function objectsOf(lengths: ReadonlyMap<string, number>): StoredObject[] {
  return Array.from(lengths, ([sha256, length]) => ({ sha256, length }));
}
