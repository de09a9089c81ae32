import { notFound, retryAfter } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import { mapConcurrent } from '../../tools/concurrency/limiter.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import type { Logger } from '../../tools/logger.ts';
import { random } from '../../tools/random.ts';
import { Upload } from './upload.ts';
import { type UploadLock, UploadLocks } from './upload-locks.ts';
import { MAX_CONCURRENT, UploadsFolder } from './uploads-folder.ts';

export type UploadLimits = {
  /** Maximum bytes of one upload. */
  readonly maxSize: number;
  /** Maximum number of open uploads of one client. */
  readonly perClient: number;
  /** Maximum bytes of all open uploads: those stored, and those reserved for the rest of uploads in progress. */
  readonly totalSize: number;
  /** Milliseconds without new bytes after which an upload is removed. */
  readonly expiry: number;
};

export type ResumableUploadsOptions = {
  readonly folder: string;
  readonly limits: UploadLimits;
  readonly logger: Logger;
  /** Approximate number of used uploads remembered for each client; a periodic sweep removes older ones. */
  readonly remembered?: number;
};

/** Client and collection of an upload; it does not exist for any other. */
export type UploadOwner = { readonly client: string; readonly collection: string };

export type NewUpload = UploadOwner & { readonly length: number; readonly metadata: string | null };

const RETRY_SECONDS = 60;
/** Milliseconds without a byte after which the room for the rest of an upload is no longer reserved. */
const RESERVATION_MS = 60_000;
const SWEEP_INTERVAL_MS = 300_000;
const MAX_USED_PER_CLIENT = 1000;
/** Milliseconds for chunks in transfer when the service stops; what arrived of others is stored, to be continued. */
const STOP_GRACE_MS = 5000;
/** Time limit of a stop for requests that still hold an upload: the end of the log ends their appends. */
const RELEASE_TIMEOUT_MS = 3000;

/** The resumable uploads of this node, until each becomes an archive of a deposit or expires. */
export class ResumableUploads implements AsyncDisposable {
  readonly limits: UploadLimits;
  readonly #folder: UploadsFolder;
  readonly #logger: Logger;
  readonly #locks = new UploadLocks();
  readonly #remembered: number;
  readonly #uploads = new Map<string, Upload>();
  /** The uploads that may occupy room: those that were not used when last looked at. Most of all uploads are used. */
  readonly #unused = new Set<Upload>();
  readonly #sweeping: NodeJS.Timeout;

  /** Opens the uploads that the last process left, with all bytes that it acknowledged. */
  static async open(options: ResumableUploadsOptions): Promise<ResumableUploads> {
    const folder = await UploadsFolder.open(options.folder);
    const uploads = new ResumableUploads(folder, options);
    const { records, unknown } = await folder.records();
    await mapConcurrent(records, MAX_CONCURRENT, async (record) =>
      uploads.#add(await Upload.restored(record, folder)),
    );
    if (unknown.length > 0) options.logger.warn({ records: unknown }, 'unreadable upload records');
    await uploads.sweep();
    return uploads;
  }

  private constructor(
    folder: UploadsFolder,
    { limits, logger, remembered = MAX_USED_PER_CLIENT }: ResumableUploadsOptions,
  ) {
    this.#remembered = remembered;
    this.#folder = folder;
    this.limits = limits;
    this.#logger = logger;
    this.#sweeping = clock.setInterval(() => void this.sweep(), SWEEP_INTERVAL_MS).unref();
  }

  /**
   * Creates an upload.
   * @param granted the collections of the client now: it cannot delete uploads in others, so they do not count
   * @throws {SwordError} 429: the client has too many; 503: there is no room, or a write failed.
   */
  async create(
    { client, collection, length, metadata }: NewUpload,
    granted: readonly string[] = [collection],
  ): Promise<Upload> {
    this.#assertFewEnough(client, granted);
    this.#assertRoom(client, length);
    const id = random.uuid();
    const createdAt = clock.date().toISOString();
    const record = {
      id,
      client,
      collection,
      length,
      metadata,
      createdAt,
      state: { status: 'open' },
    } as const;
    const upload = Upload.begun(record, this.#folder);
    this.#add(upload); // before any await, so that concurrent calls count it
    try {
      await this.#folder.add(record);
    } catch (error) {
      this.#drop(upload);
      throw error;
    }
    return upload;
  }

  /**
   * Passes the chunks on. Reserves the room for the rest of the upload again, if its reservation has lapsed, when a chunk
   * arrives.
   * @throws {SwordError} 429, 503: as `create`.
   */
  async *withRoom(upload: Upload, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      if (this.#isLapsed(upload)) this.#assertRoom(upload.record.client, upload.length - upload.offset);
      upload.touch();
      yield chunk;
    }
  }

  /** Finds an upload. A used one can be found until it would have expired or the client has used enough others. */
  find(id: string, { client, collection }: UploadOwner): Upload | undefined {
    const upload = this.#uploads.get(id);
    if (!upload || this.#isExpired(upload)) return undefined;
    const isTheirs = upload.record.client === client && upload.record.collection === collection;
    return isTheirs ? upload : undefined;
  }

  expiresAt(upload: Upload): Date {
    return new Date(upload.touchedAt + this.limits.expiry);
  }

  isHeld({ id }: Upload): boolean {
    return this.#locks.has(id);
  }

  /** Locks the upload for a change, as {@link UploadLocks.acquire} does. @throws {SwordError} 423; 404: it was removed. */
  async hold(upload: Upload, options?: Parameters<UploadLocks['acquire']>[1]): Promise<UploadLock> {
    const lock = await this.#locks.acquire(upload.id, options);
    if (this.#uploads.get(upload.id) === upload) return lock;
    lock[Symbol.dispose]();
    throw notFound('The upload has been removed.');
  }

  /** Interrupts a stalled sender; resolves when its bytes are stored. */
  withoutStalled({ id }: Upload): Promise<void> {
    return this.#locks.withoutStalled(id);
  }

  /** Removes the upload, which the caller must have locked. */
  async remove(upload: Upload): Promise<void> {
    await this.#folder.remove(upload.id);
    this.#drop(upload);
  }

  /** Removes expired uploads and surplus used ones. Never rejects: failures are retried by the next sweep. */
  async sweep(): Promise<void> {
    // A time in the future is of a clock that was ahead and has been set back.
    for (const upload of this.#uploads.values()) if (upload.touchedAt > clock.now()) upload.touch();
    const surplus = new Set(this.#surplusUsed());
    const isRemovable = (upload: Upload): boolean => surplus.has(upload) || this.#isPast(upload);
    for (const upload of this.#uploads.values().toArray()) {
      if (!isRemovable(upload) || this.#locks.has(upload.id)) continue;
      try {
        using _lock = await this.hold(upload);
        if (!isRemovable(upload)) continue;
        await this.remove(upload);
        this.#logger.info({ upload: upload.id, bytes: upload.offset }, 'upload expired');
      } catch (error) {
        this.#logger.warn({ err: error, upload: upload.id }, 'upload not removed');
      }
    }
  }

  /** Returns each client's used uploads beyond the newest ones, whose number would otherwise grow without limit. */
  #surplusUsed(): Upload[] {
    const used = this.#uploads.values().filter(({ state }) => state.status === 'used');
    const byClient = Map.groupBy(used, ({ record }) => record.client).values();
    return byClient
      .flatMap((theirs) => theirs.toSorted((a, b) => b.touchedAt - a.touchedAt).slice(this.#remembered))
      .toArray();
  }

  /** Interrupts remaining senders after a grace period of the stop; they can continue after the restart. */
  hurry(): void {
    clock.setTimeout(() => this.#locks.interruptAll(), STOP_GRACE_MS).unref();
  }

  /** Resolves when no request changes any of them, within a time limit. The next start settles what was claimed. */
  async [Symbol.asyncDispose](): Promise<void> {
    clock.clearInterval(this.#sweeping);
    await withTimeout(this.#locks.allReleased(), RELEASE_TIMEOUT_MS);
  }

  /** Returns whether it has expired; a locked upload has not. */
  #isExpired(upload: Upload): boolean {
    return this.#isPast(upload) && !this.#locks.has(upload.id);
  }

  #isPast(upload: Upload): boolean {
    return this.expiresAt(upload).getTime() <= clock.now();
  }

  #assertFewEnough(client: string, granted: readonly string[]): void {
    const { perClient } = this.limits;
    const isCounted = ({ record }: Upload) => record.client === client && granted.includes(record.collection);
    const theirs = this.#open().filter(isCounted).length;
    if (theirs < perClient) return;
    const text = `You have ${theirs} open uploads, and ${perClient} are allowed: use one, delete one, or let one expire.`;
    throw retryAfter('TooManyRequests', text, RETRY_SECONDS);
  }

  /**
   * Limits a client with reservations to half of the room that stored bytes and others' reservations leave, so that there
   * is room for the next client. A client without a reservation may have all of that room.
   */
  #assertRoom(client: string, bytes: number): void {
    let [stored, own, others] = [0, 0, 0];
    for (const upload of this.#open()) {
      stored += upload.offset;
      if (this.#isLapsed(upload)) continue;
      if (upload.record.client === client) own += upload.length - upload.offset;
      else others += upload.length - upload.offset;
    }
    const room = Math.max(0, this.limits.totalSize - stored - others);
    if (own + bytes > room) {
      const text = `The open uploads of all clients leave room for ${Math.max(0, room - own)} bytes now, and yours has ${bytes}: try again later.`;
      throw retryAfter('ServiceUnavailable', text, RETRY_SECONDS);
    }
    if (own === 0 || own + bytes <= room / 2) return;
    const text = `Your unfinished uploads still need ${own} bytes, and your share of the free space is ${Math.floor(room / 2)} bytes: finish or delete one before this one of ${bytes} bytes.`;
    throw retryAfter('TooManyRequests', text, RETRY_SECONDS);
  }

  /** Whether the reservation of room for the rest of the upload has lapsed. */
  #isLapsed(upload: Upload): boolean {
    return clock.now() - upload.touchedAt >= RESERVATION_MS;
  }

  #add(upload: Upload): void {
    this.#uploads.set(upload.id, upload);
    this.#unused.add(upload);
  }

  #drop(upload: Upload): void {
    this.#uploads.delete(upload.id);
    this.#unused.delete(upload);
  }

  /** Returns the uploads that occupy room. */
  #open(): Upload[] {
    for (const upload of this.#unused) if (upload.state.status === 'used') this.#unused.delete(upload);
    return [...this.#unused].filter((upload) => !this.#isExpired(upload));
  }
}
