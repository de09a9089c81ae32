import { createHash, hash } from 'node:crypto';
import { unavailable } from '../unavailable.ts';
import { type MinioBucket, orMissing } from './bucket.ts';
import { S3Fault } from './fault.ts';
import type { Part, Sendable } from './part.ts';

/** Parts on their way to the store at a time, for one upload. */
const PARTS_IN_FLIGHT = 2;

type SentPart = { readonly part: number; readonly etag: string; readonly isMd5: boolean };

/**
 * An upload in parts that becomes an object when it is completed; disposing leaves neither.
 *
 * Its key holds an empty object from the beginning: MinIO lists the parts of uploads only to who knows their
 * key, so this is how an upload is found that a crash has left.
 */
export class MultipartUpload implements AsyncDisposable {
  readonly key: string;
  readonly #bucket: MinioBucket;
  readonly #id: string;
  readonly #isOnly: boolean;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #sent: SentPart[] = [];
  #parts = 0;
  #failure: unknown;
  #completed = false;

  static async begin(bucket: MinioBucket, key: string): Promise<MultipartUpload> {
    await putEmpty(bucket, key);
    let asked = 0;
    try {
      const headers = { 'content-type': 'application/octet-stream' };
      const id = await bucket.ask('write', (client) => {
        asked += 1;
        return client.initiateNewMultipartUpload(bucket.name, key, headers);
      });
      return new MultipartUpload(bucket, key, id, asked === 1);
    } catch (error) {
      await removeIncoming(bucket, key).catch(() => {}); // it is swept, then
      throw error;
    }
  }

  /** `isOnly`: whether no other upload to the key can have begun whose id did not arrive here. */
  private constructor(bucket: MinioBucket, key: string, id: string, isOnly: boolean) {
    this.#bucket = bucket;
    this.key = key;
    this.#id = id;
    this.#isOnly = isOnly;
  }

  /** Takes over a part that is sealed; resolves when the next may come. */
  async send(part: Part, sealed: Sendable): Promise<void> {
    while (this.#inFlight.size >= PARTS_IN_FLIGHT) await Promise.race(this.#inFlight);
    this.#parts += 1;
    const sending = this.#send(part, sealed, this.#parts).finally(() => this.#inFlight.delete(sending));
    this.#inFlight.add(sending);
    this.#assertSent();
  }

  /** Resolves when the object is there under the key of the upload. */
  async complete(): Promise<void> {
    await Promise.all(this.#inFlight);
    this.#assertSent();
    const parts = this.#sent.toSorted((a, b) => a.part - b.part);
    // Not asked twice: the second answer would be that there is no such upload.
    const { etag } = await this.#bucket.askOnce('write', (client) =>
      client.completeMultipartUpload(this.#bucket.name, this.key, this.#id, parts),
    );
    assertEtag(etag, parts);
    this.#completed = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#inFlight); // a part that arrives later than the end of its upload would stay
    const removed =
      this.#completed && this.#isOnly
        ? this.#bucket.remove(this.key)
        : removeIncoming(this.#bucket, this.key);
    await removed.catch(() => {}); // it is swept later, and must not hide why the upload failed
  }

  /** Never rejects: a failure is told to whoever sends or completes next. */
  async #send(part: Part, sealed: Sendable, number: number): Promise<void> {
    try {
      await using _part = part; // until it is sent
      const query = `partNumber=${number}&uploadId=${encodeURIComponent(this.#id)}`;
      this.#sent.push({ part: number, ...(await this.#bucket.send(this.key, sealed, query)) });
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #assertSent(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** Ends the uploads to this key that were never completed, then removes the key, by which alone they are found. */
export async function removeIncoming(bucket: MinioBucket, key: string): Promise<void> {
  const delimiter = '/'; // Swift finds an empty one in every key, and lists no upload
  const { uploads } = await bucket.ask('sweep', (client) =>
    client.listIncompleteUploadsQuery(bucket.name, key, '', '', delimiter),
  );
  for (const { uploadId } of uploads.filter((upload) => upload.key === key)) {
    // Somebody else who sweeps may have been quicker.
    await bucket.ask('remove', (client) =>
      orMissing(client.abortMultipartUpload(bucket.name, key, uploadId)),
    );
  }
  await bucket.remove(key);
}

/** An object of no bytes, as every object that is not made of parts. */
export function putEmpty(bucket: MinioBucket, key: string): Promise<void> {
  return putBytes(bucket, key, Buffer.alloc(0));
}

export async function putBytes(bucket: MinioBucket, key: string, bytes: Buffer): Promise<void> {
  const digests = { sha256: hash('sha256', bytes), md5: hash('md5', bytes) };
  await bucket.send(key, { length: bytes.length, digests, open: () => bytes });
}

/** The ETag of an object made of parts: the MD5 of their MD5s, and how many they are. */
function assertEtag(etag: string, parts: readonly SentPart[]): void {
  if (!/^[0-9a-f]{32}-\d+$/.test(etag) || !parts.every(({ isMd5 }) => isMd5)) return;
  const digests = parts.map((part) => Buffer.from(part.etag, 'hex'));
  const expected = `${createHash('md5').update(Buffer.concat(digests)).digest('hex')}-${parts.length}`;
  if (etag === expected) return;
  const found = `it put together an object with the ETag ${etag} from parts that make ${expected}`;
  throw unavailable('write', new S3Fault('OtherBytes', found));
}
