import type { Readable } from 'node:stream';
import { random } from '../../tools/random.ts';
import {
  type ArchiveStore,
  type ListedObject,
  type LocalObject,
  type LocalSource,
  ObjectMissing,
  type Promised,
  type StoredObject,
} from '../archive-store.ts';
import { HashingThreads } from '../hashing-threads.ts';
import { IncomingFolder } from '../incoming-folder.ts';
import { MAX_S3_OBJECT } from '../s3-url.ts';
import { Spool } from '../spool.ts';
import { formatStoreId, parseStoreId, STORE_ID } from '../store-id.ts';
import { unavailable, unreadable } from '../unavailable.ts';
import { verifiedBody } from '../verified-body.ts';
import { Verification } from '../verify.ts';
import { WorkInFlight } from '../work-in-flight.ts';
import { MinioBucket, type MinioPlace } from './bucket.ts';
import { isFault, isUnread, S3Fault } from './fault.ts';
import { putBytes, putEmpty, removeIncoming } from './incoming-keys.ts';
import { Leftovers } from './leftovers.ts';
import { listed } from './listing.ts';
import { OutgoingBody } from './outgoing-body.ts';
import { removeStored } from './remove-stored.ts';

export type MinioArchiveStoreOptions = MinioPlace & {
  /** A folder of this machine for parts on their way and for objects that are checked out. */
  readonly temporaryFolder: string;
  /** A bucket that is missing is not made: whoever goes on would take an empty one for all there is. */
  readonly mustExist?: boolean | undefined;
};

/** Milliseconds that the store may say nothing when it is opened: who starts a service wants to know soon. */
const OPENING_IDLE = 10_000;
/** Milliseconds for what is under way when it is closed, and again for what was cut then to come to its end. */
const [CLOSE_PATIENCE, CUT_PATIENCE] = [2000, 1000];

/**
 * The archive store in a bucket of MinIO, or of another store that speaks S3. Any number of processes may have
 * the same bucket open. An object that is put again is replaced by the same bytes, verified anew, in one step:
 * so it is stored from then on, and whole again if it was damaged.
 *
 * S3 cannot look and remove in one step: a `put` that ends between these two requests of {@link remove}, which
 * are one round trip apart, loses its object, unless the bucket has versions.
 */
export class MinioArchiveStore implements ArchiveStore {
  readonly #bucket: MinioBucket;
  /** The same one for requests that do not wait for a restart of the store. */
  readonly #probed: MinioBucket;
  readonly #leftovers: Leftovers;
  readonly #folder: IncomingFolder;
  readonly #hashing: HashingThreads;
  readonly #incomingKeys = new Set<string>();
  readonly #work = new WorkInFlight();
  #closing: Promise<void> | undefined;

  /**
   * Makes the bucket when it is missing, unless it must exist.
   * @throws {ArchiveStoreUnavailable} the store cannot be reached or refuses the keys, or has no such bucket and
   *   does not let it be made.
   */
  static async open(options: MinioArchiveStoreOptions): Promise<MinioArchiveStore> {
    const folder = await IncomingFolder.open(options.temporaryFolder);
    const idle = options.timeouts?.idle ?? OPENING_IDLE;
    using asked = bucketAt({ ...options, timeouts: { ...options.timeouts, idle, restart: 0 } });
    await (options.mustExist ? asked.check() : makeWhereMissing(asked));
    return new MinioArchiveStore(options, folder);
  }

  private constructor(place: MinioPlace, folder: IncomingFolder) {
    this.#bucket = bucketAt(place);
    this.#probed = bucketAt({ ...place, timeouts: { ...place.timeouts, restart: 0 } });
    this.#leftovers = new Leftovers(this.#probed);
    this.#folder = folder;
    this.#hashing = new HashingThreads();
  }

  put(source: AsyncIterable<Uint8Array>, promised: Promised = {}): Promise<StoredObject> {
    return this.#work.track(() => this.#withIncomingKey((key) => this.#put(source, promised, key)));
  }

  async get(sha256: string): Promise<{ readonly length: number; readonly body: Readable }> {
    const { length } = await this.#found(sha256);
    return { length, body: verifiedBody({ sha256, length }, this.#bytes(sha256), this.#hashing.begin()) };
  }

  async stat(sha256: string): Promise<{ readonly length: number } | undefined> {
    const found = await this.#bucket.stat(this.#keyOf(sha256));
    return found && { length: found.length };
  }

  /** Verified, unlike what a local store hands out. */
  async checkOut(sha256: string): Promise<LocalObject> {
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
    for await (const { key, length, storedAt } of listed(this.#bucket, `${this.#bucket.prefix}v1/sha256/`)) {
      const sha256 = key.slice(-64);
      if (/^[0-9a-f]{64}$/.test(sha256) && key === this.#keyOf(sha256)) yield { sha256, length, storedAt };
    }
  }

  remove(sha256: string, { storedBefore }: { readonly storedBefore?: Date } = {}): Promise<void> {
    return this.#work.track(() => removeStored(this.#bucket, this.#keyOf(sha256), storedBefore));
  }

  /** Leaves alone what this process is writing; of other processes it knows only when their uploads began. */
  async sweepIncoming(
    olderThan: Date,
    { dryRun = false }: { readonly dryRun?: boolean } = {},
  ): Promise<number> {
    let swept = await this.#folder.sweep(olderThan, { dryRun });
    for await (const { key, storedAt } of listed(this.#bucket, `${this.#bucket.prefix}incoming/`)) {
      if (this.#incomingKeys.has(key) || storedAt >= olderThan) continue;
      if (!dryRun) await removeIncoming(this.#probed, key);
      swept += 1;
    }
    return swept;
  }

  async id(): Promise<string | undefined> {
    const { name, prefix } = this.#bucket;
    const key = `${prefix}${STORE_ID}`;
    if ((await this.#bucket.stat(key)) === undefined) return undefined;
    const bytes = (await this.#bucket.open(key)) ?? [];
    const text = Buffer.concat(await Array.fromAsync(bytes)).toString();
    return parseStoreId(text, `${key} in the bucket ${name}`);
  }

  async setId(id: string): Promise<void> {
    await putBytes(this.#bucket, `${this.#bucket.prefix}${STORE_ID}`, Buffer.from(formatStoreId(id)));
  }

  async ready(): Promise<void> {
    this.#work.assertOpen();
    await this.#folder.probe();
    await this.#probe();
  }

  /**
   * What is under way has some time to end; then it is cut, and fails. What it leaves in the store is swept later, as
   * after a crash: a store that says nothing is not asked to remove it.
   */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#work.close(CLOSE_PATIENCE);
    this.#leftovers[Symbol.dispose]();
    for (const bucket of [this.#bucket, this.#probed]) bucket[Symbol.dispose]();
    await this.#work.close(CUT_PATIENCE);
    await this.#hashing[Symbol.asyncDispose]();
  }

  async #put(
    source: AsyncIterable<Uint8Array>,
    promised: Promised,
    incomingKey: string,
  ): Promise<StoredObject> {
    const maxLength = Math.min(promised.maxLength ?? Infinity, MAX_S3_OBJECT);
    const verification = new Verification({ ...promised, maxLength }, this.#hashing);
    const createFile = () => this.#folder.create();
    const [bucket, leftovers, hashing] = [this.#bucket, this.#leftovers, this.#hashing];
    const sending = { bucket, leftovers, hashing, createFile, incomingKey };
    await using body = new OutgoingBody(sending);
    for await (const chunk of verification.check(source)) await body.write(chunk);
    const { stored } = verification;
    const key = this.#keyOf(stored.sha256);
    const { md5 } = await body.place(key);
    await this.#assertPlaced(key, stored.length, md5);
    return stored;
  }

  async #assertPlaced(key: string, length: number, md5: string | undefined): Promise<void> {
    const found = await this.#bucket.stat(key);
    if (found?.length === length && (md5 === undefined || found.etag === md5)) return;
    const instead = found ? `${found.length} bytes with the ETag ${found.etag}` : 'nothing';
    const fault = `it was sent ${length} bytes but holds ${instead}`;
    throw unavailable('write', new S3Fault('OtherBytes', fault));
  }

  async #found(sha256: string): Promise<{ readonly length: number }> {
    const found = await this.stat(sha256);
    if (found === undefined) throw new ObjectMissing(sha256);
    return found;
  }

  /** Asked for when they are read, so that a reader who never begins keeps no connection. */
  async *#bytes(sha256: string): AsyncGenerator<Uint8Array> {
    try {
      const bytes = await this.#bucket.open(this.#keyOf(sha256));
      if (bytes === undefined) throw new ObjectMissing(sha256);
      yield* bytes;
    } catch (error) {
      throw isUnread(error) && (await this.#works(sha256)) ? unreadable(sha256, error) : error;
    }
  }

  /** Whether the store works, and has this object: MinIO answers for a damaged object as if it were away. */
  async #works(sha256: string): Promise<boolean> {
    try {
      const found = await this.#probed.stat(this.#keyOf(sha256));
      await this.#probe();
      return found !== undefined;
    } catch {
      return false;
    }
  }

  /** Resolves when the store has written and removed something. */
  #probe(): Promise<void> {
    return this.#withIncomingKey(async (key) => {
      try {
        await putEmpty(this.#probed, key);
        await this.#probed.remove(key);
      } catch (error) {
        await this.#leftovers.remove(key, { id: undefined });
        throw error;
      }
    });
  }

  #keyOf(sha256: string): string {
    return `${this.#bucket.prefix}v1/sha256/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`;
  }

  async #withIncomingKey<T>(work: (key: string) => Promise<T>): Promise<T> {
    const key = `${this.#bucket.prefix}incoming/${random.uuid()}`;
    this.#incomingKeys.add(key);
    try {
      return await work(key);
    } finally {
      this.#incomingKeys.delete(key);
    }
  }
}

function bucketAt(place: MinioPlace): MinioBucket {
  try {
    return new MinioBucket(place);
  } catch (error) {
    throw unavailable('be used', error); // a host or port that can be none
  }
}

async function makeWhereMissing(bucket: MinioBucket): Promise<void> {
  try {
    await bucket.check();
  } catch (error) {
    if (!isFault(error, 'NoSuchBucket')) throw error;
    await bucket.make().catch(async (refused: unknown) => {
      // Another process may have made it in the meantime.
      await bucket.check().catch(() => Promise.reject(refused));
    });
  }
}
