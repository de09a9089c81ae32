import path from 'node:path';
import { DurableFolders, syncFolder } from '../../tools/files/durable-directory.ts';
import type { HashingThreads } from '../hashing/hashing-threads.ts';
import { isWhole } from '../hashing/verified-body.ts';
import type { IncomingFile } from '../incoming-file.ts';
import type { StoredObject } from '../object-store.ts';
import { orUnavailable } from '../store-errors.ts';
import type { StoreWriter } from './store-writer.ts';
import { StoredFiles } from './stored-files.ts';

/** Reads and writes the large objects, each made durable before it gets its name. */
export class ObjectFiles extends StoredFiles {
  readonly #writer: StoreWriter;
  readonly #hashing: HashingThreads;
  readonly #folders: DurableFolders;

  static async open(folder: string, writer: StoreWriter, hashing: HashingThreads): Promise<ObjectFiles> {
    const folders = new DurableFolders(folder);
    const files = new ObjectFiles(folder, writer, hashing, folders);
    await orUnavailable('write', folders.make(files.root));
    return files;
  }

  private constructor(folder: string, writer: StoreWriter, hashing: HashingThreads, folders: DurableFolders) {
    super(folder);
    this.#writer = writer;
    this.#hashing = hashing;
    this.#folders = folders;
  }

  /**
   * Moves the file to its name. An intact object of that name stays and gets the present time, a corrupt one
   * is replaced.
   */
  async adopt(incoming: IncomingFile, object: StoredObject): Promise<void> {
    const file = this.pathOf(object.sha256);
    const folder = path.dirname(file);
    await incoming.flush();
    await orUnavailable('write', this.#folders.make(folder));
    if (!(await this.#refresh(file, object))) {
      await this.#writer.change({ kind: 'place-file', from: incoming.path, file });
      incoming.keep();
    }
    await orUnavailable('write', syncFolder(folder));
  }

  async remove(sha256: string, storedBefore: number): Promise<void> {
    await this.#writer.change({ kind: 'remove-file', file: this.pathOf(sha256), storedBefore });
  }

  async #refresh(file: string, object: StoredObject): Promise<boolean> {
    const whole = await this.#isWhole(object);
    return whole && this.#writer.change({ kind: 'touch-file', file });
  }

  /** Whether the stored file is intact. A file that cannot be read is not. */
  async #isWhole(object: StoredObject): Promise<boolean> {
    try {
      const length = await this.length(object.sha256);
      if (length !== object.length) return false;
      return await isWhole(object, this.bytes(object.sha256), this.#hashing.begin());
    } catch {
      return false;
    }
  }
}
