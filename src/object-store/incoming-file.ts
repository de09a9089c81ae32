import path from 'node:path';
import { FileWriter } from '../tools/files/file-writer.ts';
import { files } from '../tools/files.ts';
import { orUnavailable, unavailable } from './store-errors.ts';

/** Written bytes that trigger a sync of a file that must be durable. */
export const SYNC_BYTES = 4 * 1024 * 1024;

/** A file of an upload in progress. Disposing removes it unless `keep` was called. */
export class IncomingFile implements AsyncDisposable {
  readonly path: string;
  readonly #writer: FileWriter;
  readonly #onDisposed: () => void;
  #kept = false;

  /** @throws {ObjectStoreUnavailable} as do all methods. */
  static async create(file: string, syncBytes: number, onDisposed = () => {}): Promise<IncomingFile> {
    const folder = path.basename(path.dirname(file));
    const handle = await orUnavailable(`write to the folder ${folder}`, files.open(file, 'wx'));
    return new IncomingFile(file, new FileWriter(handle, { syncBytes }), onDisposed);
  }

  private constructor(file: string, writer: FileWriter, onDisposed: () => void) {
    this.path = file;
    this.#writer = writer;
    this.#onDisposed = onDisposed;
  }

  /** Resolves when more may follow. */
  async write(chunk: Uint8Array): Promise<void> {
    await this.#writer.write(chunk);
    this.#assertWritten();
  }

  /** Resolves when the file system has accepted all bytes. */
  async written(): Promise<void> {
    await this.#writer.written();
    this.#assertWritten();
  }

  /** Resolves when all bytes are on the disk. */
  async flush(): Promise<void> {
    await this.#writer.flush();
    this.#assertWritten();
  }

  /** Must be called when the file was renamed. */
  keep(): void {
    this.#kept = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // An error here leaves a file that is swept later, and must not hide why the upload failed.
    await this.#writer[Symbol.asyncDispose]().catch(() => {});
    if (!this.#kept) await files.rm(this.path, { force: true }).catch(() => {});
    this.#onDisposed();
  }

  #assertWritten(): void {
    if (this.#writer.failure !== undefined) throw unavailable('write', this.#writer.failure);
  }
}
