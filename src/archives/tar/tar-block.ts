export const blockLength = 512;

/** The end marker of a tar. */
export const tarEnd: Uint8Array = Buffer.alloc(2 * blockLength);

/** Sizes below this fit the plain header, in eleven octal digits. */
export const octalSizes = 8 ** 11;

/** Returns the number of bytes that fill the last block of `length` bytes. */
export function paddingOf(length: number): number {
  return (blockLength - (length % blockLength)) % blockLength;
}

const checksumAt = 148;
const checksumLength = 8;
const zeros = Buffer.alloc(64 * 1024);

/**
 * Whether these are 512 bytes with a correct header checksum, with the bytes as unsigned or (as in some old programs)
 * signed.
 */
export function hasTarChecksum(block: Uint8Array): boolean {
  if (block.length !== blockLength) return false;
  const stored = storedChecksum(block);
  if (stored === undefined) return false;
  let unsigned = checksumLength * 0x20;
  let high = 0;
  for (let at = 0; at < blockLength; at += 1) {
    if (at === checksumAt) at += checksumLength;
    const byte = block[at]!;
    unsigned += byte;
    if (byte > 127) high += 1;
  }
  return stored === unsigned || stored === unsigned - 256 * high;
}

export function isZeroBlock(block: Uint8Array): boolean {
  return block.length === blockLength && isZero(block);
}

export function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += zeros.length) {
    const piece = bytes.subarray(at, at + zeros.length);
    if (!zeros.subarray(0, piece.length).equals(piece)) return false;
  }
  return true;
}

function storedChecksum(block: Uint8Array): number | undefined {
  const field = Buffer.from(block.buffer, block.byteOffset + checksumAt, checksumLength).toString('latin1');
  const [, digits] = /^ *([0-7]{1,7})[\0 ]/.exec(field) ?? [];
  return digits === undefined ? undefined : Number.parseInt(digits, 8);
}
