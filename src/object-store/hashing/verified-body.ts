import { Readable } from 'node:stream';
import { type ChunkSource, ObjectCorrupt, type StoredObject } from '../object-store.ts';
import type { BodyHash } from './body-hash.ts';
import type { HashingThreads } from './hashing-threads.ts';

/**
 * Returns the bytes of an object from an offset on as a stream. From the beginning on, it fails with
 * {@link ObjectCorrupt}, before its last chunk, if they differ from the name.
 */
export function bodyFrom(
  from: number,
  named: StoredObject,
  source: ChunkSource,
  hashing: HashingThreads,
): Readable {
  const bytes = from === 0 ? verified(named, source, hashing.begin()) : source;
  return Readable.from(bytes, { objectMode: false });
}

/** Resolves to whether the bytes match the name; false if they are corrupt. */
export async function isWhole(named: StoredObject, source: ChunkSource, hash: BodyHash): Promise<boolean> {
  try {
    for await (const _chunk of verified(named, source, hash));
    return true;
  } catch (error) {
    if (error instanceof ObjectCorrupt) return false;
    throw error;
  }
}

async function* verified(named: StoredObject, source: ChunkSource, bodyHash: BodyHash) {
  using hash = bodyHash;
  let length = 0;
  let last: Uint8Array | undefined;
  for await (const chunk of source) {
    length += chunk.byteLength;
    if (length > named.length) throw new ObjectCorrupt(named.sha256, `more than ${named.length}`);
    await hash.update(chunk);
    if (last !== undefined) yield last;
    last = chunk;
  }
  const { sha256: found } = await hash.digest();
  if (found !== named.sha256)
    throw new ObjectCorrupt(named.sha256, `${length} bytes with the SHA-256 ${found}`);
  if (last !== undefined) yield last;
}
