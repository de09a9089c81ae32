import { Readable } from 'node:stream';
import { ObjectCorrupt, type StoredObject } from './archive-store.ts';
import type { Sha256 } from './sha256.ts';

/** The bytes as a stream that fails with {@link ObjectCorrupt}, before its last chunk, when they are others. */
export function verifiedBody(
  named: StoredObject,
  source: AsyncIterable<Uint8Array>,
  sha256: Sha256,
): Readable {
  return Readable.from(holdingBackTheLast(hashed(named, source, sha256)), { objectMode: false });
}

/** Whether the bytes are those of the name; what cannot be read is not. */
export async function isWhole(
  named: StoredObject,
  source: AsyncIterable<Uint8Array>,
  sha256: Sha256,
): Promise<boolean> {
  try {
    for await (const _chunk of hashed(named, source, sha256));
    return true;
  } catch (error) {
    if (error instanceof ObjectCorrupt) return false;
    throw error;
  }
}

async function* hashed(named: StoredObject, source: AsyncIterable<Uint8Array>, hash: Sha256) {
  using sha256 = hash;
  let length = 0;
  for await (const chunk of source) {
    length += chunk.byteLength;
    await sha256.update(chunk);
    yield chunk;
  }
  const found = await sha256.digest();
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
