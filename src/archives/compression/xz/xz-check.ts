import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { corrupt } from '../../faults.ts';

/** Computes the check of a block incrementally. */
type XzCheck = { update(bytes: Uint8Array): unknown; digest(): Buffer };

/** Returns the check of a kind. @param kind number in stream headers; without a check the result is empty. */
export function xzCheck(kind: number): XzCheck {
  if (kind === 1) return crc32Check();
  if (kind === 4) return new Crc64();
  return kind === 10 ? createHash('sha256') : { update: () => {}, digest: () => Buffer.alloc(0) };
}

/** @throws {Unreadable} */
export function assertChecksum(check: XzCheck, expected: Buffer): void {
  if (!check.digest().equals(expected))
    throw corrupt('CRC_MISMATCH', 'its xz data does not match its check, a CRC or SHA-256 (mismatch)');
}

function crc32Check(): XzCheck {
  const digest = Buffer.alloc(4);
  return {
    update: (bytes) => void digest.writeUInt32LE(crc32(bytes, digest.readUInt32LE())),
    digest: () => digest,
  };
}

/** The CRC of ECMA-182, lowest bit first, in two halves. */
class Crc64 implements XzCheck {
  #low = -1;
  #high = -1;

  update(bytes: Uint8Array): void {
    let [low, high] = [this.#low, this.#high];
    for (const byte of bytes) {
      const index = (low ^ byte) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ lowTable[index]!;
      high = (high >>> 8) ^ highTable[index]!;
    }
    [this.#low, this.#high] = [low, high];
  }

  digest(): Buffer {
    const digest = Buffer.alloc(8);
    digest.writeInt32LE(~this.#low, 0);
    digest.writeInt32LE(~this.#high, 4);
    return digest;
  }
}

const [lowTable, highTable] = crc64Tables();

function crc64Tables(): [Int32Array, Int32Array] {
  const tables: [Int32Array, Int32Array] = [new Int32Array(256), new Int32Array(256)];
  for (let byte = 0; byte < 256; byte += 1) {
    let [low, high] = [byte, 0];
    for (let bit = 0; bit < 8; bit += 1) {
      const odd = low & 1;
      low = (low >>> 1) | (high << 31);
      high >>>= 1;
      if (odd) [low, high] = [low ^ 0xd7870f42, high ^ 0xc96c5795];
    }
    tables[0][byte] = low;
    tables[1][byte] = high;
  }
  return tables;
}
