import type { ArchiveFormat } from '../../src/archives/inspection.ts';
import type { Collection } from '../documents/service-document.ts';
import { Fault } from '../faults.ts';

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
