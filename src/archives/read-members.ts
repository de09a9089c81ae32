import type { LocalSource } from '../object-store/object-store.ts';
import { ArchiveBytes } from './archive-bytes.ts';
import { tarPieces } from './compression/decompress.ts';
import { corrupt } from './faults.ts';
import type { ContentOutput, WantedMembers } from './members/member-output.ts';
import { readTarMembers } from './tar/tar-extraction.ts';
import { readZipMembers } from './zip/zip-extraction.ts';

/**
 * Reads members from an archive that was accepted before, in the order of the archive, in bounded memory and without
 * unpacking to disk.
 * @throws {Unreadable} the archive has changed, or one of the members is missing.
 */
export async function readMembers(
  source: LocalSource,
  wanted: WantedMembers,
  output: ContentOutput,
): Promise<void> {
  if (wanted.size === 0) return;
  using bytes = ArchiveBytes.open(source);
  const format = bytes.format();
  if (format === 'unknown') throw corrupt('UNKNOWN_FORMAT', 'it is neither a zip nor a tar');
  const read =
    format === 'zip'
      ? await readZipMembers(bytes, wanted, output)
      : await readTarMembers(() => tarPieces(bytes, format), wanted, output);
  if (read < wanted.size) throw corrupt('TRUNCATED', `${wanted.size - read} of its members are missing`);
}
