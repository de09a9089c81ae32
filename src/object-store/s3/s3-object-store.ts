import { Readable } from 'node:stream';
import { isSha256 } from '../../tools/cryptography/is-sha256.ts';
import { LruCache } from '../../tools/lru-cache.ts';
import { HashingThreads } from '../hashing/hashing-threads.ts';
import { bodyFrom } from '../hashing/verified-body.ts';
import { IncomingFolder } from '../incoming-folder.ts';
import {
  type ChunkSource,
  type ExpectedContent,
  type ListedObject,
  type LocalObject,
  type LocalSource,
  ObjectMissing,
  type ObjectStore,
  type StoredObject,
  type SweepIncomingOptions,
} from '../object-store.ts';
import { OpenOperations } from '../open-operations.ts';
import { Spool } from '../spool.ts';
import { unavailable, unreadable } from '../store-errors.ts';
import { MinioBucket, type MinioPlace } from './bucket.ts';
import { IncomingKeys, putBytes } from './incoming-keys.ts';
import type { OpenedObject } from './object-bytes.ts';
import { PART_BYTES } from './outgoing-body.ts';
import { removeStored } from './remove-stored.ts';
import { isFault, isUnread } from './s3-errors.ts';
import { S3StoreId } from './s3-store-id.ts';
import { S3Writer } from './s3-writer.ts';

export type MinioArchiveStoreOptions = MinioPlace & {
  /** Local folder for parts in transit and for materialized objects. */
  readonly temporaryFolder: string;
  /**
   * Whether a missing bucket is an error. A command must not create one, since it would mistake an empty bucket for the
   * store.
   */
  readonly mustExist?: boolean | undefined;
  /** Maximum bytes of small objects that are read from memory once after they were stored. None by default. */
  readonly recentBytes?: number | undefined;
  /** Size of the parts in which longer bodies are sent. */
  readonly partBytes?: number | undefined;
};

/** Idle time limit in milliseconds while the store is opened, so that a start fails soon. */
const OPENING_IDLE_MS = 10_000;
/** Time limits in milliseconds for requests in flight on closing, and for the end of those cancelled then. */
const [CLOSE_TIMEOUT_MS, CANCEL_TIMEOUT_MS] = [2000, 1000];

/**
 * Stores objects in a bucket of MinIO, or of another S3 store. Any number of processes may have the same bucket open.
 * Putting an object again replaces it by the same, newly verified bytes in one step. So its `storedAt` is updated, and
 * a corrupt object is repaired.
 *
 * S3 cannot check and remove in one step: a `put` that ends between these two requests of {@link remove}, one round
 * trip apart, loses its object, unless the bucket has versions.
 */
export class S3ObjectStore implements ObjectStore {
  readonly #bucket: MinioBucket;
  /** Access to the bucket for requests that do not wait for a restart of the store. */
  readonly #probed: MinioBucket;
  readonly #incoming: IncomingKeys;
  readonly #id: S3StoreId;
  readonly #folder: IncomingFolder;
  readonly #hashing: HashingThreads;
  /**
   * Small objects that this process has just stored, each until it is read once: a check or load on the same node needs
   * no request for it. Later reads prove that the store has the object.
   */
  readonly #recent: LruCache<Uint8Array> | undefined;
  readonly #writer: S3Writer;
  readonly #work = new OpenOperations();
  #closing: Promise<void> | undefined;

  /**
   * Opens the store. Creates a missing bucket, unless it must exist.
   * @throws {ObjectStoreUnavailable} the store cannot be reached or refuses the keys, or has no such bucket and does
   * not allow to create it.
   */
  static async open(options: MinioArchiveStoreOptions): Promise<S3ObjectStore> {
    const folder = await IncomingFolder.open(options.temporaryFolder);
    const idle = options.timeouts?.idle ?? OPENING_IDLE_MS;
    using asked = bucketAt({ ...options, timeouts: { ...options.timeouts, idle, restart: 0 } });
    await (options.mustExist ? asked.check() : createIfMissing(asked));
    return new S3ObjectStore(options, folder);
  }

  private constructor(
    { recentBytes, partBytes = PART_BYTES, ...place }: MinioArchiveStoreOptions,
    folder: IncomingFolder,
  ) {
    this.#recent = recentBytes === undefined ? undefined : new LruCache(recentBytes, ({ length }) => length);
    this.#bucket = bucketAt(place);
    this.#probed = bucketAt({ ...place, timeouts: { ...place.timeouts, restart: 0 } });
    this.#incoming = new IncomingKeys(this.#probed);
    this.#id = new S3StoreId(this.#bucket, this.#incoming);
    this.#folder = folder;
    this.#hashing = new HashingThreads();
    this.#writer = new S3Writer({
      bucket: this.#bucket,
      probed: this.#probed,
      incoming: this.#incoming,
      folder,
      hashing: this.#hashing,
      partBytes,
    });
  }

  put(source: ChunkSource, promised: ExpectedContent = {}): Promise<StoredObject> {
    // A copy, since the bytes may be part of a larger buffer.
    const onSmall = (sha256: string, bytes: Uint8Array) => this.#recent?.set(sha256, new Uint8Array(bytes));
    return this.#work.track(() => this.#writer.put(source, promised, onSmall));
  }

  async get(sha256: string, from = 0): Promise<{ readonly length: number; readonly body: Readable }> {
    const recent = from === 0 ? this.#takeRecent(sha256) : undefined;
    if (recent) return { length: recent.length, body: Readable.from([recent], { objectMode: false }) };
    const { length, bytes, close } = await this.#open(sha256, from);
    const body = bodyFrom(from, { sha256, length }, bytes, this.#hashing);
    return { length, body: body.once('close', close) };
  }

  async stat(sha256: string): Promise<{ readonly length: number } | undefined> {
    const found = await this.#bucket.stat(this.#bucket.keyOf(sha256));
    return found && { length: found.length };
  }

  /** Makes the object available locally. Its bytes are verified, unlike those of a local store. */
  async materialize(sha256: string): Promise<LocalObject> {
    const recent = this.#takeRecent(sha256);
    if (recent) return { length: recent.length, source: { kind: 'bytes', bytes: recent }, ...NOT_OPEN };
    const { length, body } = await this.get(sha256);
    await using scope = new AsyncDisposableStack();
    const spool = scope.use(new Spool(() => this.#folder.create()));
    for await (const chunk of body) await spool.write(chunk as Buffer);
    await spool.file?.written();
    const kept = scope.move();
    const { file } = spool;
    const source: LocalSource = file
      ? { kind: 'file', path: file.path }
      : { kind: 'bytes', bytes: spool.bytes() };
    return { length, source, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  }

  async *list(): AsyncGenerator<ListedObject> {
    for await (const { key, length, storedAt } of this.#bucket.list('v1/sha256/')) {
      const sha256 = key.slice(-64);
      if (isSha256(sha256) && key === this.#bucket.keyOf(sha256)) yield { sha256, length, storedAt };
    }
  }

  remove(sha256: string, { storedBefore }: { readonly storedBefore?: Date } = {}): Promise<void> {
    this.#takeRecent(sha256);
    return this.#work.track(() => removeStored(this.#bucket, this.#bucket.keyOf(sha256), storedBefore));
  }

  async sweepIncoming(
    olderThan: Date,
    { dryRun = false, onlyFiles = false }: SweepIncomingOptions = {},
  ): Promise<number> {
    const files = await this.#folder.sweep(olderThan, { dryRun });
    if (onlyFiles) return files;
    const keys = this.#bucket.list('incoming/');
    return files + (await this.#incoming.sweep(keys, olderThan, dryRun));
  }

  id(): Promise<string | undefined> {
    return this.#id.read();
  }

  setId(id: string): Promise<void> {
    return this.#id.write(id);
  }

  proposeId(id: string): Promise<void> {
    return this.#id.propose(id);
  }

  isProposed(id: string): Promise<boolean> {
    return this.#id.isProposed(id);
  }

  async ready(): Promise<void> {
    this.#work.assertOpen();
    await this.#probe(); // first: a full disk here says nothing of the bucket
    await this.#folder.probe();
  }

  /**
   * Gives operations in flight some time to end, then cancels them. Their remains in the store are swept later, as
   * after a crash: a store that does not answer is not asked to remove them.
   */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#work.close(CLOSE_TIMEOUT_MS);
    this.#incoming[Symbol.dispose]();
    for (const bucket of [this.#bucket, this.#probed]) bucket[Symbol.dispose]();
    await this.#work.close(CANCEL_TIMEOUT_MS);
    await this.#hashing[Symbol.asyncDispose]();
  }

  async #open(sha256: string, from: number): Promise<OpenedObject> {
    try {
      const opened = await this.#bucket.open(this.#bucket.keyOf(sha256), from);
      if (opened === undefined) throw new ObjectMissing(sha256);
      return { ...opened, bytes: this.#reading(sha256, opened.bytes) };
    } catch (error) {
      throw await this.#readingError(sha256, error);
    }
  }

  async *#reading(sha256: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* bytes;
    } catch (error) {
      throw await this.#readingError(sha256, error);
    }
  }

  /** Resolves to the error of the object if the store reads others. */
  async #readingError(sha256: string, error: unknown): Promise<unknown> {
    return isUnread(error) && (await this.#works(sha256)) ? unreadable(sha256, error) : error;
  }

  /** Whether the store works, and has this object: MinIO reports a corrupt object as unavailable. */
  async #works(sha256: string): Promise<boolean> {
    try {
      const found = await this.#probed.stat(this.#bucket.keyOf(sha256));
      await this.#probe();
      return found !== undefined;
    } catch {
      return false;
    }
  }

  /** Resolves when the store has written and removed an object. */
  #probe(): Promise<void> {
    return this.#incoming.probe(async (key) => {
      await putBytes(this.#probed, key, Buffer.alloc(0));
      await this.#probed.remove(key);
    });
  }

  #takeRecent(sha256: string): Uint8Array | undefined {
    const bytes = this.#recent?.get(sha256);
    this.#recent?.delete(sha256);
    return bytes;
  }
}

/** Disposes of a local object in memory, which leaves nothing. */
const NOT_OPEN: AsyncDisposable = { [Symbol.asyncDispose]: () => Promise.resolve() };

function bucketAt(place: MinioPlace): MinioBucket {
  try {
    return new MinioBucket(place);
  } catch (error) {
    throw unavailable('be used', error); // an invalid host or port
  }
}

async function createIfMissing(bucket: MinioBucket): Promise<void> {
  try {
    await bucket.check();
  } catch (error) {
    if (!isFault(error, 'NoSuchBucket')) throw error;
    await bucket.make().catch(async (refused: unknown) => {
      // Another process may have created it meanwhile.
      await bucket.check().catch(() => Promise.reject(refused));
    });
  }
}
