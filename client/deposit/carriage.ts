import type { PreparedArchive } from '../archives/prepare-archive.ts';
import type { Collection, ServiceDocument } from '../documents/service-document.ts';
import { Fault } from '../faults.ts';
import { formatNumber } from '../output.ts';
import { archiveType } from './archive-type.ts';

/** How an archive is sent: in the body of a request, or before it in chunks, by the tus protocol. */
export type Carriage = 'whole' | 'resumable';

/** Minimum bytes of an archive that is sent in chunks, so that a lost connection loses little. */
const MIN_CHUNKED_BYTES = 8 * 1024 ** 2;

export function carriageOf(
  { length }: Pick<PreparedArchive, 'length'>,
  { maxUploadSize }: ServiceDocument,
  { resumableUploads }: Collection,
): Carriage {
  const isLarge = length >= MIN_CHUNKED_BYTES || (maxUploadSize !== null && length > maxUploadSize);
  return isLarge && resumableUploads !== null ? 'resumable' : 'whole';
}

/** @throws {Fault} the archive is larger than the server accepts, or of a type that it does not accept. */
export function assertAccepted(
  archive: PreparedArchive,
  service: ServiceDocument,
  collection: Collection,
): void {
  const { source, file, length, format } = archive;
  const isWhole = carriageOf(archive, service, collection) === 'whole';
  const limit = isWhole ? service.maxUploadSize : service.maxResumableUploadSize;
  if (limit !== null && length > limit) {
    const packed = file.endsWith(source) ? '' : ' packed';
    throw new Fault(
      `${source} is too large: ${formatNumber(length)} bytes${packed}; the server accepts at most ${formatNumber(limit)}.`,
    );
  }
  archiveType(format, collection);
}
