import { crc32 } from 'node:zlib';
import { corrupt, Unreadable } from '../../faults.ts';

export type XzFilter = { readonly id: number; readonly properties: Buffer };

type XzBlockHeader = {
  /** In the order in which they were applied; LZMA2, the last, is omitted. */
  readonly filters: readonly XzFilter[];
  /** The properties of LZMA2: the code of the dictionary's size. */
  readonly dictionary: number;
  readonly packed: number | undefined;
  readonly unpacked: number | undefined;
};

const LZMA2 = 0x21;
const DELTA = 3;
/** Alignment of instructions by the id of a filter of executables; their start offset is a multiple of it. */
const alignments: { readonly [id: number]: number | undefined } = {
  4: 1,
  5: 4,
  6: 16,
  7: 4,
  8: 2,
  9: 4,
  10: 4,
  11: 2,
};
const MOST_DIGITS = 9;

/** Reads numbers of variable length from a buffer. */
export class XzNumbers {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  /** @throws {Unreadable} the number is truncated, not in its shortest form, or larger than any size can be. */
  next(): number {
    let value = 0;
    for (let digit = 0; digit < MOST_DIGITS; digit += 1) {
      const byte = this.#bytes[this.at++];
      if (byte === undefined || (byte === 0 && digit > 0)) throw invalidXz();
      value += (byte & 0x7f) * 128 ** digit;
      if (byte < 128) {
        if (!Number.isSafeInteger(value)) throw invalidXz();
        return value;
      }
    }
    throw invalidXz();
  }

  take(length: number): Buffer {
    const part = this.#bytes.subarray(this.at, this.at + length);
    if (part.length < length) throw invalidXz();
    this.at += length;
    return Buffer.from(part);
  }
}

/** Parses a block header. @param bytes the whole header with its CRC. */
export function parseBlockHeader(bytes: Buffer): XzBlockHeader {
  const end = bytes.length - 4;
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) throw invalidXz();
  const flags = bytes[1]!;
  if (flags & 0x3c) throw unsupportedXz();
  const numbers = new XzNumbers(bytes.subarray(0, end), 2);
  const packed = flags & 0x40 ? numbers.next() : undefined;
  const unpacked = flags & 0x80 ? numbers.next() : undefined;
  const chain = Array.from({ length: (flags & 3) + 1 }, () => {
    return { id: numbers.next(), properties: numbers.take(numbers.next()) };
  });
  if (bytes.subarray(numbers.at, end).some((byte) => byte !== 0)) throw unsupportedXz();
  const last = chain.pop();
  if (last?.id !== LZMA2 || last.properties.length !== 1 || !chain.every(isSupported)) throw unsupportedXz();
  return { filters: chain, dictionary: last.properties[0]!, packed, unpacked };
}

function isSupported({ id, properties }: XzFilter): boolean {
  if (id === DELTA) return properties.length === 1;
  const alignment = alignments[id];
  if (alignment === undefined) return false;
  return properties.length === 0 || (properties.length === 4 && properties.readUInt32LE(0) % alignment === 0);
}

export function invalidXz(): Unreadable {
  return corrupt('CORRUPT', 'its xz data is invalid');
}

export function unsupportedXz(): Unreadable {
  return new Unreadable(
    'UNSUPPORTED',
    'The archive uses an xz filter or check that is unsupported; use xz without filters and with CRC32, CRC64 or SHA-256.',
  );
}
