import { crc32, createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { CodedError } from '../../tools/coded-error.ts';
import { collectingBuffers } from '../../tools/gc-hint.ts';
import { feed } from '../compression/write-to-stream.ts';
import type { FaultCode } from '../faults.ts';
import { type Hashed, MemberHash } from '../members/member-hash.ts';
import { sanitizeName } from '../members/sanitize-name.ts';
import type { ZipEntry } from './zip-directory.ts';

export const STORED = 0;
export const DEFLATED = 8;

const PIECE_LENGTH = 256 * 1024;
/** Most bytes of a small member, packed or unpacked. */
export const LARGEST_SMALL = 1024 ** 2;

/** The fields of an entry with which its data is unpacked and verified. */
export type PackedMember = Pick<ZipEntry, 'rawName' | 'method' | 'crc' | 'packed' | 'unpacked'>;

/** Whether an entry is unpacked in memory at once. */
export function isSmall({ packed, unpacked }: PackedMember): boolean {
  return packed <= LARGEST_SMALL && unpacked <= LARGEST_SMALL;
}

/** The data of one entry is bad; the next one can still be read. */
export class BadMember extends CodedError<FaultCode> {
  constructor(code: FaultCode, entry: PackedMember, what: string) {
    super(code, `The member “${sanitizeName(entry.rawName)}” is corrupt: ${what}.`);
  }
}

/**
 * Unpacks a whole entry at once. It only costs the set-up of an inflater, where a stream costs turns of the event loop.
 * @throws {BadMember}
 */
export function unpack(data: Buffer, entry: PackedMember): Buffer {
  const unpacked = entry.method === STORED ? data : inflate(data, entry);
  assertUnpacked(entry, unpacked.length, crc32(unpacked));
  return unpacked;
}

/**
 * Hashes a large entry, in chunks of bounded size.
 * @throws {BadMember}
 */
export async function hashLarge(pieces: Iterable<Buffer>, entry: PackedMember): Promise<Hashed> {
  const hash = new MemberHash(entry.unpacked);
  let crc = 0;
  let length = 0;
  for await (const piece of entry.method === STORED ? pieces : inflated(pieces, entry)) {
    length += piece.length;
    if (length > entry.unpacked) throw tooLong(entry);
    crc = crc32(piece, crc);
    hash.update(piece);
  }
  assertUnpacked(entry, length, crc);
  return hash.digest();
}

function inflate(data: Buffer, entry: PackedMember): Buffer {
  const maxOutputLength = entry.unpacked + 1;
  try {
    // One output buffer of the right size, instead of chunks to be concatenated. `info` returns the number of
    // consumed bytes.
    const options = { maxOutputLength, chunkSize: Math.max(64, maxOutputLength), info: true };
    const { buffer, engine } = inflateRawSync(data, options) as unknown as {
      buffer: Buffer;
      engine: InflateRaw;
    };
    assertConsumed(entry, engine.bytesWritten);
    return buffer;
  } catch (error) {
    throw asBadMember(error, entry);
  }
}

/** Yields the data of a large entry in chunks of bounded size; verifies neither length nor CRC. */
export async function* inflated(pieces: Iterable<Buffer>, entry: PackedMember): AsyncGenerator<Buffer> {
  const engine = createInflateRaw({ chunkSize: PIECE_LENGTH });
  const writing = feed(pieces, engine);
  try {
    yield* collectingBuffers(engine);
    assertConsumed(entry, engine.bytesWritten);
  } catch (error) {
    throw asBadMember(error, entry);
  } finally {
    engine.destroy();
    await writing;
  }
}

function assertConsumed(entry: PackedMember, consumed: number): void {
  if (consumed === entry.packed) return;
  throw new BadMember(
    'TRAILING_BYTES',
    entry,
    `${entry.packed - consumed} bytes follow the end of its compressed data (trailing)`,
  );
}

function assertUnpacked(entry: PackedMember, length: number, crc: number): void {
  if (length !== entry.unpacked) {
    throw new BadMember(
      'SIZE_MISMATCH',
      entry,
      `its size is ${length} bytes where its header says ${entry.unpacked} (mismatch)`,
    );
  }
  if (crc !== entry.crc)
    throw new BadMember('CRC_MISMATCH', entry, 'its CRC does not match the one in its header (mismatch)');
}

function tooLong(entry: PackedMember): BadMember {
  return new BadMember(
    'SIZE_MISMATCH',
    entry,
    `its size is more than the ${entry.unpacked} bytes its header says (mismatch)`,
  );
}

/** Turns zlib's errors about the data into a fault; returns other errors unchanged. */
function asBadMember(error: unknown, entry: PackedMember): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_BUFFER_TOO_LARGE') return tooLong(entry);
  if (code === 'Z_BUF_ERROR') return new BadMember('TRUNCATED', entry, 'its compressed data is truncated');
  if (code === 'Z_DATA_ERROR' || code === 'Z_NEED_DICT')
    return new BadMember('CORRUPT', entry, `its compressed data is invalid (${message})`);
  return error;
}
