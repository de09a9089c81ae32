import type { PreparedArchive } from '../archives/prepare-archive.ts';
import type { Collection, ServiceDocument } from '../documents/service-document.ts';
import { Fault } from '../faults.ts';
import { grouped } from '../output.ts';
import { archiveType } from './archive-type.ts';

/** How an archive gets to the server: in the body of a request, or before it in pieces, by the tus protocol. */
export type Carriage = 'whole' | 'in pieces';

/** From this size on it is worth while to lose nothing when the connection is lost. */
const LARGE = 8 * 1024 ** 2;

export function carriageOf(
  { length }: Pick<PreparedArchive, 'length'>,
  { maxUploadSize }: ServiceDocument,
  { resumableUploads }: Collection,
): Carriage {
  const isLarge = length >= LARGE || (maxUploadSize !== null && length > maxUploadSize);
  return isLarge && resumableUploads !== null ? 'in pieces' : 'whole';
}

/** @throws {Fault} the archive is larger than the server takes, or of a kind that it does not take. */
export function assertTaken(
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
      `${source} is too large: ${grouped(length)} bytes${packed}; the server takes ${grouped(limit)}.`,
    );
  }
  archiveType(format, collection);
}
