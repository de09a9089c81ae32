import type { ArchiveBytes } from '../archive-bytes.ts';
import { ByteWindow } from '../byte-window.ts';
import { corrupt } from '../faults.ts';
import { sanitizeName } from '../members/sanitize-name.ts';
import { type DirectoryPlace, safeInteger } from './zip-end-record.ts';

export type ZipEntry = {
  /** Latin1 string of the raw bytes in the headers. */
  readonly rawName: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  /** Bytes in the archive, and unpacked. */
  readonly packed: number;
  readonly unpacked: number;
  /** Offset of its local header. */
  readonly offset: number;
  readonly madeBy: number;
  readonly attributes: number;
};

const SIGNATURE = 0x02014b50;
const HEADER_LENGTH = 46;
const longestEntry = HEADER_LENGTH + 3 * 0xffff;

/**
 * Yields the entries of the directory in its order; their number must match the end record. The extra fields of an
 * entry are valid only during the call of `seeExtra`.
 */
export function* readDirectory(
  bytes: ArchiveBytes,
  place: DirectoryPlace,
  seeExtra?: (entry: ZipEntry, extra: Buffer) => void,
): Generator<ZipEntry> {
  const end = place.start + place.length;
  const window = new ByteWindow(bytes);
  let count = 0;
  for (let position = place.start; position < end; count += 1) {
    const record = window.take(position, Math.min(end, position + longestEntry));
    const length = entryLength(record);
    const extra = extraOf(record);
    const entry = parseEntry(record.subarray(0, length), extra);
    seeExtra?.(entry, extra);
    yield entry;
    position += length;
  }
  if (count !== place.count)
    throw corrupt(
      'HEADER_MISMATCH',
      `its end record counts ${place.count} entries, its directory has ${count} (mismatch)`,
    );
}

type Zip64Values = { unpacked: number; packed: number; offset: number };

/** Replaces values that are all ones by those of the zip64 extra field, which lists just these, in this order. */
export function applyZip64(extra: Buffer, values: Zip64Values, name: string): Zip64Values {
  const keys = (['unpacked', 'packed', 'offset'] as const).filter((key) => values[key] === 0xffffffff);
  const field = keys.length === 0 ? undefined : extraField(extra, 0x0001);
  if (field === undefined) return values;
  if (field === 'truncated')
    throw corrupt('CORRUPT', `an extra field of the entry “${sanitizeName(name)}” is truncated`);
  if (field.length < 8 * keys.length)
    throw corrupt('CORRUPT', `the zip64 field of the entry “${sanitizeName(name)}” is too short`);
  const large = keys.map((key, index) => [
    key,
    safeInteger(field, 8 * index, `a size or offset of the entry “${sanitizeName(name)}”`),
  ]);
  return { ...values, ...(Object.fromEntries(large) as Partial<Zip64Values>) };
}

/** Returns the length of the entry at the start of the buffer. */
function entryLength(entry: Buffer): number {
  if (entry.length < HEADER_LENGTH || entry.readUInt32LE(0) !== SIGNATURE)
    throw corrupt('CORRUPT', 'its directory is malformed or truncated');
  const length = HEADER_LENGTH + entry.readUInt16LE(28) + entry.readUInt16LE(30) + entry.readUInt16LE(32);
  if (length > entry.length) throw corrupt('CORRUPT', 'the last entry of its directory is truncated');
  return length;
}

function extraOf(entry: Buffer): Buffer {
  const nameEnd = HEADER_LENGTH + entry.readUInt16LE(28);
  return entry.subarray(nameEnd, nameEnd + entry.readUInt16LE(30));
}

function parseEntry(entry: Buffer, extra: Buffer): ZipEntry {
  const rawName = entry.toString('latin1', HEADER_LENGTH, HEADER_LENGTH + entry.readUInt16LE(28));
  const small = {
    unpacked: entry.readUInt32LE(24),
    packed: entry.readUInt32LE(20),
    offset: entry.readUInt32LE(42),
  };
  return {
    rawName,
    madeBy: entry.readUInt16LE(4),
    flags: entry.readUInt16LE(8),
    method: entry.readUInt16LE(10),
    crc: entry.readUInt32LE(16),
    attributes: entry.readUInt32LE(38),
    ...applyZip64(extra, small, rawName),
  };
}

/** Returns the first field with this id; `truncated` if a field up to that one is not whole. */
export function extraField(extra: Buffer, wanted: number): Buffer | 'truncated' | undefined {
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (end > extra.length) return 'truncated';
    if (extra.readUInt16LE(at) === wanted) return extra.subarray(at + 4, end);
    at = end;
  }
}
