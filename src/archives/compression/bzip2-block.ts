import { corrupt } from '../faults.ts';
import type { BitReader } from './bzip2-bits.ts';

const GROUP_LENGTH = 50;
const LONGEST_CODE = 20;
const RUN_B = 1;

type Code = {
  limits: Int32Array;
  bases: Int32Array;
  symbols: Uint16Array;
  shortest: number;
  longest: number;
};

/**
 * Decodes one block after its magic and CRC into `table`: the low byte of each element is a byte of the block, the rest
 * is the index of the next element. Returns the length and the start index.
 */
export function decodeBlock(bits: BitReader, table: Uint32Array): { length: number; start: number } {
  if (bits.read(1))
    throw corrupt(
      'UNSUPPORTED',
      'it has randomised blocks, as only bzip2 before 0.9.5 wrote them, which is unsupported',
    );
  const origin = bits.read(24);
  const bytes = readUsedBytes(bits);
  const groups = bits.read(3);
  if (groups < 2 || groups > 6 || bytes.length === 0) throw invalid();
  const selectors = readSelectors(bits, groups);
  const codes = Array.from({ length: groups }, () => readCode(bits, bytes.length + 2));
  const { length, counts } = decodeSymbols(bits, bytes, selectors, codes, table);
  if (origin >= length) throw invalid();
  return { length, start: invertTransform(table, length, counts, origin) };
}

function readUsedBytes(bits: BitReader): number[] {
  const ranges = bits.read(16);
  const used: number[] = [];
  for (let range = 0; range < 16; range += 1) {
    const map = ranges & (0x8000 >> range) ? bits.read(16) : 0;
    for (let byte = 0; byte < 16; byte += 1) if (map & (0x8000 >> byte)) used.push(range * 16 + byte);
  }
  return used;
}

function readSelectors(bits: BitReader, groups: number): Uint8Array {
  const selectors = new Uint8Array(bits.read(15));
  const recent = Array.from({ length: groups }, (_, group) => group);
  for (let at = 0; at < selectors.length; at += 1) {
    let index = 0;
    while (bits.read(1)) index += 1;
    if (index >= groups) throw invalid();
    const [group] = recent.splice(index, 1) as [number];
    recent.unshift(group);
    selectors[at] = group;
  }
  return selectors;
}

function readCode(bits: BitReader, size: number): Code {
  const lengths = new Uint8Array(size);
  let length = bits.read(5);
  for (let symbol = 0; symbol < size; symbol += 1) {
    for (;;) {
      if (length < 1 || length > LONGEST_CODE) throw invalid();
      if (!bits.read(1)) break;
      length += bits.read(1) ? -1 : 1;
    }
    lengths[symbol] = length;
  }
  return canonicalCode(lengths);
}

/**
 * Builds a decoding table. Codes of one length are consecutive; a code minus its entry of `bases` is the index of its
 * symbol.
 */
function canonicalCode(lengths: Uint8Array): Code {
  const symbols = new Uint16Array(lengths.length);
  const limits = new Int32Array(LONGEST_CODE + 1).fill(-1);
  const bases = new Int32Array(LONGEST_CODE + 1);
  let index = 0;
  let code = 0;
  for (let length = 1; length <= LONGEST_CODE; length += 1, code *= 2) {
    bases[length] = code - index;
    for (let symbol = 0; symbol < lengths.length; symbol += 1) {
      if (lengths[symbol] !== length) continue;
      symbols[index++] = symbol;
      code += 1;
    }
    // No code of this length: none may match it, not even a code that would be too small.
    limits[length] = lengths.includes(length) ? code - 1 : -1;
  }
  return { limits, bases, symbols, shortest: Math.min(...lengths), longest: Math.max(...lengths) };
}

function decodeSymbols(
  bits: BitReader,
  bytes: number[],
  selectors: Uint8Array,
  codes: Code[],
  table: Uint32Array,
) {
  const recent = Uint8Array.from(bytes);
  const counts = new Uint32Array(256);
  const endSymbol = bytes.length + 1;
  let length = 0;
  let run = 0;
  let runUnit = 1;
  for (let group = 0; ; group += 1) {
    if (group >= selectors.length) throw invalid();
    const code = codes[selectors[group]!]!;
    for (let left = GROUP_LENGTH; left > 0; left -= 1) {
      const symbol = readSymbol(bits, code);
      if (symbol <= RUN_B) {
        run += runUnit << symbol;
        runUnit *= 2;
        // Checked at every digit, before the number can overflow.
        if (length + run > table.length) throw invalid();
        continue;
      }
      if (run > 0) {
        const byte = recent[0]!;
        table.fill(byte, length, length + run);
        counts[byte]! += run;
        length += run;
        run = 0;
        runUnit = 1;
      }
      if (symbol === endSymbol) return { length, counts };
      const byte = recent[symbol - 1]!;
      recent.copyWithin(1, 0, symbol - 1);
      recent[0] = byte;
      if (length === table.length) throw invalid();
      table[length++] = byte;
      counts[byte]! += 1;
    }
  }
}

function readSymbol(bits: BitReader, { limits, bases, symbols, shortest, longest }: Code): number {
  const { length, code } = bits.readCode(limits, shortest, longest);
  const index = code - bases[length]!;
  if (index < 0 || index >= symbols.length) throw invalid();
  return symbols[index]!;
}

/** Inverts the Burrows-Wheeler transform: links each byte to the one after it. */
function invertTransform(table: Uint32Array, length: number, counts: Uint32Array, origin: number): number {
  let sum = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    const count = counts[byte]!;
    counts[byte] = sum;
    sum += count;
  }
  for (let at = 0; at < length; at += 1) {
    const byte = table[at]! & 0xff;
    const place = counts[byte]!++;
    table[place] = (table[place]! | (at << 8)) >>> 0;
  }
  return table[origin]! >>> 8;
}

function invalid() {
  return corrupt('CORRUPT', 'its bzip2 data is invalid');
}
