import path from 'node:path';
import type { HashingThreads } from '../../object-store/hashing/hashing-threads.ts';
import { writeVerified } from '../../object-store/hashing/write-verified.ts';
import { IncomingFile } from '../../object-store/incoming-file.ts';
import type {
  ChunkSource,
  ExpectedContent,
  LocalSource,
  StoredObject,
} from '../../object-store/object-store.ts';
import { unavailable } from '../../object-store/store-errors.ts';
import { files } from '../../tools/files.ts';
import { random } from '../../tools/random.ts';

/** Stores the bodies of one dry run in a folder, verified like those of deposits, until it is disposed of. */
export class DryRunStorage implements AsyncDisposable {
  readonly #folder: string;
  readonly #hashing: HashingThreads;
  readonly #files = new Map<string, string>();

  private constructor(folder: string, hashing: HashingThreads) {
    this.#folder = folder;
    this.#hashing = hashing;
  }

  /** Creates a folder for one dry run in `root`. */
  static async open(root: string, hashing: HashingThreads): Promise<DryRunStorage> {
    const folder = path.join(root, random.uuid());
    try {
      await files.mkdir(folder, { recursive: true });
    } catch (cause) {
      throw unavailable('write', cause);
    }
    return new DryRunStorage(folder, hashing);
  }

  /** Stores a body like {@link ObjectStore.put}, with the same errors. */
  async put(source: ChunkSource, promised: ExpectedContent = {}): Promise<StoredObject> {
    const place = path.join(this.#folder, random.uuid());
    await using file = await IncomingFile.create(place, Infinity);
    using hash = this.#hashing.begin({ md5: promised.md5 !== undefined });
    const stored = await writeVerified(source, promised, hash, file);
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
