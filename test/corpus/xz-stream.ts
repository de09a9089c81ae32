import { crc32 } from 'node:zlib';
import { uint32 } from './byte-surgery.ts';

const flags = Buffer.of(0, 1); // its check is a CRC32
const longestChunk = 65_536;

/**
 * Returns an xz stream that compresses nothing: sufficient to hold any bytes, and to be wrong in any place. @param
 * filter the fields of a filter before LZMA2, for the header only: id, length of the properties, properties.
 */
export function xzOf(data: Buffer, filter: readonly number[] = []): Buffer {
  const block = blockOf(data, filter);
  const index = indexOf(block.length, data.length);
  const size = Buffer.concat([uint32(index.length / 4 - 1), flags]);
  return Buffer.concat([
    Buffer.from('\xfd7zXZ\0', 'latin1'),
    withCrc(flags),
    padded(block.subarray(0, -4)),
    block.subarray(-4),
    index,
    uint32(crc32(size)),
    size,
    Buffer.from('YZ'),
  ]);
}

/** Returns header, chunks and check, without the padding before the check. */
function blockOf(data: Buffer, filter: readonly number[]): Buffer {
  const fields = padded(Buffer.from([0, filter.length > 0 ? 1 : 0, ...filter, 0x21, 1, 0x16]));
  fields[0] = fields.length / 4;
  return Buffer.concat([withCrc(fields), ...chunksOf(data), Buffer.of(0), uint32(crc32(data))]);
}

function* chunksOf(data: Buffer): Generator<Buffer> {
  for (let at = 0; at < data.length; at += longestChunk) {
    const chunk = data.subarray(at, at + longestChunk);
    const length = chunk.length - 1;
    yield Buffer.concat([Buffer.of(at === 0 ? 1 : 2, length >>> 8, length & 0xff), chunk]);
  }
}

function indexOf(packed: number, unpacked: number): Buffer {
  return withCrc(padded(Buffer.from([0, 1, ...variableLength(packed), ...variableLength(unpacked)])));
}

function variableLength(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...variableLength(Math.floor(value / 128))];
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

function withCrc(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, uint32(crc32(bytes))]);
}
