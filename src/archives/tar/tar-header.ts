import { corrupt } from '../faults.ts';
import { sanitizeName } from '../members/sanitize-name.ts';

export type TarHeader = {
  /** Latin1 string of the raw bytes, as is `linkName`. */
  readonly name: string;
  readonly mode: number;
  readonly size: number;
  /** The type flag; that of old plain files is `\0`. */
  readonly type: string;
  readonly linkName: string;
  /** Whether its mode or size begins with a NUL: GNU tar may skip that, other readers take the number for 0. */
  readonly isAmbiguous: boolean;
};

/** Parses a header whose checksum is right. @throws {Unreadable} an invalid number. */
export function parseTarHeader(block: Buffer): TarHeader {
  const name = fullName(block);
  return {
    name,
    mode: numberAt(block, 100, 8, () => `the mode of the member “${sanitizeName(name)}”`) & 0o7777,
    size: numberAt(block, 124, 12, () => `the size of the member “${sanitizeName(name)}”`),
    type: block.toString('latin1', 156, 157),
    linkName: textAt(block, 157, 100),
    isAmbiguous: beginsWithNul(block, 100, 8) || beginsWithNul(block, 124, 12),
  };
}

/** Whether a number follows a NUL, which ends a field for most readers. */
function beginsWithNul(block: Buffer, at: number, length: number): boolean {
  return /^ *\0[ \0]*[0-7]/.test(block.toString('latin1', at, at + length));
}

/** Returns the name with its prefix. Only POSIX headers have one; GNU and v7 headers have other fields there. */
function fullName(block: Buffer): string {
  const name = textAt(block, 0, 100);
  if (block.toString('latin1', 257, 263) !== 'ustar\0') return name;
  const isStar = block.toString('latin1', 508, 512) === 'tar\0';
  const prefix = textAt(block, 345, isStar ? 131 : 155);
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textAt(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end === -1 ? length : end);
}

/** Parses octal digits between spaces and NULs, or base 256 if the first bit is set. */
function numberAt(block: Buffer, at: number, length: number, what: () => string): number {
  if (block[at]! & 0x80) return base256(block.subarray(at, at + length), what);
  const text = block.toString('latin1', at, at + length);
  const [, digits] = /^[ \0]*([0-7]*)(?:[ \0]|$)/.exec(text) ?? [];
  if (digits === undefined) throw corrupt('CORRUPT', `${what()} is invalid`);
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

function base256(field: Buffer, what: () => string): number {
  const value = BigInt(`0x${field.toString('hex')}`) ^ (0x80n << BigInt(8 * (field.length - 1)));
  // The second bit of a negative number is set, so its value without the first one is too large as well.
  if (value > BigInt(Number.MAX_SAFE_INTEGER))
    throw corrupt('CORRUPT', `${what()} is invalid: negative or too large`);
  return Number(value);
}
