import { hash } from 'node:crypto';
import { clock } from '../../tools/clock.ts';
import { Backoff } from '../../tools/concurrency/backoff.ts';
import { random, UUID } from '../../tools/random.ts';
import { type ListedKey, type MinioBucket, orMissing } from './bucket.ts';

/** Pauses in milliseconds between attempts to remove keys. */
const PAUSES = { firstPause: 1000, longestPause: 60_000 };

/** Maximum number of requests for an empty list of uploads: one of four drives may not list any. */
const MAX_LISTS = 3;

/**
 * The keys below `incoming/`: objects that are being sent, until they have their names. Keys that cannot be removed
 * when they are no longer needed are removed later.
 */
export class IncomingKeys implements Disposable {
  readonly #bucket: MinioBucket;
  /** The key of the next probe. It remains while its object cannot be removed, so that probes leave one key at most. */
  #probeKey: string;
  readonly #inUse = new Set<string>();
  readonly #leftovers = new Set<string>();
  readonly #backoff = new Backoff(PAUSES);
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(bucket: MinioBucket) {
    this.#bucket = bucket;
    this.#probeKey = this.#newProbeKey();
  }

  keyOf(uuid: string): string {
    return `${this.#folder}${uuid}`;
  }

  /** Runs the work with a new key, which no sweep of this process removes meanwhile. */
  async use<T>(work: (key: string) => Promise<T>): Promise<T> {
    const key = this.keyOf(random.uuid());
    this.#inUse.add(key);
    try {
      return await work(key);
    } finally {
      this.#inUse.delete(key);
    }
  }

  /**
   * Runs the work with the key of probes, and removes that key if the work fails. The next probe gets a new key, since in
   * a bucket with versions a key becomes slower with each.
   */
  async probe<T>(work: (key: string) => Promise<T>): Promise<T> {
    const key = this.#probeKey;
    try {
      const result = await work(key);
      this.#renewProbeKey(key);
      return result;
    } catch (error) {
      await this.remove(key, { id: undefined });
      if (!this.#leftovers.has(key)) this.#renewProbeKey(key);
      throw error;
    }
  }

  /**
   * Never rejects. @param upload the only upload to this key that can exist, if known; without an id there is no
   * upload.
   */
  async remove(key: string, upload?: { readonly id: string | undefined }): Promise<void> {
    try {
      if (upload === undefined) return await this.#removeAll(key);
      if (upload.id !== undefined) await this.#abort(key, upload.id);
      await this.#bucket.remove(key);
    } catch {
      this.#leftovers.add(key);
      this.#schedule();
    }
  }

  /**
   * Removes old ones of the listed keys, except those in use here; of other processes only the start of their uploads is
   * known. Keys of another form than that of this class belong to another application. Resolves to their number.
   */
  async sweep(keys: AsyncIterable<ListedKey>, olderThan: Date, dryRun: boolean): Promise<number> {
    let swept = 0;
    for await (const { key, storedAt } of keys) {
      if (!this.#isOwn(key) || this.#inUse.has(key) || storedAt >= olderThan) continue;
      if (!dryRun) await this.#removeAll(key);
      swept += 1;
    }
    return swept;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    clock.clearTimeout(this.#timer);
  }

  /** Whether a service makes such keys: every release names them by a UUID. */
  #isOwn(key: string): boolean {
    return key.startsWith(this.#folder) && UUID.test(key.slice(this.#folder.length));
  }

  get #folder(): string {
    return `${this.#bucket.prefix}incoming/`;
  }

  /** Replaces the key of probes, unless another probe has done so. */
  #renewProbeKey(used: string): void {
    if (this.#probeKey !== used) return;
    this.#inUse.delete(used);
    this.#probeKey = this.#newProbeKey();
  }

  #newProbeKey(): string {
    const key = this.keyOf(random.uuid());
    this.#inUse.add(key);
    return key;
  }

  #schedule(): void {
    if (this.#closed || this.#timer !== undefined) return;
    this.#timer = clock.setTimeout(() => void this.#retry(), this.#backoff.next()).unref();
  }

  async #retry(): Promise<void> {
    try {
      for (const key of this.#leftovers) {
        await this.#removeAll(key);
        this.#leftovers.delete(key);
      }
      this.#backoff.reset();
    } catch {
      // The store is still unavailable; the remaining keys wait for the next attempt.
    }
    this.#timer = undefined;
    if (this.#leftovers.size > 0) this.#schedule();
  }

  /** Aborts the incomplete uploads to this key, then removes the key, which is required to find them. */
  async #removeAll(key: string): Promise<void> {
    for (const uploadId of await this.#uploadsTo(key)) await this.#abort(key, uploadId);
    await this.#bucket.remove(key);
  }

  /** Aborts an upload. No error when it does not exist: another process may have swept it. */
  async #abort(key: string, uploadId: string): Promise<void> {
    const bucket = this.#bucket;
    await bucket.ask('remove', (client) =>
      orMissing(client.abortMultipartUpload(bucket.name, key, uploadId)),
    );
  }

  async #uploadsTo(key: string): Promise<string[]> {
    const delimiter = '/'; // Swift finds an empty delimiter in every key, and lists no upload
    for (let look = 0; look < MAX_LISTS; look += 1) {
      const { uploads } = await this.#bucket.ask('sweep', (client) =>
        client.listIncompleteUploadsQuery(this.#bucket.name, key, '', '', delimiter),
      );
      const found = uploads.filter((upload) => upload.key === key);
      if (found.length > 0) return found.map(({ uploadId }) => uploadId);
    }
    return [];
  }
}

/** Puts an object in a single request, like every object that is not made of parts. */
export async function putBytes(bucket: MinioBucket, key: string, bytes: Buffer): Promise<void> {
  const digests = { sha256: hash('sha256', bytes), md5: hash('md5', bytes) };
  await bucket.send(key, { length: bytes.length, digests, open: () => bytes });
}
