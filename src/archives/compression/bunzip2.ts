import { corrupt } from '../faults.ts';
import { BitReader } from './bzip2-bits.ts';
import { decodeBlock } from './bzip2-block.ts';

const magic = Buffer.from('BZh');
const blockMagic = [0x314159, 0x265359];
const endMagic = [0x177245, 0x385090];
const BLOCK_UNIT = 100_000;
const PIECE_LENGTH = 128 * 1024;
const LONGEST_RUN = 255;

/**
 * Unpacks bzip2 data, also several concatenated streams; a fault is thrown as {@link Unreadable}. An own
 * implementation, since the available package accepts a file truncated between two blocks, and returns a block, which
 * can be 46 MB, at once. Memory here: one packed block and one chunk.
 */
export function* bunzip2(pieces: Iterable<Uint8Array>): Generator<Buffer> {
  const bits = new BitReader(pieces);
  const table = new Uint32Array(9 * BLOCK_UNIT);
  do {
    for (const byte of magic) if (bits.read(8) !== byte) throw trailing();
    const level = bits.read(8) - 0x30;
    if (level < 1 || level > 9) throw corrupt('CORRUPT', 'its bzip2 header is invalid');
    yield* readStream(bits, table.subarray(0, level * BLOCK_UNIT));
    bits.skipToByte();
    // Zeros are padding, as on a tape; other bytes are an error.
    if (bits.skipPadding() && !bits.atEnd()) throw trailing();
  } while (!bits.atEnd());
}

function* readStream(bits: BitReader, table: Uint32Array): Generator<Buffer> {
  let combined = 0;
  for (;;) {
    const mark = [bits.read(24), bits.read(24)];
    const crc = ((bits.read(16) << 16) | bits.read(16)) >>> 0;
    if (isSame(mark, endMagic)) {
      if (crc !== combined) throw wrongCrc();
      return;
    }
    if (!isSame(mark, blockMagic)) throw corrupt('CORRUPT', 'its bzip2 data is invalid');
    combined = (((combined << 1) | (combined >>> 31)) ^ crc) >>> 0;
    const { length, start } = decodeBlock(bits, table);
    const found = yield* expandBlock(table, length, start);
    if (found !== crc) throw wrongCrc();
  }
}

/** Yields the bytes of the block, where four equal ones are followed by a count of more; returns their CRC. */
function* expandBlock(table: Uint32Array, length: number, start: number): Generator<Buffer, number> {
  // A block may hold a single byte: a full chunk for each would cost more than the rest of the work.
  let piece = Buffer.allocUnsafeSlow(Math.min(PIECE_LENGTH, length * LONGEST_RUN));
  let filled = 0;
  let crc = 0xffffffff;
  let previous = -1;
  let equal = 0;
  let next = start;
  for (let left = length; left > 0; left -= 1) {
    const byte = table[next]! & 0xff;
    next = table[next]! >>> 8;
    const isCount = equal === 4;
    const value = isCount ? previous : byte;
    for (let copies = isCount ? byte : 1; copies > 0; copies -= 1) {
      piece[filled++] = value;
      crc = (crc << 8) ^ crcTable[(crc >>> 24) ^ value]!;
    }
    equal = isCount ? 0 : byte === previous ? equal + 1 : 1;
    previous = isCount ? -1 : byte;
    if (filled > PIECE_LENGTH - LONGEST_RUN) {
      yield piece.subarray(0, filled);
      piece = Buffer.allocUnsafeSlow(PIECE_LENGTH);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
  return ~crc >>> 0;
}

// Unlike zlib's, this CRC processes the highest bit of a byte first.
const crcTable = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});

function isSame(mark: readonly number[], magic: readonly number[]): boolean {
  return mark[0] === magic[0] && mark[1] === magic[1];
}

function trailing() {
  return corrupt('TRAILING_BYTES', 'there are trailing bytes after its bzip2 data');
}

function wrongCrc() {
  return corrupt('CRC_MISMATCH', 'the CRC of its bzip2 data does not match (mismatch)');
}
