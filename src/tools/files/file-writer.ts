import type { FileHandle } from 'node:fs/promises';

/** Bytes waiting for the disk above which the source is paused. */
const HIGH_WATER_BYTES = 1024 ** 2;
/** Maximum bytes written but not synced. */
const MAX_UNSYNCED_BYTES = 64 * 1024 ** 2;

type FileWriterOptions = {
  /** Written bytes that trigger a sync, so that little is left for the last one. */
  readonly syncBytes: number;
  /** Position of the first byte; by default that of the handle. */
  readonly position?: number;
  /** Called after each sync with the position up to which all bytes are durable. */
  readonly onSynced?: (length: number) => Promise<void>;
};

/**
 * Writes to a file in few large writes: chunks that arrive during one share the next. Its methods never reject: a
 * failure is stored, since the kernel reports a lost write only once.
 */
export class FileWriter implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #options: FileWriterOptions;
  #waiting: Uint8Array[] = [];
  #accepted: number;
  #written: number;
  #durable: number;
  #writing: Promise<void> | undefined;
  #syncing: Promise<void> | undefined;
  #failure: unknown;
  #syncFailed = false;

  /** Takes ownership of the handle. */
  constructor(handle: FileHandle, options: FileWriterOptions) {
    const { position = 0 } = options;
    this.#handle = handle;
    this.#options = options;
    this.#accepted = position;
    this.#written = position;
    this.#durable = position;
  }

  /** Position after the last byte, including those not written yet. */
  get length(): number {
    return this.#accepted;
  }

  /** The first error, if any: not all bytes are stored. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Resolves when the next chunk may be written. Drops the chunk after a failure: it would fill the gap of lost bytes. */
  async write(chunk: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) return;
    this.#waiting.push(chunk);
    this.#accepted += chunk.byteLength;
    this.#writing ??= this.#writeWaiting();
    if (this.#accepted - this.#written >= HIGH_WATER_BYTES) await this.#writing;
    if (this.#written - this.#durable >= MAX_UNSYNCED_BYTES) await this.#syncing;
  }

  /** Resolves when the file system has accepted all bytes and no sync is running. */
  async written(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    await this.#syncing;
  }

  /** Resolves to the position up to which all bytes are durable: after a failure, that of the last sync. */
  async flush(): Promise<number> {
    await this.written();
    if (!this.#syncFailed && this.#written > this.#durable) await this.#sync();
    return this.#durable;
  }

  /** Drops the bytes after `length`, durably. Resolves to false if that failed. */
  async truncate(length: number): Promise<boolean> {
    await this.written();
    this.#accepted = length;
    this.#written = length;
    this.#durable = length;
    try {
      await this.#handle.truncate(length);
      await this.#handle.sync();
      return true;
    } catch (error) {
      this.#failure ??= error;
      return false;
    }
  }

  /** @throws when the file cannot be closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.written();
    await this.#handle.close();
  }

  async #writeWaiting(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && this.#failure === undefined) {
        const batch = this.#waiting;
        this.#waiting = [];
        await this.#writeAll(batch);
        if (this.#written - this.#durable >= this.#options.syncBytes) this.#syncing ??= this.#sync();
      }
    } catch (error) {
      this.#failure ??= error;
    }
    this.#waiting = [];
    this.#writing = undefined;
  }

  /** A write may take fewer bytes than it was given, as it does shortly before the disk is full. */
  async #writeAll(chunks: readonly Uint8Array[]): Promise<void> {
    let rest = chunks.filter((chunk) => chunk.byteLength > 0);
    while (rest.length > 0) {
      const position = this.#options.position === undefined ? undefined : this.#written;
      const { bytesWritten } = await this.#handle.writev(rest, position);
      if (bytesWritten === 0) throw new Error('nothing was written');
      this.#written += bytesWritten;
      rest = skipBytes(rest, bytesWritten);
    }
  }

  async #sync(): Promise<void> {
    const length = this.#written;
    try {
      await this.#handle.datasync();
      await this.#options.onSynced?.(length);
      this.#durable = length;
    } catch (error) {
      this.#failure ??= error;
      this.#syncFailed = true;
    }
    this.#syncing = undefined;
  }
}

/** Returns the rest of the chunks after the first `bytes` bytes. */
function skipBytes(chunks: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skipped = bytes;
  let first = 0;
  for (let chunk = chunks[first]; chunk && chunk.byteLength <= skipped; chunk = chunks[first]) {
    skipped -= chunk.byteLength;
    first += 1;
  }
  const [cut, ...rest] = chunks.slice(first);
  return cut === undefined ? [] : [cut.subarray(skipped), ...rest];
}
