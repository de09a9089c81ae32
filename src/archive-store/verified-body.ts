import { Readable } from 'node:stream';
import { ObjectCorrupt, type StoredObject } from './archive-store.ts';
import type { BodyHash } from './body-hash.ts';

/** The bytes as a stream that fails with {@link ObjectCorrupt}, before its last chunk, when they are others. */
export function verifiedBody(
  named: StoredObject,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  hash: BodyHash,
): Readable {
  return Readable.from(holdingBackTheLast(hashed(named, source, hash)), { objectMode: false });
}

/** Whether the bytes are those of the name; what cannot be read is not. */
export async function isWhole(
  named: StoredObject,
  source: AsyncIterable<Uint8Array>,
  hash: BodyHash,
): Promise<boolean> {
  try {
    for await (const _chunk of hashed(named, source, hash));
    return true;
  } catch (error) {
    if (error instanceof ObjectCorrupt) return false;
    throw error;
  }
}

async function* hashed(
  named: StoredObject,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bodyHash: BodyHash,
) {
  using hash = bodyHash;
  let length = 0;
  for await (const chunk of source) {
    length += chunk.byteLength;
    if (length > named.length) throw new ObjectCorrupt(named.sha256, `more than ${named.length}`);
    await hash.update(chunk);
    yield chunk;
  }
  const { sha256: found } = await hash.digest();
  if (found === named.sha256) return;
  throw new ObjectCorrupt(named.sha256, `${length} bytes with the SHA-256 ${found}`);
}

async function* holdingBackTheLast(chunks: AsyncIterable<Uint8Array>) {
  let held: Uint8Array | undefined;
  for await (const chunk of chunks) {
    if (held !== undefined) yield held;
    held = chunk;
  }
  if (held !== undefined) yield held;
}
