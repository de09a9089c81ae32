export const BLOCK_LENGTH = 512;

/** The end marker of a tar. */
export const tarEnd: Uint8Array = Buffer.alloc(2 * BLOCK_LENGTH);

/** Sizes below this fit the plain header, in eleven octal digits. */
export const OCTAL_SIZES = 8 ** 11;

/** Returns the number of bytes that fill the last block of `length` bytes. */
export function paddingOf(length: number): number {
  return (BLOCK_LENGTH - (length % BLOCK_LENGTH)) % BLOCK_LENGTH;
}

const CHECKSUM_AT = 148;
const CHECKSUM_LENGTH = 8;
const zeros = Buffer.alloc(64 * 1024);

/**
 * Whether these are 512 bytes with a correct header checksum, with the bytes as unsigned or (as in some old programs)
 * signed.
 */
export function hasTarChecksum(block: Uint8Array): boolean {
  if (block.length !== BLOCK_LENGTH) return false;
  const stored = storedChecksum(block);
  if (stored === undefined) return false;
  let unsigned = CHECKSUM_LENGTH * 0x20;
  let high = 0;
  for (let at = 0; at < BLOCK_LENGTH; at += 1) {
    if (at === CHECKSUM_AT) at += CHECKSUM_LENGTH;
    const byte = block[at]!;
    unsigned += byte;
    if (byte > 127) high += 1;
  }
  return stored === unsigned || stored === unsigned - 256 * high;
}

export function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += zeros.length) {
    const piece = bytes.subarray(at, at + zeros.length);
    if (!zeros.subarray(0, piece.length).equals(piece)) return false;
  }
  return true;
}

function storedChecksum(block: Uint8Array): number | undefined {
  const field = Buffer.from(block.buffer, block.byteOffset + CHECKSUM_AT, CHECKSUM_LENGTH).toString('latin1');
  const [, digits] = /^ *([0-7]{1,7})[\0 ]/.exec(field) ?? [];
  return digits === undefined ? undefined : Number.parseInt(digits, 8);
}
