import type { FileHandle } from 'node:fs/promises';
import { skipBytes } from '../../tools/files/skip-bytes.ts';
import { files } from '../../tools/files.ts';

/** Bytes waiting for the disk above which the source is paused. */
const HIGH_WATER_BYTES = 1024 ** 2;
/** Bytes after which a sync begins, so that the last one is short. */
const SYNC_BYTES = 8 * 1024 ** 2;
/** Maximum bytes written but not synced. */
const MAX_UNSYNCED_BYTES = 64 * 1024 ** 2;

/** Records that the first `length` bytes are durable. */
export type RecordLength = (length: number) => Promise<void>;

/** Appends to the bytes of an upload in few large writes: chunks that arrive during one go into the next. */
export class UploadWriter implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #record: RecordLength;
  #waiting: Uint8Array[] = [];
  #accepted: number;
  #written: number;
  #durable: number;
  #writing: Promise<void> | undefined;
  #syncing: Promise<void> | undefined;
  #failure: unknown;
  #syncFailed = false;
  #hasSurplus = false;

  /** Opens the file and truncates it to `length`. Calls `record` with each length up to which the bytes are synced. */
  static async open(file: string, length: number, record: RecordLength): Promise<UploadWriter> {
    const handle = await files.open(file, 'r+');
    try {
      if ((await handle.stat()).size !== length) await handle.truncate(length);
      return new UploadWriter(handle, length, record);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  private constructor(handle: FileHandle, length: number, record: RecordLength) {
    this.#handle = handle;
    this.#record = record;
    this.#accepted = length;
    this.#written = length;
    this.#durable = length;
  }

  /** Number of bytes, including those not written yet. */
  get length(): number {
    return this.#accepted;
  }

  /** The first error, if any: not all bytes could be stored. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Whether the file may have bytes after those that count, since truncating failed. */
  get hasSurplus(): boolean {
    return this.#hasSurplus;
  }

  /**
   * Resolves when the next chunk may be written. Drops the chunk after a {@link failure}: it would fill the gap of lost
   * bytes.
   */
  async write(chunk: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) return;
    this.#waiting.push(chunk);
    this.#accepted += chunk.byteLength;
    this.#writing ??= this.#writeWaiting();
    if (this.#accepted - this.#written >= HIGH_WATER_BYTES) await this.#writing;
    if (this.#written - this.#durable >= MAX_UNSYNCED_BYTES) await this.#syncing;
  }

  /** Makes the written bytes durable, even after a failure; never rejects. Resolves to their number. */
  async flush(): Promise<number> {
    await this.#waitForWrites();
    if (!this.#syncFailed && this.#written > this.#durable) await this.#sync();
    // After a failed sync any byte since the last one may be lost; a failed write may have left some.
    if (this.#failure !== undefined) await this.cut(this.#durable);
    return this.#durable;
  }

  /** Drops bytes after `length`, which is durable. Never rejects: see {@link hasSurplus}. */
  async cut(length: number): Promise<void> {
    await this.#waitForWrites();
    try {
      await this.#handle.truncate(length);
      await this.#handle.sync();
      this.#hasSurplus = false;
    } catch (error) {
      this.#failure ??= error;
      this.#hasSurplus = true;
    }
    this.#accepted = length;
    this.#written = length;
    this.#durable = length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#waitForWrites();
    await this.#handle.close();
  }

  async #waitForWrites(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    await this.#syncing;
  }

  /** Writes all waiting chunks. Never rejects: {@link flush} handles a failure and preserves the earlier bytes. */
  async #writeWaiting(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && this.#failure === undefined) {
        const batch = this.#waiting;
        this.#waiting = [];
        await this.#writeAll(batch);
        if (this.#written - this.#durable >= SYNC_BYTES) this.#syncing ??= this.#sync();
      }
    } catch (error) {
      this.#failure ??= error;
    }
    this.#waiting = [];
    this.#writing = undefined;
  }

  /** A write may take fewer bytes than it was given, as it does shortly before the disk is full. */
  async #writeAll(chunks: Uint8Array[]): Promise<void> {
    let rest = chunks.filter((chunk) => chunk.byteLength > 0);
    while (rest.length > 0) {
      const { bytesWritten } = await this.#handle.writev(rest, this.#written);
      if (bytesWritten === 0) throw new Error('nothing was written');
      this.#written += bytesWritten;
      rest = skipBytes(rest, bytesWritten);
    }
  }

  /**
   * Syncs the written bytes. Never rejects either: the kernel reports a lost write only once, so the failure is stored.
   */
  async #sync(): Promise<void> {
    const length = this.#written;
    try {
      await this.#handle.datasync();
      await this.#record(length);
      this.#durable = length;
    } catch (error) {
      this.#failure ??= error;
      this.#syncFailed = true;
    }
    this.#syncing = undefined;
  }
}
