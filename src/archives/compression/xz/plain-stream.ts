import { crc32 } from 'node:zlib';
import type { ArchiveBytes } from '../../archive-bytes.ts';
import { magic, type XzBlock } from './xz-container.ts';

const noCheck = Buffer.of(0, 0);
const BLOCK_HEADER_LENGTH = 12;

/** Yields the LZMA2 data of one block as a separate xz stream, without filters and check. */
export function* plainStream(bytes: ArchiveBytes, block: XzBlock): Generator<Buffer<ArrayBuffer>> {
  const packed = block.end - block.start;
  yield Buffer.concat([
    magic,
    withCrc(noCheck),
    withCrc(Buffer.of(2, 0, 0x21, 1, block.dictionary, 0, 0, 0)),
  ]);
  yield* bytes.pieces(block.start, block.end);
  const sizes = [...digitsOf(BLOCK_HEADER_LENGTH + packed), ...digitsOf(block.unpacked)];
  const index = withCrc(padded(Buffer.from([0, 1, ...sizes])));
  const end = Buffer.alloc(6);
  end.writeUInt32LE(index.length / 4 - 1, 0);
  yield Buffer.concat([Buffer.alloc(-packed & 3), index, crcOf(end), end, Buffer.from('YZ')]);
}

function digitsOf(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...digitsOf(Math.floor(value / 128))];
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}

function withCrc(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, crcOf(bytes)]);
}

function crcOf(bytes: Buffer): Buffer {
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(crc32(bytes));
  return crc;
}
