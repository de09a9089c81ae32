import type { FileHandle } from 'node:fs/promises';
import { skipBytes } from '../tools/files/skip-bytes.ts';
import { files } from '../tools/files.ts';
import { orUnavailable, unavailable } from './store-errors.ts';

/** Bytes that may be buffered before the source has to wait. */
const HIGH_WATER = 1024 * 1024;

/** Number of written bytes that triggers a sync, so that little is left for the final one. */
const SYNC_BYTES = 4 * 1024 * 1024;

/**
 * A file of an upload in progress, written in few large writes: chunks that arrive during one write share the
 * next. Disposing removes it unless `keep` was called.
 */
export class IncomingFile implements AsyncDisposable {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #onDisposed: () => void;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #unsyncedBytes = 0;
  #syncing: Promise<void> | undefined;
  #failure: unknown;
  #kept = false;

  /** @throws {ObjectStoreUnavailable} as do all methods. */
  static async create(path: string, onDisposed: () => void): Promise<IncomingFile> {
    return new IncomingFile(path, await orUnavailable('write', files.open(path, 'wx')), onDisposed);
  }

  private constructor(path: string, handle: FileHandle, onDisposed: () => void) {
    this.path = path;
    this.#handle = handle;
    this.#onDisposed = onDisposed;
  }

  /** Buffers a chunk. Resolves when more may follow. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.byteLength;
    this.#writing ??= this.#writeWaiting();
    while (this.#waitingBytes >= HIGH_WATER && this.#writing !== undefined) await this.#writing;
    this.#assertWritten();
  }

  /** Resolves when the file system has accepted all bytes. */
  async written(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    this.#assertWritten();
  }

  /** Resolves when all bytes are on the disk. */
  async flush(): Promise<void> {
    await this.written();
    await this.#syncing;
    await this.#sync();
    this.#assertWritten();
  }

  /** Must be called when the file was renamed. */
  keep(): void {
    this.#kept = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    await this.#syncing;
    // An error here leaves a file that is swept later, and must not hide why the upload failed.
    await this.#handle.close().catch(() => {});
    if (!this.#kept) await files.rm(this.path, { force: true }).catch(() => {});
    this.#onDisposed();
  }

  /** Never rejects: the next write or flush reports a failure. */
  async #writeWaiting(): Promise<void> {
    const batch = this.#waiting;
    this.#unsyncedBytes += this.#waitingBytes;
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      await writeAll(this.#handle, batch);
    } catch (error) {
      this.#failure ??= error;
      this.#waiting = [];
    }
    if (this.#unsyncedBytes >= SYNC_BYTES) this.#syncing ??= this.#sync();
    this.#writing = this.#waiting.length > 0 ? this.#writeWaiting() : undefined;
  }

  /** Never rejects either. The kernel reports a lost write only once, so the failure is stored. */
  async #sync(): Promise<void> {
    this.#unsyncedBytes = 0;
    await this.#handle.datasync().catch((error: unknown) => {
      this.#failure ??= error;
    });
    this.#syncing = undefined;
  }

  #assertWritten(): void {
    if (this.#failure !== undefined) throw unavailable('write', this.#failure);
  }
}

/**
 * Writes all chunks. A write may take fewer bytes than it was given, as it does shortly before the disk is
 * full.
 */
async function writeAll(handle: FileHandle, chunks: Uint8Array[]): Promise<void> {
  let rest = chunks.filter((chunk) => chunk.byteLength > 0);
  while (rest.length > 0) {
    const { bytesWritten } = await handle.writev(rest);
    if (bytesWritten === 0) throw new Error('nothing was written');
    rest = skipBytes(rest, bytesWritten);
  }
}
