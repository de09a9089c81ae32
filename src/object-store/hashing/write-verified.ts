import {
  type ChunkSource,
  ContentMismatch,
  type ExpectedContent,
  type StoredObject,
} from '../object-store.ts';
import type { BodyHash } from './body-hash.ts';
import type { BodyDigests } from './hashing-sessions.ts';

/** Accepts the chunks of one body; resolves when the next one may follow. */
type Sink = { write(chunk: Uint8Array): Promise<void> };

/**
 * Writes the bytes to the sink while it counts, limits and hashes them. Resolves to their name if they are the expected
 * content. The sink gets each chunk before the hash, which has an MD5 if one is expected.
 * @throws {ContentMismatch} a length as soon as it is exceeded, all others at the end.
 */
export async function writeVerified(
  source: ChunkSource,
  expected: ExpectedContent,
  hash: BodyHash,
  sink: Sink,
): Promise<StoredObject> {
  let received = 0;
  for await (const chunk of source) {
    received += chunk.byteLength;
    assertNotExceeded(expected, received);
    await sink.write(chunk);
    await hash.update(chunk);
  }
  const { length = received } = expected;
  if (received !== length) throw otherLength(length, `only ${received}`);
  const digests = await hash.digest();
  assertDigests(expected, received, digests);
  return { sha256: digests.sha256, length };
}

function assertNotExceeded(
  { maxLength = Infinity, length = Infinity }: ExpectedContent,
  received: number,
): void {
  if (received > maxLength) {
    const text = `At most ${maxLength} bytes are accepted, but at least ${received} were sent.`;
    throw new ContentMismatch('TOO_LARGE', text);
  }
  if (received > length) throw otherLength(length, `at least ${received}`);
}

function assertDigests(expected: ExpectedContent, received: number, { sha256, md5 }: BodyDigests): void {
  if (md5 !== (expected.md5 ?? md5)) throw otherDigest('MD5', expected.md5, md5, received);
  if (sha256 !== (expected.sha256 ?? sha256)) throw otherDigest('SHA-256', expected.sha256, sha256, received);
}

function otherDigest(
  algorithm: 'MD5' | 'SHA-256',
  promised: string | undefined,
  found: string | undefined,
  received: number,
): ContentMismatch {
  const code = algorithm === 'MD5' ? 'MD5_MISMATCH' : 'SHA256_MISMATCH';
  return new ContentMismatch(
    code,
    `The ${algorithm} promised is ${promised}, but the ${received} bytes received have ${found}.`,
  );
}

function otherLength(promised: number, received: string): ContentMismatch {
  return new ContentMismatch(
    'LENGTH_MISMATCH',
    `A length of ${promised} bytes was promised, but ${received} were received.`,
  );
}
