import { createCipheriv, createDecipheriv } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { files } from '../../tools/files.ts';

export const KEY_BYTES = 32;
const CIPHER = 'aes-256-ctr';
/** A key encrypts one file only. */
const FIRST_BLOCK = Buffer.alloc(16);
/** With chunks of 16 KiB, as by default, the calls between them take most of the time. */
const CHUNK_BYTES = 1024 ** 2;
/** Level 1 halves the time of the default level, and makes the file little larger. */
const QUICK = { chunkSize: CHUNK_BYTES, params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Compresses and encrypts a file. */
export async function pack(from: string, to: string, key: Uint8Array): Promise<void> {
  await pipeline(
    files.createReadStream(from, { highWaterMark: CHUNK_BYTES }),
    createZstdCompress(QUICK),
    createCipheriv(CIPHER, key, FIRST_BLOCK),
    files.createWriteStream(to, { flags: 'wx', mode: 0o600 }),
  );
}

/**
 * Writes the file that was packed into these bytes, durably, since it becomes the file in use.
 * @throws the error of the body, which verifies its digest.
 */
export async function unpack(
  body: AsyncIterable<Uint8Array>,
  to: string,
  key: Uint8Array,
  signal?: AbortSignal,
): Promise<void> {
  await pipeline(
    body,
    createDecipheriv(CIPHER, key, FIRST_BLOCK),
    createZstdDecompress({ chunkSize: CHUNK_BYTES }),
    files.createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }),
    { signal },
  );
}
