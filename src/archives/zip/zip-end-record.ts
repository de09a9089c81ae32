import type { ArchiveBytes } from '../archive-bytes.ts';
import { corrupt, type Unreadable } from '../faults.ts';
import { isZero } from '../tar/tar-block.ts';

/** Location of a zip's directory; the end records begin at `start + length`. */
export type DirectoryPlace = { readonly start: number; readonly length: number; readonly count: number };

const signatureBytes = Buffer.from('PK\x05\x06', 'latin1');
const RECORD_LENGTH = 22;
const LONGEST_COMMENT = 0xffff;

const LOCATOR_SIGNATURE = 0x07064b50;
const LOCATOR_LENGTH = 20;
const RECORD64_SIGNATURE = 0x06064b50;
const RECORD64_LENGTH = 56;

/**
 * Reads the end record, and the zip64 one before it if there is a locator, even if the end record does not require it:
 * some readers always search for it. The directory must end exactly where they begin, so that no two readers can find
 * different directories in one file.
 */
export function readEndRecords(bytes: ArchiveBytes): DirectoryPlace {
  const { record, at } = findEndRecord(bytes);
  const disks = [
    record.readUInt16LE(4),
    record.readUInt16LE(6),
    record.readUInt16LE(8) - record.readUInt16LE(10),
  ];
  const place = {
    count: record.readUInt16LE(10),
    length: record.readUInt32LE(12),
    start: record.readUInt32LE(16),
  };
  const zip64 = readZip64Records(bytes, at);
  // All ones are ordinary values without a zip64 record: some writers store 65,535 entries so.
  if (zip64 === undefined) {
    if (place.start + place.length === at) return assertOneDisk(disks, place);
    throw asksForZip64(place) ? noZip64() : gap(place, at);
  }
  assertSame(place, zip64.place);
  if (zip64.place.start + zip64.place.length !== zip64.at) throw gap(zip64.place, zip64.at);
  return zip64.place;
}

function findEndRecord(bytes: ArchiveBytes): { record: Buffer; at: number } {
  const tailLength = Math.min(bytes.length, RECORD_LENGTH + LONGEST_COMMENT);
  const tail = Buffer.allocUnsafeSlow(tailLength);
  bytes.read(tail, bytes.length - tailLength);
  const found: number[] = [];
  let last: number | undefined;
  for (
    let at = tail.lastIndexOf(signatureBytes);
    at !== -1;
    at = at === 0 ? -1 : tail.lastIndexOf(signatureBytes, at - 1)
  ) {
    const end =
      at + RECORD_LENGTH <= tailLength
        ? at + RECORD_LENGTH + tail.readUInt16LE(at + 20)
        : Number.POSITIVE_INFINITY;
    if (end === tailLength) found.push(at);
    else last ??= end;
  }
  const [at] = found;
  if (at === undefined) throw noEndRecord(tail, last);
  if (found.length > 1 || tail.includes(signatureBytes, at + 4))
    throw corrupt('CORRUPT', 'it has more than one end record');
  return { record: tail.subarray(at), at: bytes.length - tailLength + at };
}

function readZip64Records(
  bytes: ArchiveBytes,
  endRecordAt: number,
): { place: DirectoryPlace; at: number } | undefined {
  const locatorAt = endRecordAt - LOCATOR_LENGTH;
  if (locatorAt < RECORD64_LENGTH) return undefined;
  const locator = readAt(bytes, locatorAt, LOCATOR_LENGTH);
  if (locator.readUInt32LE(0) !== LOCATOR_SIGNATURE) return undefined;
  const at = safeInteger(locator, 8, 'the offset of the zip64 end record');
  if (at > locatorAt - RECORD64_LENGTH)
    throw corrupt('CORRUPT', `its zip64 end record is said to be at byte ${at}, past the place for it`);
  const record = readAt(bytes, at, RECORD64_LENGTH);
  if (record.readUInt32LE(0) !== RECORD64_SIGNATURE)
    throw corrupt('CORRUPT', `it has no zip64 end record at byte ${at}`);
  // A longer record could contain another one: some readers use the locator, some look right before it.
  if (
    at + RECORD64_LENGTH !== locatorAt ||
    at + 12 + safeInteger(record, 4, 'the length of the zip64 end record') !== locatorAt
  ) {
    throw corrupt(
      'CORRUPT',
      'its zip64 end record does not reach up to its locator, or is longer than one is',
    );
  }
  const place = {
    count: safeInteger(record, 32, 'the number of entries'),
    length: safeInteger(record, 40, 'the length of the directory'),
    start: safeInteger(record, 48, 'the offset of the directory'),
  };
  const disks = [
    locator.readUInt32LE(4),
    locator.readUInt32LE(16) - 1,
    record.readUInt32LE(16),
    record.readUInt32LE(20),
  ];
  // Some writers store “disk 0 of 0”.
  if (disks[1] === -1) disks[1] = 0;
  return {
    place: assertOneDisk([...disks, safeInteger(record, 24, 'the number of entries') - place.count], place),
    at,
  };
}

/** Reads a little-endian integer of 8 bytes. @throws {Unreadable} it is not a safe integer. */
export function safeInteger(buffer: Buffer, at: number, what: string): number {
  const value = buffer.readBigUInt64LE(at);
  if (value > BigInt(Number.MAX_SAFE_INTEGER))
    throw corrupt('CORRUPT', `${what} is ${value}, which no archive can have`);
  return Number(value);
}

function readAt(bytes: ArchiveBytes, at: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  bytes.read(buffer, at);
  return buffer;
}

function assertOneDisk(disks: readonly number[], place: DirectoryPlace): DirectoryPlace {
  if (disks.some((disk) => disk !== 0))
    throw corrupt(
      'UNSUPPORTED',
      'it is a part of an archive that is split over several files, or its counts disagree',
    );
  return place;
}

/** Verifies that each field of the plain record is either all ones or equal to that of the zip64 record. */
function assertSame(plain: DirectoryPlace, zip64: DirectoryPlace): void {
  const same =
    (plain.count === 0xffff || plain.count === zip64.count) &&
    (plain.length === 0xffffffff || plain.length === zip64.length) &&
    (plain.start === 0xffffffff || plain.start === zip64.start);
  if (!same) throw corrupt('HEADER_MISMATCH', 'its end record and its zip64 end record disagree (mismatch)');
}

/** @param end where the last record would end; `undefined` if there is no record. */
function noEndRecord(tail: Buffer, end: number | undefined): Unreadable {
  if (end === undefined) return corrupt('TRUNCATED', 'it has no end record (truncated)');
  if (end > tail.length) return corrupt('TRUNCATED', 'its end record is truncated');
  return corrupt(
    'TRAILING_BYTES',
    isZero(tail.subarray(end))
      ? 'there are trailing zeros after its end record, as bsdtar writes them to standard output: use bsdtar -cf FILE'
      : 'there are trailing bytes after its end record',
  );
}

function asksForZip64({ start, length, count }: DirectoryPlace): boolean {
  return count === 0xffff || length === 0xffffffff || start === 0xffffffff;
}

function noZip64(): Unreadable {
  return corrupt('CORRUPT', 'its end record asks for a zip64 end record, and there is none');
}

function gap({ start, length }: DirectoryPlace, at: number): Unreadable {
  return corrupt(
    'TRAILING_BYTES',
    `its directory is said to end at byte ${start + length}, but its end record begins at byte ${at} (bytes prepended, trailing or missing)`,
  );
}
