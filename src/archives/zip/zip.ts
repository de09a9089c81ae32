import { MinorGc } from '../../tools/gc-hint.ts';
import type { ArchiveBytes } from '../archive-bytes.ts';
import { ByteWindow } from '../byte-window.ts';
import { corrupt } from '../faults.ts';
import type { ArchiveLimits } from '../inspection.ts';
import { fillMember, type MemberCollector } from '../member-collector.ts';
import { hashMember } from '../members/member-hash.ts';
import { sanitizeName } from '../members/sanitize-name.ts';
import { BadMember, hashLarge, isSmall, stored, unpack } from './zip-data.ts';
import { readDirectory, type ZipEntry } from './zip-directory.ts';
import { readEndRecords } from './zip-end-record.ts';
import { type PlacedEntry, placeEntry } from './zip-entry.ts';
import { assertSameHeaders, localHeaderLength, localLength, longestDescriptor } from './zip-local-header.ts';
import { warnAboutName } from './zip-name-warnings.ts';

/** An entry with all its bytes, from its local header up to the next entry. */
type Extent = { readonly entry: ZipEntry; readonly end: number; readonly placed: PlacedEntry | undefined };

/**
 * Reads a zip: validates its directory first, then unpacks, checks and hashes each entry in the order of the
 * file. Each entry must begin exactly where the previous one ended.
 * @throws {Unreadable} at a fault of the structure.
 */
export async function readZip(
  bytes: ArchiveBytes,
  limits: ArchiveLimits,
  contents: MemberCollector,
): Promise<void> {
  const window = new ByteWindow(bytes);
  const garbage = new MinorGc();
  // In reverse, so that each one can be freed after it was read.
  const extents = extentsIn(bytes, limits, contents).toReversed();
  for (let extent = extents.pop(); extent !== undefined; extent = extents.pop()) {
    await readEntry(bytes, window, extent, contents);
    garbage.add(extent.entry.unpacked);
  }
}

function extentsIn(bytes: ArchiveBytes, limits: ArchiveLimits, contents: MemberCollector): Extent[] {
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
    return { entry, end, placed: placeEntry(entry, contents, limits.linkTargetBytes) };
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
  contents: MemberCollector,
): Promise<void> {
  const { entry, placed } = extent;
  const data = findData(window, extent);
  try {
    if (placed === undefined) return;
    if (isSmall(entry)) {
      readSmall(window.take(data.start, data.end), entry, placed, contents);
    } else await readLarge(bytes.borrowedPieces(data.start, data.end), entry, placed);
  } catch (error) {
    if (!(error instanceof BadMember)) throw error;
    contents.faults.add(error.code, error.message);
  }
}

/** Returns the range of the entry's data, after verifying its local header and its data descriptor. */
function findData(window: ByteWindow, { entry, end }: Extent): { start: number; end: number } {
  const { offset } = entry;
  if (end - offset < localHeaderLength) throw overlap(entry);
  const start = offset + localLength(window.take(offset, offset + localHeaderLength));
  const dataEnd = start + entry.packed;
  if (dataEnd > end) throw overlap(entry);
  if (end - dataEnd > longestDescriptor) {
    throw corrupt(
      'TRAILING_BYTES',
      `${end - dataEnd} bytes after the entry “${sanitizeName(entry.rawName)}” belong to no entry (trailing)`,
    );
  }
  const descriptor = Buffer.from(window.take(dataEnd, end));
  assertSameHeaders(entry, window.take(offset, start), descriptor);
  return { start, end: dataEnd };
}

function readSmall(data: Buffer, entry: ZipEntry, placed: PlacedEntry, contents: MemberCollector): void {
  if (placed.kind === 'directory') return checkNothing(data, entry);
  const unpacked = unpack(data, entry);
  fillMember(placed.member, hashMember(unpacked));
  if (placed.kind === 'link') contents.checkLink(placed.path, unpacked.toString('latin1'));
}

/** Verifies that the data of a directory is empty. Some writers mark it as deflated and omit it. */
function checkNothing(data: Buffer, entry: ZipEntry): void {
  unpack(data, entry.packed === 0 ? { ...entry, method: stored } : entry);
}

async function readLarge(pieces: Iterable<Buffer>, entry: ZipEntry, placed: PlacedEntry): Promise<void> {
  const hashed = await hashLarge(pieces, entry);
  if (placed.kind !== 'directory') fillMember(placed.member, hashed);
}

function overlap({ rawName }: ZipEntry) {
  return corrupt(
    'OVERLAP',
    `the entry “${sanitizeName(rawName)}” overlaps the one after it or the directory`,
  );
}
