import { Readable } from 'node:stream';
import { ObjectCorrupt, type StoredObject } from '../object-store.ts';
import type { BodyHash } from './body-hash.ts';

/**
 * Returns the bytes as a stream that fails with {@link ObjectCorrupt}, before its last chunk, if they differ
 * from the name.
 */
export function verifiedBody(
  named: StoredObject,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  hash: BodyHash,
): Readable {
  return Readable.from(delayLastChunk(hashWhilePassing(named, source, hash)), { objectMode: false });
}

/** Resolves to whether the bytes match the name; false if they are corrupt. */
export async function isWhole(
  named: StoredObject,
  source: AsyncIterable<Uint8Array>,
  hash: BodyHash,
): Promise<boolean> {
  try {
    for await (const _chunk of hashWhilePassing(named, source, hash));
    return true;
  } catch (error) {
    if (error instanceof ObjectCorrupt) return false;
    throw error;
  }
}

async function* hashWhilePassing(
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

async function* delayLastChunk(chunks: AsyncIterable<Uint8Array>) {
  let held: Uint8Array | undefined;
  for await (const chunk of chunks) {
    if (held !== undefined) yield held;
    held = chunk;
  }
  if (held !== undefined) yield held;
}
