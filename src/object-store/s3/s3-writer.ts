import { hash } from 'node:crypto';
import { MAX_S3_OBJECT } from '../../config/s3-url.ts';
import { writeVerified } from '../hashing/write-verified.ts';
import type { ChunkSource, ExpectedContent, StoredObject } from '../object-store.ts';
import { unavailable } from '../store-errors.ts';
import type { MinioBucket } from './bucket.ts';
import { OutgoingBody, type Sending } from './outgoing-body.ts';
import { isFault, S3Fault } from './s3-errors.ts';

type S3WriterParts = Omit<Sending, 'incomingKey'> & {
  /** Access to the bucket for requests that do not wait for a restart of the store. */
  readonly probed: MinioBucket;
};

/** Puts objects, and proves that the store has their bytes: by its answers, or by a request for the object. */
export class S3Writer {
  readonly #parts: S3WriterParts;
  /** Whether the store verifies the signed digest of a body, once it is known. */
  #verifies: Promise<boolean> | undefined;

  constructor(parts: S3WriterParts) {
    this.#parts = parts;
  }

  /** @param onSmall called with the bytes of an object that is small enough to be in memory. */
  put(
    source: ChunkSource,
    promised: ExpectedContent,
    onSmall: (sha256: string, bytes: Uint8Array) => void,
  ): Promise<StoredObject> {
    const { bucket, incoming, hashing } = this.#parts;
    const expected = { ...promised, maxLength: Math.min(promised.maxLength ?? Infinity, MAX_S3_OBJECT) };
    return incoming.use(async (incomingKey) => {
      using bodyHash = hashing.begin({ md5: true });
      await using body = new OutgoingBody({ ...this.#parts, incomingKey }, bodyHash);
      const stored = await writeVerified(source, expected, bodyHash, body);
      const key = bucket.keyOf(stored.sha256);
      const { md5 } = await body.place(key);
      const isVerified = md5 !== undefined && (await this.#verifiesDigests());
      if (!isVerified) await this.#assertPlaced(key, stored.length, md5);
      if (body.bytes) onSmall(stored.sha256, body.bytes);
      return stored;
    });
  }

  /** Resolves to false until a test has shown it. */
  #verifiesDigests(): Promise<boolean> {
    const { probed, incoming } = this.#parts;
    this.#verifies ??= incoming
      .probe((key) => refusesOtherBytes(probed, key))
      .catch(() => {
        this.#verifies = undefined;
        return false;
      });
    return this.#verifies;
  }

  async #assertPlaced(key: string, length: number, md5: string | undefined): Promise<void> {
    const found = await this.#parts.bucket.stat(key);
    if (found?.length === length && (md5 === undefined || found.etag === md5)) return;
    const instead = found ? `${found.length} bytes with the ETag ${found.etag}` : 'nothing';
    const fault = `it was sent ${length} bytes but holds ${instead}`;
    throw unavailable('write', new S3Fault('OtherBytes', fault));
  }
}

/**
 * Sends bytes whose SHA-256 is not the one that their request is signed with. Resolves to whether the store refuses
 * them: then an object that it accepts is the one that was sent.
 */
async function refusesOtherBytes(bucket: MinioBucket, key: string): Promise<boolean> {
  const bytes = Buffer.from('other bytes');
  const digests = { sha256: hash('sha256', 'signed bytes'), md5: hash('md5', bytes) };
  try {
    await bucket.send(key, { length: bytes.length, digests, open: () => bytes });
  } catch (error) {
    if (isFault(error, 'XAmzContentSHA256Mismatch')) return true;
    throw error;
  }
  await bucket.remove(key);
  return false;
}
