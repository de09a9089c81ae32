import { crc32, deflateSync, gzipSync } from 'node:zlib';
import { type TarSpec, tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { demoTarBzip2 } from '../../testing/archives/demo-tars.ts';
import { changed, spliced, uint32 } from './byte-surgery.ts';
import { type ArchiveCase, done, refused, rejected, tars } from './corpus-case.ts';
import { xzOf } from './xz-stream.ts';

const one: TarSpec = { name: 'bell/cast.txt', data: 'Bronze, four to one.\n'.repeat(40) };
const tar = tarOf([one, { name: 'bell/ring', data: '#!/bin/sh\n', mode: 0o755 }]);
const gzip = gzipSync(tar);
const bzip2 = demoTarBzip2;
const xz = xzOf(tar);
const text = Buffer.from('No tar, but text.\n'.repeat(40));
const emptyBzip2 = Buffer.from('QlpoORdyRThQkAAAAAA=', 'base64');

/** Puts the data of {@link gzip} under another header. */
function gzipWith(header: readonly number[], ...fields: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(header), ...fields, gzip.subarray(10)]);
}

const gzips = tars([
  ['gzip', 'a gzipped tar', gzip, done],
  [
    'gzip-members',
    'a tar runs through several members',
    Buffer.concat(
      [tar.subarray(0, 700), tar.subarray(700, 1500), tar.subarray(1500)].map((part) => gzipSync(part)),
    ),
    done,
  ],
  [
    'gzip-member-each-byte',
    'each byte of a tar is a member',
    () => Buffer.concat([...tar.subarray(0, 1024)].map((byte) => gzipSync(Buffer.of(byte)))),
    rejected(/truncated/),
  ],
  [
    'gzip-empty-member',
    'an empty member comes in between',
    Buffer.concat([gzipSync(tar.subarray(0, 700)), gzipSync(''), gzipSync(tar.subarray(700))]),
    done,
  ],
  ['gzip-zeros-after', 'zeros follow, as on a tape', Buffer.concat([gzip, Buffer.alloc(600)]), done],
  ['gzip-text-after', 'text follows', Buffer.concat([gzip, Buffer.from('more')]), rejected(/trailing|gzip/)],
  [
    'gzip-text-after-zeros',
    'text follows after zeros',
    Buffer.concat([gzip, Buffer.alloc(20), Buffer.from('more')]),
    rejected(/trailing/),
  ],
  [
    'gzip-half-a-member-after',
    'half a member follows',
    Buffer.concat([gzip, gzip.subarray(0, 15)]),
    rejected(/truncated/),
  ],
  ['gzip-cut', 'the data is cut', gzip.subarray(0, 60), rejected(/truncated/)],
  ['gzip-cut-in-trailer', 'the length is missing', gzip.subarray(0, -4), rejected(/truncated/)],
  ['gzip-magic-alone', 'two bytes begin like gzip', Buffer.of(0x1f, 0x8b), rejected(/truncated/)],
  ['gzip-crc-wrong', 'the CRC is wrong', changed(gzip, -8, uint32(1)), rejected(/incorrect data check/)],
  [
    'gzip-length-wrong',
    'the length is wrong',
    changed(gzip, -4, uint32(1)),
    rejected(/incorrect length check/),
  ],
  ['gzip-method', 'the method is invalid', changed(gzip, 2, 7), rejected(/gzip/)],
  ['gzip-reserved-flags', 'reserved flags are set', changed(gzip, 3, 0xe0), rejected(/gzip/)],
  [
    'gzip-header-fields',
    'the header has all its fields',
    gzipWith([0x1f, 0x8b, 8, 0x1c, 0, 0, 0, 0, 0, 3], Buffer.from('\x04\x00extrbell.tar\0cast in 1432\0')),
    done,
  ],
  [
    'gzip-header-crc-wrong',
    'the CRC of the header is wrong',
    gzipWith([0x1f, 0x8b, 8, 2, 0, 0, 0, 0, 0, 3], Buffer.of(1, 2)),
    rejected(/gzip/),
  ],
  [
    'gzip-name-without-end',
    'the name in the header has no end',
    Buffer.concat([Buffer.of(0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3), Buffer.alloc(5000, 'n')]),
    rejected(/truncated/),
  ],
  ['gzip-in-gzip', 'gzip is in gzip', gzipSync(gzip), rejected(/not a tar/)],
  [
    'gzip-of-zip',
    'a zip is in gzip',
    gzipSync(zipOf([{ name: 'a', data: 'x'.repeat(900) }])),
    rejected(/not a tar/),
  ],
  ['gzip-of-text', 'text is in gzip', gzipSync(text), rejected(/not a tar/)],
  ['gzip-of-nothing', 'nothing is in gzip', gzipSync(''), rejected(/empty/)],
  ['gzip-of-half-a-tar', 'half a tar is in gzip', gzipSync(tar.subarray(0, 800)), rejected(/truncated/)],
  [
    'gzip-deflate-reserved',
    'the data has a block of no type',
    changed(gzip, 10, 7),
    rejected(/invalid block type/),
  ],
  ['zlib', 'zlib is no gzip', deflateSync(tar), refused(415, /zip|tar/)],
]);

const bzip2s = tars([
  ['bzip2', 'a tar of several blocks', bzip2, done],
  ['bzip2-and-empty', 'an empty stream follows', Buffer.concat([bzip2, emptyBzip2]), done],
  ['bzip2-after-empty', 'an empty stream comes first', Buffer.concat([emptyBzip2, bzip2]), done],
  ['bzip2-twice', 'a second tar follows', Buffer.concat([bzip2, bzip2]), rejected(/trailing/)],
  ['bzip2-of-nothing', 'nothing is in bzip2', emptyBzip2, rejected(/empty/)],
  ['bzip2-cut', 'the data is cut', bzip2.subarray(0, bzip2.length / 2), rejected(/truncated/)],
  ['bzip2-cut-by-one', 'the last byte is missing', bzip2.subarray(0, -1), rejected(/truncated/)],
  ['bzip2-cut-in-end', 'the end is cut', bzip2.subarray(0, -8), rejected(/truncated/)],
  ['bzip2-cut-in-header', 'the header is cut', bzip2.subarray(0, 10), rejected(/truncated/)],
  ['bzip2-crc-wrong', 'the CRC of a block is wrong', changed(bzip2, 10, 0, 0, 0, 0), rejected(/CRC/)],
  [
    'bzip2-crc-of-all-wrong',
    'the CRC of all blocks is wrong',
    changed(bzip2, -2, 0),
    rejected(/CRC|truncated|invalid/),
  ],
  [
    'bzip2-level-small',
    'blocks are larger than they may be',
    changed(bzip2, 3, '0'),
    refused(415, /zip|tar/),
  ],
  ['bzip2-randomised', 'a block is randomised', changed(bzip2, 14, 0xff), rejected(/bzip2/)],
  [
    'bzip2-start-outside',
    'a block begins outside of itself',
    changed(bzip2, 15, 0xff, 0xff),
    rejected(/bzip2/),
  ],
  ['bzip2-text-after', 'text follows', Buffer.concat([bzip2, Buffer.from('more')]), rejected(/trailing/)],
  ['bzip2-zeros-after', 'zeros follow', Buffer.concat([bzip2, Buffer.alloc(64)]), done],
  [
    'bzip2-zeros-between',
    'zeros and an empty stream follow',
    Buffer.concat([bzip2, Buffer.alloc(64), emptyBzip2]),
    rejected(/trailing/),
  ],
  ['bzip2-garbage', 'data is overwritten', changed(bzip2, 60, Buffer.alloc(40, 0xa5)), rejected(/bzip2/)],
]);

const xzs = tars([
  ['xz', 'a tar in xz', xz, done],
  [
    'xz-streams',
    'a tar runs through two streams',
    Buffer.concat([xzOf(tar.subarray(0, 700)), xzOf(tar.subarray(700))]),
    done,
  ],
  ['xz-padding', 'padding follows', Buffer.concat([xz, Buffer.alloc(8)]), done],
  [
    'xz-padding-uneven',
    'padding of three bytes follows',
    Buffer.concat([xz, Buffer.alloc(3)]),
    rejected(/xz/),
  ],
  ['xz-text-after', 'text follows', Buffer.concat([xz, Buffer.from('more')]), rejected(/xz/)],
  ['xz-cut', 'the data is cut', xz.subarray(0, 500), rejected(/truncated/)],
  ['xz-cut-in-index', 'the index is cut', xz.subarray(0, -16), rejected(/truncated/)],
  ['xz-cut-by-one', 'the last byte is missing', xz.subarray(0, -1), rejected(/truncated/)],
  ['xz-magic-alone', 'six bytes begin like xz', xz.subarray(0, 6), rejected(/truncated/)],
  ['xz-data-changed', 'a byte of the data is changed', changed(xz, 100, 0xee), rejected(/CRC/)],
  ['xz-header-changed', 'a byte of the header is changed', changed(xz, 13, 4), rejected(/xz/)],
  ['xz-index-lies', 'the index has another length', changed(xz, -20, 1), rejected(/xz/)],
  ['xz-end-lies', 'the end has other flags', changed(xz, -3, 4), rejected(/xz/)],
  ['xz-chunk-reserved', 'a chunk is of no kind', changed(xz, 24, 0x7f), rejected(/xz/)],
  ['xz-dictionary-large', 'the dictionary has 4 GiB', xzWithDictionary(40), rejected(/64 MiB|xz/)],
  ['xz-dictionary-impossible', 'the dictionary has no size', xzWithDictionary(63), rejected(/xz/)],
  [
    'xz-sha256',
    'its check is SHA-256',
    Buffer.from('/Td6WFoAAArh+wyhAAAAABzfRCEYm0uaAQAAAAAKWVo=', 'base64'),
    rejected(/xz|empty/),
  ],
  ['xz-of-text', 'text is in xz', xzOf(text), rejected(/not a tar/)],
  ['xz-of-nothing', 'nothing is in xz', xzOf(Buffer.alloc(0)), rejected(/empty|xz/)],
  ['xz-in-gzip', 'xz is in gzip', gzipSync(xz), rejected(/not a tar/)],
]);

/** Sets another size of the dictionary in the header of the block, and the CRC that fits. */
function xzWithDictionary(size: number): Buffer {
  const header = Buffer.of(2, 0, 0x21, 1, size, 0, 0, 0);
  return spliced(xz, 12, 12, Buffer.concat([header, uint32(crc32(header))]));
}

export const compressedTars: readonly ArchiveCase[] = [...gzips, ...bzip2s, ...xzs];
