import { createHash } from 'node:crypto';
import type { Client } from 'minio';
import { unavailable } from '../store-errors.ts';
import { type MinioBucket, orMissing } from './bucket.ts';
import { type IncomingKeys, putBytes } from './incoming-keys.ts';
import { S3Fault } from './s3-errors.ts';
import type { Sendable } from './sendable.ts';

const PARTS_IN_FLIGHT = 2;

type Begun = {
  readonly bucket: MinioBucket;
  readonly incoming: IncomingKeys;
  readonly key: string;
  readonly id: string;
  /** Whether no other upload to the key can have begun whose id did not arrive here. */
  readonly isOnly: boolean;
};

type SentPart = { readonly part: number; readonly etag: string; readonly isMd5: boolean };

/**
 * An upload in parts that becomes an object when it is completed; disposing of it leaves neither.
 *
 * Its key has an empty object from the beginning: MinIO lists the parts of uploads only by their exact key, so this
 * object allows to find an upload after a crash.
 */
export class MultipartUpload implements AsyncDisposable {
  readonly #begun: Begun;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #sent: SentPart[] = [];
  #parts = 0;
  #length = 0;
  #failure: unknown;
  #completed = false;

  static async begin(bucket: MinioBucket, incoming: IncomingKeys, key: string): Promise<MultipartUpload> {
    let asked = 0;
    try {
      await putBytes(bucket, key, Buffer.alloc(0));
      const headers = { 'content-type': 'application/octet-stream' };
      const id = await bucket.ask('write', (client) => {
        asked += 1;
        return client.initiateNewMultipartUpload(bucket.name, key, headers);
      });
      return new MultipartUpload({ bucket, incoming, key, id, isOnly: asked === 1 });
    } catch (error) {
      await incoming.remove(key);
      throw error;
    }
  }

  private constructor(begun: Begun) {
    this.#begun = begun;
  }

  /** Takes ownership of the part with these bytes; resolves when the next one may follow. */
  async send(part: AsyncDisposable, bytes: Sendable): Promise<void> {
    while (this.#inFlight.size >= PARTS_IN_FLIGHT) await Promise.race(this.#inFlight);
    this.#parts += 1;
    this.#length += bytes.length;
    const sending = this.#send(part, bytes, this.#parts).finally(() => this.#inFlight.delete(sending));
    this.#inFlight.add(sending);
    this.#assertSent();
  }

  /** Resolves to the length when the object exists under the key of the upload. */
  async complete(): Promise<number> {
    await Promise.all(this.#inFlight);
    this.#assertSent();
    const parts = this.#sent.toSorted((a, b) => a.part - b.part);
    const etag = await this.#begun.bucket.askToWrite(this.#length, (client) => this.#complete(client, parts));
    assertEtag(etag, parts);
    this.#completed = true;
    return this.#length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#inFlight); // a part that arrives after the end of its upload would stay
    const { incoming, key, id, isOnly } = this.#begun;
    await incoming.remove(key, isOnly ? { id: this.#completed ? undefined : id } : undefined);
  }

  /**
   * Completes the upload. After a lost answer the object itself is checked: a second completion would find no such
   * upload.
   */
  async #complete(client: Client, parts: SentPart[]): Promise<string> {
    const { bucket, key, id } = this.#begun;
    try {
      return (await client.completeMultipartUpload(bucket.name, key, id, parts)).etag;
    } catch (error) {
      const found = await orMissing(client.statObject(bucket.name, key));
      if (found?.size === this.#length) return found.etag;
      throw error;
    }
  }

  /** Never rejects: the next `send` or `complete` reports a failure. */
  async #send(part: AsyncDisposable, bytes: Sendable, number: number): Promise<void> {
    const { bucket, key, id } = this.#begun;
    try {
      await using _part = part; // disposed of after sending
      const query = `partNumber=${number}&uploadId=${encodeURIComponent(id)}`;
      this.#sent.push({ part: number, ...(await bucket.send(key, bytes, query)) });
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #assertSent(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** Verifies the ETag of an object made of parts: the MD5 of their MD5s, and their number. */
function assertEtag(etag: string, parts: readonly SentPart[]): void {
  if (!/^[0-9a-f]{32}-\d+$/.test(etag) || !parts.every(({ isMd5 }) => isMd5)) return;
  const digests = parts.map((part) => Buffer.from(part.etag, 'hex'));
  const expected = `${createHash('md5').update(Buffer.concat(digests)).digest('hex')}-${parts.length}`;
  if (etag === expected) return;
  const found = `it put together an object with the ETag ${etag} from parts that make ${expected}`;
  throw unavailable('write', new S3Fault('OtherBytes', found));
}
