import { type ArchiveCase, refused, rejected, tars, zips } from './corpus-case.ts';

const neither = refused(415, /neither a zip nor a tar/);

/** Returns bytes that begin like this, long enough to be an archive. */
function beginning(magic: string): Buffer {
  return Buffer.concat([Buffer.from(magic, 'latin1'), Buffer.alloc(2000, 0x5a)]);
}

export const noArchives: readonly ArchiveCase[] = [
  ...zips([
    ['nothing', 'no byte', Buffer.alloc(0), refused(400, /empty/)],
    ['one-byte', 'one byte', Buffer.from('P'), neither],
    ['text', 'text', Buffer.from('Dear archive, '.repeat(100)), neither],
    ['page', 'a page of HTML', Buffer.from('<!DOCTYPE html><title>404</title>'), neither],
    ['zip-spanned', 'the mark of a zip in several files', beginning('PK\x07\x08PK\x03\x04'), neither],
    ['zip-directory-first', 'a directory comes first', beginning('PK\x01\x02'), neither],
    ['7z', '7z', beginning('7z\xbc\xaf\x27\x1c'), neither],
    ['rar', 'rar', beginning('Rar!\x1a\x07\x01\0'), neither],
    ['pdf', 'PDF', beginning('%PDF-1.7\n'), neither],
    ['program', 'a program', beginning('\x7fELF\x02\x01\x01'), neither],
    ['image', 'an image', beginning('\x89PNG\r\n\x1a\n'), neither],
  ]),
  ...tars([
    ['zeros', '511 zeros are no end of a tar', Buffer.alloc(511), neither],
    ['zstd', 'zstd', beginning('\x28\xb5\x2f\xfd'), neither],
    ['lzip', 'lzip', beginning('LZIP\x01'), neither],
    ['lzma', 'LZMA', beginning('\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff'), neither],
    ['lz4', 'LZ4', beginning('\x04\x22\x4d\x18'), neither],
    ['compress', 'compress', beginning('\x1f\x9d\x90'), neither],
    ['cpio', 'cpio', beginning('070701'), neither],
    ['ar', 'ar', beginning('!<arch>\n'), neither],
    [
      'random',
      'bytes without order',
      Buffer.from(Array.from({ length: 4000 }, (_, at) => (at * at * 31 + 7) % 251)),
      neither,
    ],
    ['gzip-like', 'bytes that only begin like gzip', beginning('\x1f\x8b'), rejected(/gzip/)],
    ['bzip2-like', 'bytes that only begin like bzip2', beginning('BZh91AY&SY'), rejected(/bzip2/)],
    ['xz-like', 'bytes that only begin like xz', beginning('\xfd7zXZ\0'), rejected(/xz/)],
  ]),
];
