import { decodeRiscV } from './riscv-filter.ts';

/** A filter of executables: converts absolute addresses back to relative ones, in place. */
type BranchFilter = {
  /**
   * Converts `bytes`, the first of which is at `position`. Returns the number of converted bytes; the rest needs more
   * bytes.
   */
  decode(bytes: Buffer, position: number): number;
};

/** Returns the filter of liblzma with this id, one of 4 to 11. */
export function branchFilter(id: number): BranchFilter {
  return id === 4 ? new X86Filter() : { decode: decoders[id]! };
}

type Decode = BranchFilter['decode'];

function words(length: number, convert: (bytes: Buffer, at: number, position: number) => void): Decode {
  return (bytes, position) => {
    let at = 0;
    for (; at + length <= bytes.length; at += length) convert(bytes, at, (position + at) >>> 0);
    return at;
  };
}

const powerPc = words(4, (bytes, at, position) => {
  const instruction = bytes.readUInt32BE(at);
  if ((instruction & 0xfc000003) >>> 0 !== 0x48000001) return;
  const target = ((instruction & 0x03fffffc) - position) & 0x03fffffc;
  bytes.writeUInt32BE((0x48000001 | target) >>> 0, at);
});

const arm = words(4, (bytes, at, position) => {
  if (bytes[at + 3] !== 0xeb) return;
  const source = bytes.readUIntLE(at, 3) << 2;
  bytes.writeUIntLE(((source - (position + 8)) >>> 2) & 0xffffff, at, 3);
});

const sparc = words(4, (bytes, at, position) => {
  const instruction = bytes.readUInt32BE(at);
  const top = instruction >>> 22;
  if (top !== 0x100 && top !== 0x1ff) return;
  const target = ((instruction << 2) - position) >>> 2;
  const sign = (0x40000000 - (target & 0x400000)) | 0x40000000;
  bytes.writeUInt32BE((sign | (target & 0x3fffff)) >>> 0, at);
});

const arm64 = words(4, (bytes, at, position) => {
  const instruction = bytes.readUInt32LE(at);
  if (instruction >>> 26 === 0x25) {
    const target = (instruction - (position >>> 2)) & 0x03ffffff;
    bytes.writeUInt32LE((0x94000000 | target) >>> 0, at);
    return;
  }
  if ((instruction & 0x9f000000) >>> 0 !== 0x90000000) return;
  const source = ((instruction >>> 29) & 3) | ((instruction >>> 3) & 0x001ffffc);
  // Addresses beyond 512 MiB on either side are not converted.
  if ((source + 0x00020000) & 0x001c0000) return;
  const target = (source - (position >>> 12)) >>> 0;
  const fields = ((target & 3) << 29) | ((target & 0x0003fffc) << 3) | (-(target & 0x00020000) & 0x00e00000);
  bytes.writeUInt32LE(((instruction & 0x9000001f) | fields) >>> 0, at);
});

const armThumb: Decode = (bytes, position) => {
  let at = 0;
  for (; at + 4 <= bytes.length; at += 2) {
    const [high, low] = [bytes.readUInt16LE(at), bytes.readUInt16LE(at + 2)];
    if ((high & 0xf800) !== 0xf000 || (low & 0xf800) !== 0xf800) continue;
    const source = ((high & 0x7ff) << 12) | ((low & 0x7ff) << 1);
    const target = (source - (position + at + 4)) >>> 1;
    bytes.writeUInt16LE(0xf000 | ((target >>> 11) & 0x7ff), at);
    bytes.writeUInt16LE(0xf800 | (target & 0x7ff), at + 2);
    at += 2;
  }
  return at;
};

/** Bit masks of the slots of a bundle that hold branches, by the template in its lowest five bits. */
const branchSlots = [
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 6, 6, 0, 0, 7, 7, 4, 4, 0, 0, 4, 4, 0, 0,
];

const itanium = words(16, (bytes, at, position) => {
  const mask = branchSlots[bytes[at]! & 0x1f]!;
  for (let slot = 0; slot < 3; slot += 1) {
    if (!((mask >>> slot) & 1)) continue;
    const bit = 5 + 41 * slot;
    const [byte, shift] = [at + (bit >>> 3), BigInt(bit & 7)];
    const word = BigInt(bytes.readUIntLE(byte, 6));
    const instruction = word >> shift;
    if (((instruction >> 37n) & 0xfn) !== 5n || ((instruction >> 9n) & 7n) !== 0n) continue;
    const source = ((instruction >> 13n) & 0xfffffn) | (((instruction >> 36n) & 1n) << 20n);
    const target = ((source << 4n) - BigInt(position)) >> 4n;
    const cleared = instruction & ~(0x8fffffn << 13n);
    const moved = cleared | ((target & 0xfffffn) << 13n) | ((target & 0x100000n) << 16n);
    bytes.writeUIntLE(Number((word & ((1n << shift) - 1n)) | (moved << shift)), byte, 6);
  }
});

const decoders: { readonly [id: number]: Decode | undefined } = {
  5: powerPc,
  6: itanium,
  7: arm,
  8: armThumb,
  9: sparc,
  10: arm64,
  11: decodeRiscV,
};

const allowed = [true, true, true, false, true, false, false, false];
const bitNumbers = [0, 1, 2, 2, 3, 3, 3, 3];

/** Converts calls and jumps of x86. The bytes before an operation code decide whether it counts as one. */
class X86Filter implements BranchFilter {
  #mask = 0;

  decode(bytes: Buffer, position: number): number {
    let mask = this.#mask;
    let previous = -1;
    let at = 0;
    for (; at + 5 <= bytes.length; at += 1) {
      if ((bytes[at]! & 0xfe) !== 0xe8) continue;
      const distance = at - previous;
      previous = at;
      mask = distance > 3 ? 0 : (mask << (distance - 1)) & 7;
      const isBarred = mask !== 0 && (!allowed[mask] || isEdge(bytes[at + 4 - bitNumbers[mask]!]!));
      if (isBarred || !isEdge(bytes[at + 4]!)) {
        mask = (mask << 1) | 1;
        continue;
      }
      const target = targetOf(bytes.readUInt32LE(at + 1), position + at + 5, mask);
      bytes.writeUInt32LE(((target & 0x01ffffff) | -(target & 0x01000000)) >>> 0, at + 1);
      at += 4; // so that the next distance is above 3
    }
    const distance = at - previous;
    this.#mask = distance > 3 ? 0 : mask << (distance - 1);
    return at;
  }
}

function targetOf(absolute: number, next: number, mask: number): number {
  let source = absolute;
  for (;;) {
    const target = (source - next) | 0;
    if (mask === 0) return target;
    const bits = bitNumbers[mask]! * 8;
    if (!isEdge((target >>> (24 - bits)) & 0xff)) return target;
    source = target ^ ((1 << (32 - bits)) - 1);
  }
}

function isEdge(byte: number): boolean {
  return byte === 0 || byte === 0xff;
}
