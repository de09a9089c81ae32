import xz from 'xz-decompress';
import { codedError } from '../../../tools/coded-error.ts';
import { collectAll } from '../../../tools/gc-hint.ts';
import type { ArchiveBytes } from '../../archive-bytes.ts';
import { corrupt, Unreadable } from '../../faults.ts';
import { plainStream } from './plain-stream.ts';
import { invalidXz, unsupportedXz } from './xz-block-header.ts';
import { assertChecksum, xzCheck } from './xz-check.ts';
import { type XzBlock, xzBlocks } from './xz-container.ts';
import { unfiltered } from './xz-filters.ts';

const SHA256 = 10;

/**
 * Unpacks xz data, also several concatenated streams. The package supports neither filters nor SHA-256: a file with one
 * of them is unpacked block by block by the package, and filtered and checked here.
 */
export async function* unxz(bytes: ArchiveBytes): AsyncGenerator<Buffer> {
  try {
    if (needsOwnReading(bytes)) for (const block of xzBlocks(bytes)) yield* readBlock(bytes, block);
    else yield* unpacked(bytes.pieces());
  } finally {
    giveUpLargeDecoder();
  }
}

/** Most bytes of memory that the decoder of a thread keeps: more than it needs for what `xz` packs by default. */
const MOST_KEPT = 16 * 1024 ** 2;

/** The decoder of a thread, which the package keeps. */
type Kept = {
  _moduleInstance?: { readonly exports: { readonly memory: { readonly buffer: ArrayBuffer } } } | undefined;
  _moduleInstancePromise?: Promise<void> | undefined;
};

/** Gives up a decoder that has grown: its memory never shrinks, and large dictionaries of several sizes add up in it. */
function giveUpLargeDecoder(): void {
  const kept: Kept = xz.XzReadableStream as unknown as Kept;
  if ((kept._moduleInstance?.exports.memory.buffer.byteLength ?? 0) <= MOST_KEPT) return;
  kept._moduleInstance = undefined;
  kept._moduleInstancePromise = undefined;
  collectAll();
}

/**
 * Whether the file has a filter or check that the package does not support. Stops at the first block that decides it. A
 * file that is invalid before that is left to the package, which reports why.
 */
function needsOwnReading(bytes: ArchiveBytes): boolean {
  const found = { isNeeded: false };
  const blocks = xzBlocks(bytes, ({ check, filters }) => {
    found.isNeeded ||= check === SHA256 || filters.length > 0;
  });
  try {
    for (const _ of blocks) if (found.isNeeded) break;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
  }
  return found.isNeeded;
}

async function* readBlock(bytes: ArchiveBytes, block: XzBlock): AsyncGenerator<Buffer> {
  const check = xzCheck(block.check);
  for await (const piece of unfiltered(unpacked(plainStream(bytes, block)), block.filters)) {
    check.update(piece);
    yield piece;
  }
  assertChecksum(check, block.checksum);
}

async function* unpacked(pieces: Generator<Buffer<ArrayBuffer>>): AsyncGenerator<Buffer> {
  const reader = new xz.XzReadableStream(ReadableStream.from(pieces)).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value.length > 0) yield Buffer.from(value.buffer, value.byteOffset, value.length);
    }
  } catch (error) {
    throw asUnreadable(error);
  } finally {
    // The decoder has one context for all streams; it is free again only after this.
    await reader.cancel().catch(() => undefined);
  }
}

/** Code of the decoder if it got no memory, which says nothing about the data. */
const NO_MEMORY = '3';

const faults: { [code: string]: Unreadable | undefined } = {
  '4': new Unreadable(
    'UNSUPPORTED',
    'The archive is too large to unpack: its xz dictionary needs more than 64 MiB, which is unsupported.',
  ),
  '6': unsupportedXz(),
  '7': corrupt('CORRUPT', 'its xz data is invalid, or its CRC does not match'),
  '8': corrupt('TRUNCATED', 'its xz data is truncated, or followed by trailing bytes'),
};

/** Turns the decoder's errors about the data into a fault; returns other errors unchanged. */
function asUnreadable(error: unknown): unknown {
  const [, code] = /^get_next_output failed with error code (\d+)$/.exec((error as Error).message) ?? [];
  if (code === NO_MEMORY) return codedError('ENOMEM', 'No memory is left to unpack xz data.');
  return code === undefined ? error : (faults[code] ?? invalidXz());
}
