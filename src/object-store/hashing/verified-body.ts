import { Readable } from 'node:stream';
import { ObjectCorrupt, type StoredObject } from '../object-store.ts';
import type { BodyHash } from './body-hash.ts';

type Source = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Returns the bytes as a stream that fails with {@link ObjectCorrupt}, before its last chunk, if they differ from the
 * name.
 */
export function verifiedBody(named: StoredObject, source: Source, hash: BodyHash): Readable {
  return Readable.from(verified(named, source, hash), { objectMode: false });
}

/** Resolves to whether the bytes match the name; false if they are corrupt. */
export async function isWhole(named: StoredObject, source: Source, hash: BodyHash): Promise<boolean> {
  try {
    for await (const _chunk of verified(named, source, hash));
    return true;
  } catch (error) {
    if (error instanceof ObjectCorrupt) return false;
    throw error;
  }
}

async function* verified(named: StoredObject, source: Source, bodyHash: BodyHash) {
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
