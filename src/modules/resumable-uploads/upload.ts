import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import { FileWriter } from '../../tools/files/file-writer.ts';
import { files } from '../../tools/files.ts';
import type { UploadRecord, UploadState } from './upload-record.ts';
import type { UploadsFolder } from './uploads-folder.ts';
import { orUploadsUnavailable, uploadBusy, uploadsUnavailable } from './uploads-unavailable.ts';

const READ_BYTES = 128 * 1024;
const SYNC_BYTES = 8 * 1024 ** 2;

export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256', 'md5'] as const;

/** Checksum that a client sends with its bytes. */
export type Checksum = { readonly algorithm: (typeof CHECKSUM_ALGORITHMS)[number]; readonly digest: Buffer };

/** An archive uploaded in chunks. Changes require its lock. */
export class Upload {
  readonly #folder: UploadsFolder;
  #record: UploadRecord;
  #offset: number;
  #touchedAt: number;
  /** Whether the file or the record may count bytes after the offset, because truncating failed. */
  #hasSurplus = false;
  #isConfirmed = true;

  /** Restores an upload from its record after a restart or a crash. */
  static async restored(record: UploadRecord, folder: UploadsFolder): Promise<Upload> {
    const { state } = record;
    if (state.status === 'used') return new Upload(record, folder, record.length, Date.parse(state.usedAt));
    await using handle = await files.open(folder.bytesOf(record.id), 'a'); // creates the file again if it was removed
    const { size, mtimeMs } = await handle.stat();
    const durable = record.durableLength ?? record.length;
    const length = Math.min(size, durable, state.status === 'verifying' ? state.from : record.length);
    if (length !== size) await handle.truncate(length);
    // The record counts bytes once they are synced: only what differs from it needs a sync, the slowest call of a start.
    if (length !== size || length !== record.durableLength) await handle.datasync();
    const upload = new Upload(record, folder, length, Math.max(Date.parse(record.createdAt), mtimeMs));
    upload.#isConfirmed = false;
    if (state.status === 'verifying') await upload.setState({ status: 'open' });
    else if (length !== record.durableLength) await upload.setState(state);
    return upload;
  }

  static begun(record: UploadRecord, folder: UploadsFolder): Upload {
    return new Upload(record, folder, 0, Date.parse(record.createdAt));
  }

  private constructor(record: UploadRecord, folder: UploadsFolder, offset: number, touchedAt: number) {
    this.#record = record;
    this.#folder = folder;
    this.#offset = offset;
    this.#touchedAt = touchedAt;
  }

  get id(): string {
    return this.#record.id;
  }

  get record(): UploadRecord {
    return this.#record;
  }

  get state(): UploadState {
    return this.#record.state;
  }

  get length(): number {
    return this.#record.length;
  }

  /** Number of bytes that are stored durably. */
  get offset(): number {
    return this.#offset;
  }

  /** Time of the last change, in milliseconds since 1970. */
  get touchedAt(): number {
    return this.#touchedAt;
  }

  /**
   * Appends bytes. If the source fails, the bytes so far are retained, unless they have a checksum.
   * @throws {SwordError} 413 and 460: none are retained; 503; 423: whether it is an archive already is determined when a
   * request names it again.
   */
  async append(source: AsyncIterable<Uint8Array>, checksum?: Checksum): Promise<void> {
    if (this.state.status === 'claimed') throw claimedError();
    await this.cutSurplus();
    const from = this.#offset;
    await this.#announce(from, checksum);
    // Bytes with a checksum count only once verified.
    const onSynced = async (length: number): Promise<void> => {
      if (!checksum) await this.#recordLength(length);
    };
    const handle = await orUploadsUnavailable(openAt(this.#folder.bytesOf(this.id), from));
    await using writer = new FileWriter(handle, { syncBytes: SYNC_BYTES, position: from, onSynced });
    let refusal: SwordError | undefined;
    try {
      refusal = await this.#receive(source, writer, checksum);
    } catch (error) {
      if (checksum) await this.#discard(writer, from);
      else await this.#flush(writer);
      throw error;
    }
    if (refusal) {
      await this.#discard(writer, from);
      throw refusal;
    }
    await this.#commit(writer, from, checksum);
  }

  /**
   * Makes the offset durable before a client learns it: the process before may have been killed after it had written the
   * record, and before the sync. A start does not do so for all uploads, since a sync is its slowest call.
   * @throws {SwordError} 503
   */
  async confirm(): Promise<void> {
    if (this.#isConfirmed) return;
    await this.#folder.sync(this.id);
    this.#isConfirmed = true;
  }

  /** Records that bytes have arrived. */
  touch(): void {
    this.#touchedAt = clock.now();
  }

  /**
   * Truncates the file to the offset if an earlier attempt failed; until then the upload is not usable.
   * @throws {SwordError} 503: it failed again.
   */
  async cutSurplus(): Promise<void> {
    if (!this.#hasSurplus) return;
    await orUploadsUnavailable(truncateFile(this.#folder.bytesOf(this.id), this.#offset));
    await this.setState({ status: 'open' });
    this.#hasSurplus = false;
  }

  /** Yields all stored bytes. */
  async *bytes(): AsyncGenerator<Buffer> {
    await using handle = await orUploadsUnavailable(files.open(this.#folder.bytesOf(this.id), 'r'));
    for (;;) {
      const reading = handle.read(Buffer.allocUnsafeSlow(READ_BYTES));
      const { bytesRead, buffer } = await orUploadsUnavailable(reading);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Resolves when the state is durable, with the first `durableLength` bytes. */
  async setState(state: UploadState, durableLength = this.#offset): Promise<void> {
    const record = { ...this.#record, durableLength, state };
    await this.#folder.write(record);
    this.#record = record;
  }

  /** Marks the upload as an archive of the deposit and removes its bytes. */
  async use(depositId: number, sha256: string): Promise<void> {
    await this.setState({ status: 'used', depositId, usedAt: clock.date().toISOString(), sha256 });
    this.#touchedAt = clock.now();
    await this.#folder.removeBytes(this.id);
  }

  /** Records where verified bytes end, so that a crash neither leaves unverified bytes nor drops acknowledged ones. */
  async #announce(from: number, checksum: Checksum | undefined): Promise<void> {
    if (checksum) await this.setState({ status: 'verifying', from });
    else if (this.state.status === 'verifying') await this.setState({ status: 'open' });
  }

  /** Resolves to why the bytes are refused, `undefined` if they are not. */
  async #receive(
    source: AsyncIterable<Uint8Array>,
    writer: FileWriter,
    checksum: Checksum | undefined,
  ): Promise<SwordError | undefined> {
    const hash = checksum && createHash(checksum.algorithm);
    for await (const chunk of source) {
      if (writer.length + chunk.byteLength > this.length) return tooManyBytes(this.length);
      hash?.update(chunk);
      await writer.write(chunk);
      if (writer.failure !== undefined) return undefined; // thrown after the written bytes are stored
    }
    const found = hash?.digest();
    return checksum && found && !found.equals(checksum.digest) ? mismatch(checksum, found) : undefined;
  }

  async #commit(writer: FileWriter, from: number, checksum: Checksum | undefined): Promise<void> {
    const length = await this.#flush(writer);
    try {
      if (writer.failure !== undefined) throw uploadsUnavailable(writer.failure);
      if (checksum) await this.setState({ status: 'open' }, length);
    } catch (error) {
      if (checksum) await this.#discard(writer, from);
      throw error;
    }
    this.#offset = length;
  }

  /** Makes the written bytes durable, and returns how many count. */
  async #flush(writer: FileWriter): Promise<number> {
    const length = await writer.flush();
    // After a failed sync any byte since the last one may be lost; a failed write may have left some.
    if (writer.failure !== undefined) await this.#truncate(writer, length);
    return length;
  }

  async #truncate(writer: FileWriter, length: number): Promise<void> {
    if (!(await writer.truncate(length))) this.#hasSurplus = true;
  }

  async #recordLength(length: number): Promise<void> {
    try {
      await this.#folder.writeLength(this.id, length);
      this.#offset = length;
    } catch (error) {
      this.#hasSurplus = true; // the disk may have stored the number nevertheless
      throw error;
    }
  }

  /** Drops the bytes after `from`. If that fails, the next request repeats it, see {@link cutSurplus}. */
  async #discard(writer: FileWriter, from: number): Promise<void> {
    const wasCounted = this.#offset > from;
    this.#offset = from;
    await this.#truncate(writer, from);
    // While the file has surplus bytes, the record must say that none after `from` count.
    if (this.state.status === 'verifying' && !this.#hasSurplus)
      await this.setState({ status: 'open' }).catch(() => {});
    else if (wasCounted) await this.#recordLength(from).catch(() => {});
  }
}

/** Returns the error for bytes beyond the announced length of an upload. */
export function tooManyBytes(length: number): SwordError {
  const text = `The upload was announced with ${length} bytes, but more were sent: nothing of this request was stored.`;
  return new SwordError('MaxUploadSizeExceeded', text);
}

/** Opens the file without the bytes after `length`. */
async function openAt(file: string, length: number): Promise<FileHandle> {
  const handle = await files.open(file, 'r+');
  try {
    if ((await handle.stat()).size !== length) await handle.truncate(length);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function truncateFile(file: string, length: number): Promise<void> {
  await using handle = await files.open(file, 'r+');
  await handle.truncate(length);
  await handle.datasync();
}

function claimedError(): SwordError {
  const text =
    'A request that names this upload has not finished: send that request again; the upload is complete.';
  return uploadBusy(text);
}

/** Returns the error for bytes that do not have the promised checksum. */
function mismatch({ algorithm, digest }: Checksum, found: Buffer): SwordError {
  const [promised, computed] = [digest.toString('base64'), found.toString('base64')];
  const text = `The ${algorithm} promised is ${promised}, but the bytes received have ${computed}: send them again.`;
  return new SwordError('UploadChecksumMismatch', text);
}
