import { createHash } from 'node:crypto';
import { clock } from '../tools/clock.ts';
import { files } from '../tools/files.ts';
import { type Checksum, mismatch } from './checksum.ts';
import { orUploadsUnavailable, UploadFault, uploadsUnavailable } from './upload-fault.ts';
import type { UploadRecord, UploadState } from './upload-record.ts';
import { UploadWriter } from './upload-writer.ts';
import type { UploadsFolder } from './uploads-folder.ts';

const READ_BYTES = 128 * 1024;

/** An archive on its way in pieces. Whoever changes it has to hold it. */
export class Upload {
  readonly #folder: UploadsFolder;
  #record: UploadRecord;
  #offset: number;
  #touchedAt: number;
  /** Whether the file or the record may count bytes behind the offset: cutting them off has failed. */
  #hasSurplus = false;

  /** As it was when the last process ended, however that was. */
  static async restored(record: UploadRecord, folder: UploadsFolder): Promise<Upload> {
    const { state } = record;
    if (state.status === 'used') return new Upload(record, folder, record.length, Date.parse(state.usedAt));
    await using handle = await files.open(folder.bytesOf(record.id), 'a'); // made again if somebody removed it
    const { size, mtimeMs } = await handle.stat();
    const durable = record.durableLength ?? record.length;
    const length = Math.min(size, durable, state.status === 'verifying' ? state.from : record.length);
    if (length !== size) await handle.truncate(length);
    await handle.datasync();
    const upload = new Upload(record, folder, length, Math.max(Date.parse(record.createdAt), mtimeMs));
    if (state.status === 'verifying') await upload.become({ status: 'open' });
    else if (length !== record.durableLength) await upload.become(state);
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

  /** Bytes that are here and will be after a crash. */
  get offset(): number {
    return this.#offset;
  }

  /** When it last changed, in milliseconds since 1970. */
  get touchedAt(): number {
    return this.#touchedAt;
  }

  /**
   * Adds what comes. If the source fails, what it gave stays, unless it came with a checksum.
   * @throws {UploadFault} UPLOAD_TOO_LONG and UPLOAD_CHECKSUM_MISMATCH: nothing of it stays; UPLOADS_UNAVAILABLE;
   * UPLOAD_BUSY: whether it is an archive already is found out when it is named again.
   */
  async append(source: AsyncIterable<Uint8Array>, checksum?: Checksum): Promise<void> {
    if (this.state.status === 'claimed') throw claimed();
    await this.cutSurplus();
    const from = this.#offset;
    await this.#announce(from, checksum);
    // Bytes with a checksum count when they are verified.
    const record = async (length: number): Promise<void> => {
      if (!checksum) await this.#recordLength(length);
    };
    const opening = UploadWriter.open(this.#folder.bytesOf(this.id), from, record);
    await using writer = await orUploadsUnavailable(opening);
    try {
      await this.#receive(source, writer, checksum);
    } catch (error) {
      const isToGo = checksum !== undefined || error instanceof UploadFault;
      if (isToGo) await this.#discard(writer, from);
      else await this.#flush(writer);
      throw error;
    }
    await this.#keep(writer, from, checksum);
  }

  /**
   * Cuts off what is behind the offset, where an earlier attempt has failed; until then the upload is not usable.
   * @throws {UploadFault} UPLOADS_UNAVAILABLE: it has failed again
   */
  async cutSurplus(): Promise<void> {
    if (!this.#hasSurplus) return;
    await orUploadsUnavailable(truncateFile(this.#folder.bytesOf(this.id), this.#offset));
    await this.become({ status: 'open' });
    this.#hasSurplus = false;
  }

  /** All that is here. */
  async *bytes(): AsyncGenerator<Buffer> {
    await using handle = await orUploadsUnavailable(files.open(this.#folder.bytesOf(this.id), 'r'));
    for (;;) {
      const reading = handle.read(Buffer.allocUnsafeSlow(READ_BYTES));
      const { bytesRead, buffer } = await orUploadsUnavailable(reading);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Resolves when it is so for good, with the first `durableLength` bytes. */
  async become(state: UploadState, durableLength = this.#offset): Promise<void> {
    const record = { ...this.#record, durableLength, state };
    await this.#folder.write(record);
    this.#record = record;
  }

  /** It has become an archive of the deposit: the bytes go, only that is remembered. */
  async use(depositId: number, sha256: string): Promise<void> {
    await this.become({ status: 'used', depositId, usedAt: clock.date().toISOString(), sha256 });
    this.#touchedAt = clock.now();
    await this.#folder.removeBytes(this.id);
  }

  /** A crash from here on leaves no byte that was not verified, nor drops one that was acknowledged. */
  async #announce(from: number, checksum: Checksum | undefined): Promise<void> {
    if (checksum) await this.become({ status: 'verifying', from });
    else if (this.state.status === 'verifying') await this.become({ status: 'open' });
  }

  async #receive(
    source: AsyncIterable<Uint8Array>,
    writer: UploadWriter,
    checksum: Checksum | undefined,
  ): Promise<void> {
    const hash = checksum && createHash(checksum.algorithm);
    for await (const chunk of source) {
      if (writer.length + chunk.byteLength > this.length) throw this.#tooLong();
      hash?.update(chunk);
      await writer.write(chunk);
      this.#touchedAt = clock.now();
      if (writer.failure !== undefined) return; // told when what could be written is kept
    }
    const found = hash?.digest();
    if (checksum && found && !found.equals(checksum.digest)) throw mismatch(checksum, found);
  }

  async #keep(writer: UploadWriter, from: number, checksum: Checksum | undefined): Promise<void> {
    const length = await this.#flush(writer);
    try {
      if (writer.failure !== undefined) throw uploadsUnavailable(writer.failure);
      if (checksum) await this.become({ status: 'open' }, length);
    } catch (error) {
      if (checksum) await this.#discard(writer, from);
      throw error;
    }
    this.#offset = length;
  }

  /** Makes durable what was written, and returns how many bytes count. */
  async #flush(writer: UploadWriter): Promise<number> {
    const length = await writer.flush();
    this.#hasSurplus ||= writer.hasSurplus;
    return length;
  }

  async #recordLength(length: number): Promise<void> {
    try {
      await this.#folder.writeLength(this.id, length);
      this.#offset = length;
    } catch (error) {
      this.#hasSurplus = true; // the disk may have the number nevertheless
      throw error;
    }
  }

  /** Drops what came behind `from`. If that fails, the next request repeats it, see {@link cutSurplus}. */
  async #discard(writer: UploadWriter, from: number): Promise<void> {
    const wasCounted = this.#offset > from;
    this.#offset = from;
    await writer.cut(from);
    this.#hasSurplus ||= writer.hasSurplus;
    // While the file has surplus bytes, the record goes on to say that nothing behind `from` counts.
    if (this.state.status === 'verifying' && !this.#hasSurplus)
      await this.become({ status: 'open' }).catch(() => {});
    else if (wasCounted) await this.#recordLength(from).catch(() => {});
  }

  #tooLong(): UploadFault {
    const text = `The upload was announced with ${this.length} bytes, but more were sent: nothing of this request was kept.`;
    return new UploadFault('UPLOAD_TOO_LONG', text);
  }
}

async function truncateFile(file: string, length: number): Promise<void> {
  await using handle = await files.open(file, 'r+');
  await handle.truncate(length);
  await handle.datasync();
}

function claimed(): UploadFault {
  const text =
    'A request that names this upload has not come to its end: send that one again, nothing is missing here.';
  return new UploadFault('UPLOAD_BUSY', text);
}
