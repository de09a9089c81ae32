import type { Logger } from '../logger.ts';
import { clock } from '../tools/clock.ts';
import { random } from '../tools/random.ts';
import { Upload } from './upload.ts';
import { UploadFault } from './upload-fault.ts';
import { type Hold, UploadHolds } from './upload-holds.ts';
import { UploadsFolder } from './uploads-folder.ts';

export type UploadLimits = {
  /** Bytes of one upload. */
  readonly maxSize: number;
  /** Open uploads of one client. */
  readonly perClient: number;
  /** Bytes of all open uploads, as they were announced. */
  readonly totalSize: number;
  /** Milliseconds after which one to which nothing was added is removed. */
  readonly expiry: number;
};

export type ResumableUploadsOptions = {
  readonly folder: string;
  readonly limits: UploadLimits;
  readonly logger: Logger;
  /** Milliseconds without a byte after which a sender gives way to another request. */
  readonly stalledAfter?: number;
  /** Uploads of a client that were used and are remembered; about so many, as they are counted now and then. */
  readonly remembered?: number;
};

/** Who has begun an upload, and for which collection: nobody else sees it. */
export type UploadOwner = { readonly client: string; readonly collection: string };

export type NewUpload = UploadOwner & { readonly length: number; readonly metadata: string | null };

const SWEEP_INTERVAL = 300_000;
const REMEMBERED = 1000;
/** For pieces under way when the service stops, in milliseconds: what has come of the others is kept for the next one. */
const LAST_PIECES = 5000;

/** The uploads of this node that come in pieces, until each is an archive of a deposit or has expired. */
export class ResumableUploads implements AsyncDisposable {
  readonly limits: UploadLimits;
  readonly #folder: UploadsFolder;
  readonly #logger: Logger;
  readonly #holds: UploadHolds;
  readonly #remembered: number;
  readonly #uploads = new Map<string, Upload>();
  readonly #sweeping: NodeJS.Timeout;

  /** With what the last process has left: all that it acknowledged is there. */
  static async open(options: ResumableUploadsOptions): Promise<ResumableUploads> {
    const folder = await UploadsFolder.open(options.folder);
    const uploads = new ResumableUploads(folder, options);
    const { records, unknown } = await folder.records();
    for (const record of records) uploads.#uploads.set(record.id, await Upload.restored(record, folder));
    if (unknown.length > 0) options.logger.warn({ records: unknown }, 'upload records not understood');
    await uploads.sweep();
    return uploads;
  }

  private constructor(
    folder: UploadsFolder,
    { limits, logger, stalledAfter, remembered = REMEMBERED }: ResumableUploadsOptions,
  ) {
    this.#remembered = remembered;
    this.#folder = folder;
    this.limits = limits;
    this.#logger = logger;
    this.#holds = new UploadHolds(stalledAfter);
    this.#sweeping = clock.setInterval(() => void this.sweep(), SWEEP_INTERVAL).unref();
  }

  /** @throws {UploadFault} TOO_MANY_UPLOADS, NO_ROOM_FOR_UPLOAD, UPLOADS_UNAVAILABLE */
  async create({ client, collection, length, metadata }: NewUpload): Promise<Upload> {
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
    this.#uploads.set(id, upload); // before anything is awaited, so that it counts for the next one
    try {
      await this.#folder.add(record);
    } catch (error) {
      this.#uploads.delete(id);
      throw error;
    }
    return upload;
  }

  /** One that was used is remembered until it would have expired, or others of the client were used after it. */
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
    return this.#holds.has(id);
  }

  /**
   * For who is going to change it. `interrupt` ends what the holder does, for one who comes later; `insists`
   * uses that of a holder who has not stalled, too.
   * @throws {UploadFault} UPLOAD_BUSY, UPLOAD_GONE
   */
  async hold(
    upload: Upload,
    { interrupt, insists = false }: { interrupt?: () => void; insists?: boolean } = {},
  ): Promise<Hold> {
    const hold = await this.#holds.take(upload.id, interrupt, { insists });
    if (this.#uploads.get(upload.id) === upload) return hold;
    hold[Symbol.dispose]();
    throw new UploadFault('UPLOAD_GONE', 'The upload has been removed.');
  }

  /** Resolves when what a stalled sender has given is there. */
  withoutStalled({ id }: Upload): Promise<void> {
    return this.#holds.withoutStalled(id);
  }

  /** To be held. */
  async remove({ id }: Upload): Promise<void> {
    await this.#folder.remove(id);
    this.#uploads.delete(id);
  }

  /** Removes what has expired or is to be forgotten. Never rejects: it is tried again later. */
  async sweep(): Promise<void> {
    const forgotten = new Set(this.#tooLongAgo());
    const isToGo = (upload: Upload): boolean => forgotten.has(upload) || this.#isPast(upload);
    for (const upload of this.#uploads.values().toArray()) {
      if (!isToGo(upload) || this.#holds.has(upload.id)) continue;
      try {
        using _hold = await this.hold(upload);
        if (!isToGo(upload)) continue;
        await this.remove(upload);
        this.#logger.info({ upload: upload.id, bytes: upload.offset }, 'upload expired');
      } catch (error) {
        this.#logger.warn({ err: error, upload: upload.id }, 'upload not removed');
      }
    }
  }

  /** Of each client those that were used before the last ones: there is no end to them. */
  #tooLongAgo(): Upload[] {
    const used = this.#uploads.values().filter(({ state }) => state.status === 'used');
    const byClient = Map.groupBy(used, ({ record }) => record.client).values();
    return byClient
      .flatMap((theirs) => theirs.toSorted((a, b) => b.touchedAt - a.touchedAt).slice(this.#remembered))
      .toArray();
  }

  /** The service is about to stop: senders that are not through soon are cut off, and go on when it is back. */
  hurry(): void {
    clock.setTimeout(() => this.#holds.interruptAll(), LAST_PIECES).unref();
  }

  /** Resolves when nobody changes any of them. */
  async [Symbol.asyncDispose](): Promise<void> {
    clock.clearInterval(this.#sweeping);
    await this.#holds.allReleased();
  }

  /** While somebody is at it, it does not expire. */
  #isExpired(upload: Upload): boolean {
    return this.#isPast(upload) && !this.#holds.has(upload.id);
  }

  #isPast(upload: Upload): boolean {
    return this.expiresAt(upload).getTime() <= clock.now();
  }

  #assertRoom(client: string, length: number): void {
    const { perClient, totalSize } = this.limits;
    const open = [...this.#uploads.values()].filter(
      (upload) => upload.state.status !== 'used' && !this.#isExpired(upload),
    );
    const theirs = open.filter(({ record }) => record.client === client).length;
    if (theirs >= perClient) {
      const text = `You have ${theirs} open uploads, and ${perClient} are allowed: use one, delete one, or let one expire.`;
      throw new UploadFault('TOO_MANY_UPLOADS', text);
    }
    const promised = open.reduce((sum, upload) => sum + upload.length, 0);
    if (promised + length <= totalSize) return;
    const room = Math.max(0, totalSize - promised);
    const text = `The open uploads of all clients leave room for ${room} bytes now, and yours has ${length}: try again later.`;
    throw new UploadFault('NO_ROOM_FOR_UPLOAD', text);
  }
}
