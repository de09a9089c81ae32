import path from 'node:path';
import { HashingThreads } from '../../object-store/hashing/hashing-threads.ts';
import { writeVerified } from '../../object-store/hashing/write-verified.ts';
import { IncomingFile } from '../../object-store/incoming-file.ts';
import type { ExpectedContent, LocalSource, StoredObject } from '../../object-store/object-store.ts';
import { unavailable } from '../../object-store/store-errors.ts';
import { files } from '../../tools/files.ts';
import { random } from '../../tools/random.ts';

/** Where bodies lie that are looked at and not kept; what a crash leaves here is removed when it is opened. */
export class DryRunFolder implements AsyncDisposable {
  readonly #folder: string;
  readonly #hashing = new HashingThreads(1);

  /** The folder belongs to this process alone. */
  static async open(folder: string): Promise<DryRunFolder> {
    await files.rm(folder, { recursive: true, force: true });
    return new DryRunFolder(folder);
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** A place of its own for one dry run; disposing of it removes all that is there. */
  async begin(): Promise<DryRunPlace> {
    const place = path.join(this.#folder, random.uuid());
    try {
      await files.mkdir(place, { recursive: true });
    } catch (cause) {
      throw unavailable('write', cause);
    }
    return new DryRunPlace(place, this.#hashing);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hashing[Symbol.asyncDispose]();
    await files.rm(this.#folder, { recursive: true, force: true });
  }
}

/** Takes bodies as an archive store does, verified on their way, and forgets them. */
export class DryRunPlace implements AsyncDisposable {
  readonly #folder: string;
  readonly #hashing: HashingThreads;
  readonly #files = new Map<string, string>();

  constructor(folder: string, hashing: HashingThreads) {
    this.#folder = folder;
    this.#hashing = hashing;
  }

  /** Stores a body like {@link ObjectStore.put}, with the same errors. */
  async put(source: AsyncIterable<Uint8Array>, promised: ExpectedContent = {}): Promise<StoredObject> {
    const place = path.join(this.#folder, random.uuid());
    await using file = await IncomingFile.create(place, () => {});
    const stored = await writeVerified(source, promised, this.#hashing, file);
    await file.written();
    file.keep(); // until the folder is removed
    this.#files.set(stored.sha256, place);
    return stored;
  }

  /** Returns the file of a stored body, for synchronous readers. */
  source(sha256: string): LocalSource {
    const file = this.#files.get(sha256);
    if (file === undefined) throw new Error(`Nothing with the digest ${sha256} was put here.`);
    return { kind: 'file', path: file };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await files.rm(this.#folder, { recursive: true, force: true });
  }
}
