import type { FileHandle } from 'node:fs/promises';
import { chunksAfter } from '../archive-store/chunks-after.ts';
import { files } from '../tools/files.ts';

/** Bytes that may wait for the disk before the source has to. */
const HIGH_WATER = 1024 ** 2;
/** Bytes after which the disk begins to take them, so that little is left for the end. */
const SYNC_BYTES = 8 * 1024 ** 2;
/** Bytes that may be ahead of the disk. */
const FAR_AHEAD = 64 * 1024 ** 2;

/** Resolves when the first `length` bytes count after a power cut, too. */
export type RecordLength = (length: number) => Promise<void>;

/** Appends to the bytes of an upload in few big writes: what comes during one goes with the next. */
export class UploadWriter implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #record: RecordLength;
  #waiting: Uint8Array[] = [];
  #taken: number;
  #written: number;
  #durable: number;
  #writing: Promise<void> | undefined;
  #syncing: Promise<void> | undefined;
  #failure: unknown;
  #syncFailed = false;
  #hasSurplus = false;

  /** Drops what the file has behind `length`. Calls `record` with each length up to which the bytes are synced. */
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
    this.#taken = length;
    this.#written = length;
    this.#durable = length;
  }

  /** Bytes with those that are on their way. */
  get length(): number {
    return this.#taken;
  }

  /** Why not all of them can be kept. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Whether the file may have bytes behind those that count, since they could not be cut off. */
  get hasSurplus(): boolean {
    return this.#hasSurplus;
  }

  /** Resolves when the next chunk may come. Drops the chunk after a {@link failure}: it would fill the gap of lost bytes. */
  async write(chunk: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) return;
    this.#waiting.push(chunk);
    this.#taken += chunk.byteLength;
    this.#writing ??= this.#writeWaiting();
    if (this.#taken - this.#written >= HIGH_WATER) await this.#writing;
    if (this.#written - this.#durable >= FAR_AHEAD) await this.#syncing;
  }

  /** Makes durable what was written, also if not all was; never rejects. Tells how many bytes there are. */
  async flush(): Promise<number> {
    await this.#settled();
    if (!this.#syncFailed && this.#written > this.#durable) await this.#sync();
    // After a failed sync any of the bytes since the last one may be lost; a failed write may have left some.
    if (this.#failure !== undefined) await this.cut(this.#durable);
    return this.#durable;
  }

  /** Drops what was written behind `length`, which is durable. Never rejects: see {@link hasSurplus}. */
  async cut(length: number): Promise<void> {
    await this.#settled();
    try {
      await this.#handle.truncate(length);
      await this.#handle.sync();
      this.#hasSurplus = false;
    } catch (error) {
      this.#failure ??= error;
      this.#hasSurplus = true;
    }
    this.#taken = length;
    this.#written = length;
    this.#durable = length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#settled();
    await this.#handle.close();
  }

  async #settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    await this.#syncing;
  }

  /** Never rejects: a failure is found out at the end, when what was written before is kept. */
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
      rest = chunksAfter(rest, bytesWritten);
    }
  }

  /** Never rejects either: the kernel tells a lost write only once, so the failure has to be kept. */
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
