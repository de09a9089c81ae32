import { createGunzip } from 'node:zlib';
import { collectingBuffers } from '../../tools/gc-hint.ts';
import type { ArchiveBytes } from '../archive-bytes.ts';
import type { ArchiveFormat } from '../archive-reader.ts';
import { corrupt } from '../faults.ts';
import { isZero } from '../tar/tar-block.ts';
import { bunzip2 } from './bunzip2.ts';
import { feed } from './write-to-stream.ts';
import { unxz } from './xz/unxz.ts';

export type TarFormat = Exclude<ArchiveFormat, 'zip'>;

const PIECE_LENGTH = 256 * 1024;

/**
 * Returns the bytes of the inner tar, in chunks of bounded size. A fault of the compression is thrown as `Unreadable`.
 */
export function tarPieces(bytes: ArchiveBytes, format: TarFormat): Iterable<Buffer> | AsyncIterable<Buffer> {
  switch (format) {
    case 'tar':
      return bytes.pieces();
    case 'tar.gz':
      return gunzip(bytes);
    case 'tar.bz2':
      return bunzip2(bytes.pieces());
    case 'tar.xz':
      return unxz(bytes);
  }
}

async function* gunzip(bytes: ArchiveBytes): AsyncGenerator<Buffer> {
  const engine = createGunzip({ chunkSize: PIECE_LENGTH });
  const writing = feed(bytes.pieces(), engine);
  try {
    yield* collectingBuffers(engine);
  } catch (error) {
    throw asUnreadable(error);
  } finally {
    engine.destroy();
    await writing;
  }
  // Node's gunzip stops silently at a zero byte after a member. Zeros are padding; other bytes are an error.
  for (const rest of bytes.pieces(engine.bytesWritten)) {
    if (!isZero(rest)) throw corrupt('TRAILING_BYTES', 'there are trailing bytes after its gzip data');
  }
}

/** Turns zlib's errors about the data into a fault; returns other errors unchanged. */
function asUnreadable(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') return corrupt('TRUNCATED', 'its gzip data is truncated');
  if (code === 'Z_DATA_ERROR') return corrupt('CORRUPT', `its gzip data is invalid (${message})`);
  return error;
}
