import type { ArchiveFormat } from './archive-reader.ts';
import { BLOCK_LENGTH, hasTarChecksum, isZero } from './tar/tar-block.ts';

/** Number of bytes at the start of an archive that `sniffFormat` reads. */
export const SNIFF_LENGTH = 512;

/** Returns the format of an archive, by its first 512 bytes (or all of them, when there are fewer). */
export function sniffFormat(head: Uint8Array): ArchiveFormat | 'unknown' {
  // A tar may consist of its end marker: it is an archive, though an empty one.
  const isEndMarker = head.length >= BLOCK_LENGTH && isZero(head.subarray(0, BLOCK_LENGTH));
  return sniffInnerFormat(head) ?? (isEndMarker ? 'tar' : 'unknown');
}

/** Returns the format of a member of an archive, where a block of zeros is just a file of zeros. */
export function sniffInnerFormat(head: Uint8Array): ArchiveFormat | undefined {
  if (firstBytes.has(head[0])) {
    for (const [format, magic] of magics) {
      if (magic.length <= head.length && magic.equals(head.subarray(0, magic.length))) return format;
    }
  }
  return hasTarChecksum(head.subarray(0, BLOCK_LENGTH)) ? 'tar' : undefined;
}

const magics = (
  [
    ['zip', 'PK\x03\x04'],
    ['zip', 'PK\x05\x06'],
    ['tar.gz', '\x1F\x8B'],
    // The level, then the mark of a first block or that of the end.
    ...Array.from('123456789', (level) => ['tar.bz2', `BZh${level}1AY&SY`] as const),
    ...Array.from('123456789', (level) => ['tar.bz2', `BZh${level}\x17rE8P\x90`] as const),
    ['tar.xz', '\xFD7zXZ\0'],
  ] as const
).map(([format, magic]): [ArchiveFormat, Buffer] => [format, Buffer.from(magic, 'latin1')]);
/** First bytes of all formats, for a quick check of each member: few files begin with them. */
const firstBytes: ReadonlySet<number | undefined> = new Set(magics.map(([, magic]) => magic[0]));
