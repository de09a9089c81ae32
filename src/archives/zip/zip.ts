import type { ArchiveBytes } from '../archive-bytes.ts';
import { ByteWindow } from '../byte-window.ts';
import { corrupt } from '../faults.ts';
import type { MemberCollector } from '../member-collector.ts';
import { sanitizeName } from '../members/sanitize-name.ts';
import { type Assistant, ZipBatches } from './zip-batches.ts';
import { hashLarge, isSmall, STORED } from './zip-data.ts';
import { readDirectory, type ZipEntry } from './zip-directory.ts';
import { readEndRecords } from './zip-end-record.ts';
import { type PlacedEntry, placeEntry } from './zip-entry.ts';
import {
  assertSameHeaders,
  LOCAL_HEADER_LENGTH,
  LONGEST_DESCRIPTOR,
  localLength,
} from './zip-local-header.ts';
import { warnAboutName } from './zip-name-warnings.ts';

/** An entry with all its bytes, from its local header up to the next entry. */
type Extent = { readonly entry: ZipEntry; readonly end: number; readonly placed: PlacedEntry | undefined };

/**
 * Reads a zip: validates its directory first, then unpacks, checks and hashes each entry in the order of the file. Each
 * entry must begin exactly where the previous one ended.
 * @throws {Unreadable} at a fault of the structure.
 */
export async function readZip(
  bytes: ArchiveBytes,
  contents: MemberCollector,
  assistant?: Assistant,
): Promise<void> {
  const window = new ByteWindow(bytes);
  const batches = new ZipBatches(contents, bytes.length, assistant);
  // In reverse, so that each one can be freed after it was read.
  const extents = extentsIn(bytes, contents).toReversed();
  try {
    for (let extent = extents.pop(); extent !== undefined; extent = extents.pop())
      await readEntry(bytes, window, extent, batches);
  } finally {
    await batches.finish();
  }
}

function extentsIn(bytes: ArchiveBytes, contents: MemberCollector): Extent[] {
  const place = readEndRecords(bytes);
  const warn = (entry: ZipEntry, extra: Buffer) => warnAboutName(entry, extra, contents.warnings);
  const entries = countEntries(readDirectory(bytes, place, warn), contents);
  contents.checkRatio(bytes.length);
  entries.sort((a, b) => a.offset - b.offset);
  if ((entries[0]?.offset ?? place.start) !== 0) {
    throw corrupt(
      'TRAILING_BYTES',
      'its first entry does not begin at its first byte (bytes prepended, or trailing those of another archive)',
    );
  }
  return entries.map((entry, index) => {
    const end = entries[index + 1]?.offset ?? place.start;
    return { entry, end, placed: placeEntry(entry, contents) };
  });
}

function countEntries(directory: Iterable<ZipEntry>, contents: MemberCollector): ZipEntry[] {
  const entries: ZipEntry[] = [];
  for (const entry of directory) {
    contents.countMember(entry.rawName);
    contents.countBytes(entry.unpacked);
    entries.push(entry);
  }
  return entries;
}

async function readEntry(
  bytes: ArchiveBytes,
  window: ByteWindow,
  extent: Extent,
  batches: ZipBatches,
): Promise<void> {
  const { entry, placed } = extent;
  const data = findData(window, extent);
  if (placed === undefined) return;
  if (!isSmall(entry)) {
    const pieces = () => bytes.pieces(data.start, data.end);
    return await batches.addLarge(() => hashLarge(pieces(), entry), placed);
  }
  // Some writers mark a directory as deflated and omit its data, which must be empty.
  const isOmitted = placed.kind === 'directory' && entry.packed === 0;
  const packed = isOmitted ? { ...entry, method: STORED } : entry;
  await batches.add(window.take(data.start, data.end), packed, placed);
}

/** Returns the range of the entry's data, after verifying its local header and its data descriptor. */
function findData(window: ByteWindow, { entry, end }: Extent): { start: number; end: number } {
  const { offset } = entry;
  if (end - offset < LOCAL_HEADER_LENGTH) throw overlap(entry);
  const start = offset + localLength(window.take(offset, offset + LOCAL_HEADER_LENGTH));
  const dataEnd = start + entry.packed;
  if (dataEnd > end) throw overlap(entry);
  if (end - dataEnd > LONGEST_DESCRIPTOR) {
    throw corrupt(
      'TRAILING_BYTES',
      `${end - dataEnd} bytes after the entry “${sanitizeName(entry.rawName)}” belong to no entry (trailing)`,
    );
  }
  const descriptor = Buffer.from(window.take(dataEnd, end));
  assertSameHeaders(entry, window.take(offset, start), descriptor);
  return { start, end: dataEnd };
}

function overlap({ rawName }: ZipEntry) {
  return corrupt(
    'OVERLAP',
    `the entry “${sanitizeName(rawName)}” overlaps the one after it or the directory`,
  );
}
