import { crc32 } from 'node:zlib';
import { uint32 } from './byte-surgery.ts';

const flags = Buffer.of(0, 1); // its check is a CRC32
const longestChunk = 65_536;

/** An xz stream that packs nothing: enough to hold any bytes, and to be wrong in any place. */
export function xzOf(data: Buffer): Buffer {
  const block = blockOf(data);
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

/** Header, chunks and check, without the padding before the check. */
function blockOf(data: Buffer): Buffer {
  const header = withCrc(Buffer.of(2, 0, 0x21, 1, 0x16, 0, 0, 0));
  return Buffer.concat([header, ...chunksOf(data), Buffer.of(0), uint32(crc32(data))]);
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
