import type { LocalSource } from '../object-store/object-store.ts';
import { ArchiveBytes } from './archive-bytes.ts';
import type { ArchiveLimits, HashedInspection, Inspection } from './archive-reader.ts';
import { type TarFormat, tarPieces } from './compression/decompress.ts';
import { Unreadable } from './faults.ts';
import { MemberCollector } from './member-collector.ts';
import { TarReader } from './tar/tar.ts';
import { TarMembers } from './tar/tar-members.ts';
import { readZip } from './zip/zip.ts';
import type { Assistant } from './zip/zip-batches.ts';

/**
 * Reads the archive to its end, in this thread and in those of the assistant. @param sha256 digest that its bytes are
 * expected to have.
 * @throws the error of the file system, when the archive cannot be opened or read.
 */
export async function readArchive(
  source: LocalSource,
  sha256: string,
  limits: ArchiveLimits,
  assistant?: Assistant,
): Promise<HashedInspection> {
  using bytes = ArchiveBytes.open(source);
  const inspection = await inspectBytes(bytes, sha256, limits, assistant);
  return { inspection, found: bytes.digest() };
}

async function inspectBytes(
  bytes: ArchiveBytes,
  sha256: string,
  limits: ArchiveLimits,
  assistant?: Assistant,
): Promise<Inspection> {
  const format = bytes.format();
  if (format === 'unknown') return { outcome: 'refused', format: null, faults: [unknownFormat] };
  const contents = new MemberCollector(limits);
  try {
    await (format === 'zip' ? readZip(bytes, contents, assistant) : readTar(bytes, format, contents));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    contents.faults.add(error.code, error.message);
  }
  return contents.toInspection(format, sha256);
}

async function readTar(bytes: ArchiveBytes, format: TarFormat, contents: MemberCollector): Promise<void> {
  const members = new TarMembers(contents);
  const reader = new TarReader(members);
  let unpacked = 0;
  for await (const piece of tarPieces(bytes, format)) {
    unpacked += piece.length;
    contents.checkRatio(bytes.length, unpacked);
    reader.push(piece);
  }
  if (!reader.finish()) contents.warnings.add('NO_END_MARKER', noEndMarker);
  members.finish();
}

const noEndMarker =
  'The tar has no end marker (a block of zeros): if it was cut between two members, the later ones are missing.';

const unknownFormat = {
  code: 'UNKNOWN_FORMAT',
  text: 'The format is unsupported: the bytes are neither a zip nor a tar (plain, gzip, bzip2 or xz).',
};
