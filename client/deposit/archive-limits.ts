import type { ArchiveFormat } from '../../src/archives/archive-reader.ts';
import type { PreparedArchive } from '../archives/prepare-archive.ts';
import type { Collection, ServiceDocument } from '../documents/service-document.ts';
import { Fault } from '../faults.ts';
import { formatNumber } from '../output.ts';

/** Minimum bytes of a resumable upload, so that a lost connection loses little. */
const MIN_RESUMABLE_BYTES = 8 * 1024 ** 2;

/** Whether an archive is sent before the request that names it, in chunks, by the tus protocol. */
export function isResumable(
  { length }: Pick<PreparedArchive, 'length'>,
  { maxUploadSize }: ServiceDocument,
  { resumableUploads }: Collection,
): boolean {
  const isLarge = length >= MIN_RESUMABLE_BYTES || (maxUploadSize !== null && length > maxUploadSize);
  return isLarge && resumableUploads !== null;
}

/** @throws {Fault} the archive is larger than the server accepts, or of a type that it does not accept. */
export function assertAccepted(
  archive: PreparedArchive,
  service: ServiceDocument,
  collection: Collection,
): void {
  const { source, length, format, directory } = archive;
  const { maxUploadSize, maxResumableUploadSize } = service;
  const limit = isResumable(archive, service, collection) ? maxResumableUploadSize : maxUploadSize;
  if (limit !== null && length > limit) {
    const packed = directory === undefined ? '' : ' packed';
    throw new Fault(
      `${source} is too large: ${formatNumber(length)} bytes${packed}; the server accepts at most ${formatNumber(limit)}.`,
    );
  }
  archiveType(format, collection);
}

/** The media types by which servers know each format, the most usual first. */
const TYPES: Readonly<Record<ArchiveFormat, readonly string[]>> = {
  zip: ['application/zip', 'application/x-zip-compressed'],
  tar: ['application/x-tar'],
  'tar.gz': ['application/x-tar', 'application/gzip', 'application/x-gzip', 'application/x-gtar'],
  'tar.bz2': ['application/x-tar', 'application/x-bzip2', 'application/x-bzip'],
  'tar.xz': ['application/x-tar', 'application/x-xz'],
};

/** Returns the media type of the archive that the collection accepts. @throws {Fault} it accepts no such archive. */
export function archiveType(format: ArchiveFormat, { accept, name }: Collection): string {
  const [usual = ''] = TYPES[format];
  if (accept.length === 0 || accept.includes('*/*')) return usual;
  const taken = TYPES[format].find((type) => accept.includes(type));
  if (taken !== undefined) return taken;
  throw new Fault(`The collection ${name} does not accept ${format}, only ${accept.join(', ')}.`);
}
