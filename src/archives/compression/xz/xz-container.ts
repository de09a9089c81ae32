import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ArchiveBytes } from '../../archive-bytes.ts';
import { ByteWindow } from '../../byte-window.ts';
import { corrupt } from '../../faults.ts';
import { isZero } from '../../tar/tar-block.ts';
import { invalidXz, parseBlockHeader, unsupportedXz, type XzFilter, XzNumbers } from './xz-block-header.ts';

/** One block of an xz file. Its LZMA2 data is at `start` to `end`; `checksum` is of the unpacked bytes. */
export type XzBlock = {
  readonly check: number;
  readonly filters: readonly XzFilter[];
  readonly dictionary: number;
  readonly start: number;
  readonly end: number;
  readonly unpacked: number;
  readonly checksum: Buffer;
};

type SeeHeader = (header: Pick<XzBlock, 'check' | 'filters'>) => void;

export const magic = Buffer.from('\xFD7zXZ\0', 'latin1');
const endMagic = Buffer.from('YZ');
const STREAM_HEADER_LENGTH = 12;
const FOOTER_LENGTH = 12;
const checkLengths: { readonly [check: number]: number | undefined } = { 0: 0, 1: 4, 4: 8, 10: 32 };

/**
 * Parses the containers of all streams of an xz file without unpacking: the lengths of LZMA2 chunks are in their
 * headers. Each stream's index and footer are compared with the blocks found.
 * @param seeHeader is called for each stream, and for each block before its data is read.
 * @throws {Unreadable}
 */
export function* xzBlocks(bytes: ArchiveBytes, seeHeader?: SeeHeader): Generator<XzBlock> {
  const window = new ByteWindow(bytes);
  for (let at = 0; at < bytes.length; ) {
    const start = window.take(at, Math.min(at + magic.length, bytes.length));
    if (!start.equals(magic)) throw trailing();
    at = yield* readStream(window, at, seeHeader);
    at = skipPadding(window, at, bytes.length);
  }
}

function* readStream(window: ByteWindow, start: number, seeHeader?: SeeHeader): Generator<XzBlock, number> {
  const header = Buffer.from(window.take(start, start + STREAM_HEADER_LENGTH));
  const flags = header.subarray(6, 8);
  if (crc32(flags) !== header.readUInt32LE(8)) throw invalidXz();
  const check = flags[1]!;
  const checkLength = checkLengths[check];
  if (flags[0] !== 0 || checkLength === undefined) throw unsupportedXz();
  seeHeader?.({ check, filters: [] });
  const found = new FoundBlocks();
  let at = start + STREAM_HEADER_LENGTH;
  for (let size = byteAt(window, at); size !== 0; size = byteAt(window, at)) {
    const blockStart = at;
    const dataStart = at + 4 * (size + 1);
    const { filters, dictionary, packed, unpacked } = parseBlockHeader(window.take(at, dataStart));
    seeHeader?.({ check, filters });
    const data = walkChunks(window, dataStart);
    if ((packed ?? data.packed) !== data.packed || (unpacked ?? data.unpacked) !== data.unpacked)
      throw invalidXz();
    const end = dataStart + data.packed;
    const checkStart = end + (-data.packed & 3);
    if (!isZero(window.take(end, checkStart))) throw invalidXz();
    const checksum = Buffer.from(window.take(checkStart, checkStart + checkLength));
    yield { check, filters, dictionary, start: dataStart, end, unpacked: data.unpacked, checksum };
    found.add(end - blockStart + checkLength, data.unpacked);
    at = checkStart + checkLength;
  }
  const indexEnd = found.compareIndex(window, at);
  checkFooter(window.take(indexEnd, indexEnd + FOOTER_LENGTH), flags, indexEnd - at);
  return indexEnd + FOOTER_LENGTH;
}

function walkChunks(window: ByteWindow, start: number): { packed: number; unpacked: number } {
  let [at, unpacked] = [start, 0];
  for (let control = byteAt(window, at); control !== 0; control = byteAt(window, at)) {
    if (control < 0x80) {
      if (control > 2) throw invalidXz();
      const length = window.take(at + 1, at + 3).readUInt16BE(0) + 1;
      unpacked += length;
      at += 3 + length;
    } else {
      const sizes = window.take(at + 1, at + 5);
      unpacked += ((control & 0x1f) << 16) + sizes.readUInt16BE(0) + 1;
      at += (control >= 0xc0 ? 6 : 5) + sizes.readUInt16BE(2) + 1;
    }
  }
  return { packed: at + 1 - start, unpacked };
}

/** The records that the index must hold. The memory for them does not grow with their number. */
class FoundBlocks {
  readonly #hash = createHash('sha256');
  #count = 0;

  add(unpadded: number, unpacked: number): void {
    this.#count += 1;
    this.#hash.update(`${unpadded} ${unpacked}\n`);
  }

  /** Compares the index at `start` with the blocks. Returns the end of the index. */
  compareIndex(window: ByteWindow, start: number): number {
    let at = start + 1;
    let crc = crc32(window.take(start, at));
    const next = (): number => {
      let length = 1;
      while (length < 9 && byteAt(window, at + length - 1) >= 128) length += 1;
      const digits = window.take(at, at + length);
      crc = crc32(digits, crc);
      at += length;
      return new XzNumbers(digits, 0).next();
    };
    if (next() !== this.#count) throw invalidXz();
    const hash = createHash('sha256');
    for (let left = this.#count; left > 0; left -= 1) hash.update(`${next()} ${next()}\n`);
    if (!hash.digest().equals(this.#hash.digest())) throw invalidXz();
    const padding = window.take(at, at + (-(at - start) & 3));
    if (!isZero(padding)) throw invalidXz();
    crc = crc32(padding, crc);
    at += padding.length;
    if (window.take(at, at + 4).readUInt32LE(0) !== crc) throw invalidXz();
    return at + 4;
  }
}

function checkFooter(footer: Buffer, flags: Buffer, indexLength: number): void {
  const isRight =
    crc32(footer.subarray(4, 10)) === footer.readUInt32LE(0) &&
    4 * (footer.readUInt32LE(4) + 1) === indexLength &&
    footer.subarray(8, 10).equals(flags) &&
    footer.subarray(10, 12).equals(endMagic);
  if (!isRight) throw invalidXz();
}

/** Skips zeros in groups of four, which may follow each stream. */
function skipPadding(window: ByteWindow, start: number, end: number): number {
  let at = start;
  while (at < end && byteAt(window, at) === 0) {
    if (end - at < 4 || !isZero(window.take(at, at + 4))) throw trailing();
    at += 4;
  }
  return at;
}

function byteAt(window: ByteWindow, at: number): number {
  return window.take(at, at + 1)[0]!;
}

function trailing() {
  return corrupt('TRAILING_BYTES', 'there are trailing bytes after its xz data');
}
