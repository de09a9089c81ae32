import { createGunzip } from 'node:zlib';
import xz from 'xz-decompress';
import { withoutGarbage } from '../../garbage.ts';
import type { ArchiveBytes } from '../archive-bytes.ts';
import { corrupt, Unreadable } from '../faults.ts';
import type { ArchiveFormat } from '../inspection.ts';
import { isZero } from '../tar/tar-block.ts';
import { bunzip2 } from './bunzip2.ts';
import { feed } from './feed.ts';

export type TarFormat = Exclude<ArchiveFormat, 'zip'>;

const pieceLength = 256 * 1024;

/** The bytes of the tar inside, in pieces of bounded size. A fault of the compression is thrown as {@link Unreadable}. */
export function tarPieces(bytes: ArchiveBytes, format: TarFormat): Iterable<Buffer> | AsyncIterable<Buffer> {
  switch (format) {
    case 'tar':
      return bytes.borrowedPieces();
    case 'tar.gz':
      return gunzip(bytes);
    case 'tar.bz2':
      return bunzip2(bytes.borrowedPieces());
    case 'tar.xz':
      return unxz(bytes);
  }
}

async function* gunzip(bytes: ArchiveBytes): AsyncGenerator<Buffer> {
  const engine = createGunzip({ chunkSize: pieceLength });
  const writing = feed(bytes.borrowedPieces(), engine);
  try {
    yield* withoutGarbage(engine);
  } catch (error) {
    throw asUnreadable(error);
  } finally {
    engine.destroy();
    await writing;
  }
  // Node's gunzip stops at a zero byte behind a member and says nothing. Zeros are padding; more is not.
  for (const rest of bytes.borrowedPieces(engine.bytesWritten)) {
    if (!isZero(rest)) throw corrupt('TRAILING_BYTES', 'there are trailing bytes after its gzip data');
  }
}

async function* unxz(bytes: ArchiveBytes): AsyncGenerator<Buffer> {
  const reader = new xz.XzReadableStream(packedStream(bytes)).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value.length > 0) yield Buffer.from(value.buffer, value.byteOffset, value.length);
    }
  } catch (error) {
    throw asUnreadable(error);
  } finally {
    // The decoder has one context for all streams; it is free again only after this.
    await reader.cancel().catch(() => undefined);
  }
}

function packedStream(bytes: ArchiveBytes): ReadableStream<Uint8Array> {
  const pieces = bytes.pieces();
  return new ReadableStream(
    {
      pull(controller) {
        const { done, value } = pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

const xzFaults: { [code: string]: Unreadable | undefined } = {
  '4': new Unreadable(
    'UNSUPPORTED',
    'The archive is too large to unpack: its xz dictionary needs more than 64 MiB, which is unsupported.',
  ),
  '6': new Unreadable(
    'UNSUPPORTED',
    'The archive uses an xz filter or check that is unsupported; use xz without filters and with CRC32 or CRC64.',
  ),
  '7': corrupt('CORRUPT', 'its xz data is invalid, or its CRC does not match'),
  '8': corrupt('TRUNCATED', 'its xz data is truncated, or followed by trailing bytes'),
};

/** Turns what a decoder says about the data into a fault; other errors stay what they are. */
function asUnreadable(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const [, xzCode] = /^get_next_output failed with error code (\d+)$/.exec(message) ?? [];
  if (xzCode !== undefined)
    return xzFaults[xzCode] ?? corrupt('CORRUPT', `its xz data is invalid (${xzCode})`);
  if (code === 'Z_BUF_ERROR') return corrupt('TRUNCATED', 'its gzip data is truncated');
  if (code === 'Z_DATA_ERROR') return corrupt('CORRUPT', `its gzip data is invalid (${message})`);
  return error;
}
