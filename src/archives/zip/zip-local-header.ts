import { corrupt } from '../faults.ts';
import { sanitizeName } from '../members/sanitize-name.ts';
import { applyZip64, type ZipEntry } from './zip-directory.ts';

export const LOCAL_HEADER_LENGTH = 30;
/** The longest data descriptor: with SIGNATURE and sizes of 8 bytes. */
export const LONGEST_DESCRIPTOR = 24;

const SIGNATURE = 0x04034b50;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
const DESCRIPTOR_FLAG = 0x0008;

/** Returns the length of the local header with its name and extra field. */
export function localLength(header: Buffer): number {
  if (header.readUInt32LE(0) !== SIGNATURE)
    throw corrupt('CORRUPT', 'an entry of its directory has no local header');
  return LOCAL_HEADER_LENGTH + header.readUInt16LE(26) + header.readUInt16LE(28);
}

/**
 * Throws unless the local header matches the directory, or leaves sizes and CRC to a data descriptor that does. @param
 * gap the bytes between the entry's data and the next entry.
 */
export function assertSameHeaders(entry: ZipEntry, local: Buffer, gap: Buffer): void {
  const nameEnd = LOCAL_HEADER_LENGTH + local.readUInt16LE(26);
  if (local.toString('latin1', LOCAL_HEADER_LENGTH, nameEnd) !== entry.rawName) throw mismatch(entry, 'name');
  if (local.readUInt16LE(8) !== entry.method) throw mismatch(entry, 'compression method');
  if (local.readUInt16LE(6) !== entry.flags) throw mismatch(entry, 'flags');
  const small = { unpacked: local.readUInt32LE(22), packed: local.readUInt32LE(18), offset: 0 };
  const sizes = applyZip64(local.subarray(nameEnd), small, entry.rawName);
  const said = { crc: local.readUInt32LE(14), packed: sizes.packed, unpacked: sizes.unpacked };
  const postponed = (entry.flags & DESCRIPTOR_FLAG) !== 0;
  if (!saysSame(entry, said, postponed)) throw mismatch(entry, 'sizes or CRC');
  // Some writers set the flag, store the sizes all the same, and write no descriptor.
  if (gap.length === 0 && saysSame(entry, said, false)) return;
  if (!postponed)
    throw corrupt(
      'TRAILING_BYTES',
      `${gap.length} bytes after the entry “${sanitizeName(entry.rawName)}” belong to no entry (trailing)`,
    );
  if (!descriptors(entry).some((expected) => expected.equals(gap))) throw mismatch(entry, 'data descriptor');
}

function saysSame(
  entry: ZipEntry,
  said: Pick<ZipEntry, (typeof sizeKeys)[number]>,
  mayBeZero: boolean,
): boolean {
  return sizeKeys.every((key) => said[key] === entry[key] || (mayBeZero && said[key] === 0));
}

const sizeKeys = ['crc', 'packed', 'unpacked'] as const;

/** Returns the four forms in use: with and without SIGNATURE, sizes of 4 and of 8 bytes. */
function descriptors({ crc, packed, unpacked }: ZipEntry): Buffer[] {
  const long = Buffer.alloc(LONGEST_DESCRIPTOR);
  long.writeUInt32LE(DESCRIPTOR_SIGNATURE, 0);
  long.writeUInt32LE(crc, 4);
  long.writeBigUInt64LE(BigInt(packed), 8);
  long.writeBigUInt64LE(BigInt(unpacked), 16);
  if (packed > 0xffffffff || unpacked > 0xffffffff) return [long, long.subarray(4)];
  const short = Buffer.alloc(16);
  long.copy(short, 0, 0, 8);
  short.writeUInt32LE(packed, 8);
  short.writeUInt32LE(unpacked, 12);
  return [short, short.subarray(4), long, long.subarray(4)];
}

function mismatch({ rawName }: ZipEntry, what: string) {
  return corrupt(
    'HEADER_MISMATCH',
    `the two headers of the entry “${sanitizeName(rawName)}” disagree in their ${what} (mismatch)`,
  );
}
