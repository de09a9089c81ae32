import type { Stats } from 'node:fs';
import { type FileHandle, open, opendir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type ListedObject, ObjectMissing, type StoredObject } from './archive-store.ts';
import { DurableFolders, syncFolder } from './durable-folders.ts';
import type { IncomingFile } from './incoming-file.ts';
import type { Sha256Threads } from './sha256-threads.ts';
import type { StoreWriter } from './store-writer.ts';
import { hasCode, orUnavailable } from './unavailable.ts';
import { isWhole } from './verified-body.ts';

const READ_BYTES = 128 * 1024;

/** The large objects: files named `v1/sha256/ab/cd/<sha256>`, each made durable before it gets its name. */
export class ObjectFiles {
  readonly #root: string;
  readonly #writer: StoreWriter;
  readonly #hashing: Sha256Threads;
  readonly #folders: DurableFolders;

  static async open(folder: string, writer: StoreWriter, hashing: Sha256Threads): Promise<ObjectFiles> {
    const folders = new DurableFolders(folder);
    const files = new ObjectFiles(folder, writer, hashing, folders);
    await orUnavailable('write', folders.make(files.#root));
    return files;
  }

  private constructor(folder: string, writer: StoreWriter, hashing: Sha256Threads, folders: DurableFolders) {
    this.#root = path.join(folder, 'v1', 'sha256');
    this.#writer = writer;
    this.#hashing = hashing;
    this.#folders = folders;
  }

  pathOf(sha256: string): string {
    return path.join(this.#root, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  }

  /** Gives the file its name. A whole object of that name stays and is as new again, a damaged one is replaced. */
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

  async length(sha256: string): Promise<number | undefined> {
    const found = await orUnavailable('read', statIfThere(this.pathOf(sha256)));
    return found?.size;
  }

  /** Opens the file when the first bytes are asked for: a body that nobody reads holds nothing. */
  async *bytes(sha256: string): AsyncGenerator<Uint8Array> {
    await using handle = await openIfThere(this.pathOf(sha256));
    if (handle === undefined) throw new ObjectMissing(sha256);
    for (;;) {
      const { bytesRead, buffer } = await orUnavailable(
        'read',
        handle.read(Buffer.allocUnsafeSlow(READ_BYTES)),
      );
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  }

  async *list(): AsyncGenerator<ListedObject> {
    for await (const folder of names(this.#root, /^[0-9a-f]{2}$/)) {
      for await (const subfolder of names(folder, /^[0-9a-f]{2}$/)) {
        for await (const file of names(subfolder, /^[0-9a-f]{64}$/)) {
          const found = await orUnavailable('read', statIfThere(file));
          if (!found) continue; // removed since
          yield { sha256: path.basename(file), length: found.size, storedAt: found.mtime };
        }
      }
    }
  }

  async remove(sha256: string, storedBefore: number): Promise<void> {
    await this.#writer.change({ kind: 'remove-file', file: this.pathOf(sha256), storedBefore });
  }

  async #refresh(file: string, object: StoredObject): Promise<boolean> {
    const whole = await this.#isWhole(object);
    return whole && this.#writer.change({ kind: 'touch-file', file });
  }

  /** A file that cannot be read is not trusted either. */
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

async function* names(folder: string, pattern: RegExp): AsyncGenerator<string> {
  for await (const { name } of await orUnavailable('read', opendir(folder))) {
    if (pattern.test(name)) yield path.join(folder, name);
  }
}

async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r');
  } catch (error) {
    if (isAbsence(error)) return undefined;
    return orUnavailable('read', Promise.reject(error));
  }
}

async function statIfThere(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

function isAbsence(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR');
}
