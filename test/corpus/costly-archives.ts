import { deflateRawSync, gzipSync } from 'node:zlib';
import {
  type TarSpec,
  tarMember,
  tarOf,
  type ZipSpec,
  zipOf,
} from '../../testing/archives/archive-builders.ts';
import { type ArchiveCase, done, refused, rejected, tars, zips } from './corpus-case.ts';
import { deflatedZeros } from './zip-entries.ts';

const one: TarSpec & ZipSpec = { name: 'bell/cast.txt', data: 'Bronze, four to one.\n'.repeat(40) };
const gzip = gzipSync(tarOf([one]));

const bombs = [
  ...zips([
    [
      'large-and-wrong',
      'a large member has a wrong CRC',
      () => zipOf([{ name: 'large', data: Buffer.alloc(9 * 1024 ** 2), crc: 1 }]),
      rejected(/CRC/),
    ],
    [
      'bomb-that-lies',
      'ten bytes are promised, a GiB comes',
      () => zipOf([{ ...one, packed: deflatedZeros(1024), size: 10 }]),
      rejected(/more than the 10 bytes/),
    ],
    [
      'bomb-that-lies-low',
      '60 MiB are promised, a GiB comes',
      () => zipOf([{ ...one, packed: deflatedZeros(1024), size: 60 * 1024 ** 2 }]),
      rejected(/more than the 62914560 bytes/),
    ],
  ]),
  ...tars([
    [
      'gzip-bomb',
      'a member of 300 MiB of zeros',
      () => gzipBomb(tarMember({ name: 'zeros', size: 300 * 1024 ** 2 }), 300),
      rejected(/ratio/),
    ],
    [
      'gzip-bomb-behind-end',
      '2 GiB of zeros follow the end',
      () => gzipBomb(tarOf([one]), 2048),
      rejected(/ratio/),
    ],
    [
      'gzip-bomb-of-members',
      '2,000 members of a MiB',
      () => Buffer.concat([gzip, ...Array<Buffer>(2000).fill(gzipSync(Buffer.alloc(1024 ** 2)))]),
      rejected(/ratio/),
    ],
    [
      'bzip2-bomb',
      '90 GB of zeros in 100 kB',
      () => Buffer.concat(Array<Buffer>(2000).fill(zerosBzip2)),
      rejected(/ratio/),
    ],
    [
      'xz-bomb',
      '300 MiB of zeros in 84 kB',
      () => Buffer.concat(Array<Buffer>(300).fill(zerosXz)),
      rejected(/ratio/),
    ],
  ]),
];

/** Compresses some bytes, then this number of MiB of zeros; the trailer is wrong, but no reader gets that far. */
function gzipBomb(head: Buffer, mebibytes: number): Buffer {
  const begin = deflateRawSync(head, { finishFlush: 3 });
  return Buffer.concat([gzip.subarray(0, 10), begin, deflatedZeros(mebibytes), Buffer.alloc(8)]);
}

/** 45 MB of zeros in 50 bytes. */
const zerosBzip2 = Buffer.from(
  'QlpoOTFBWSZTWckBtsgBWKtAIMAAEAAACCAAMMwFKaZSSFJsVJIUni7kinChIZIDbZA=',
  'base64',
);

/** A MiB of zeros in 280 bytes. */
const zerosXz = Buffer.from(
  '/Td6WFoAAAFpIt42AgAhARwAAAAQz1jM7///ANldAABv/f//o7f/Rz5IFXI5YVG4kijmo4YH+e7kHoLTL8U6PAFLsX7JiopNL6MN2X+m44wjEVPgWRjFdYrid/i2lH8MasDedElk4ulcU7IE2PdEDKtfDW1G6eXDdoi3llestk3haR1v+0uIEGxCy4g/XACP0E6vJiiUcR89jyThcJ6nI1/sKMuF0ZWYin4qkfIndfcZwAaYTZj92K/VkA/EJVP49ZE2MQWlsO5vwXBNRwzRkRGqrWAdus6xJxhcWYbpZlJYvul2rFnk5VsFCPnH2q38+1Iq9+SVJQAAAAAAHOo4pwAB8QGAgEAAb9Xu3D4wDYsCAAAAAAFZWg==',
  'base64',
);

/** Returns this number of small files in a hundred directories. */
function files(count: number): (TarSpec & ZipSpec)[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `d${index % 100}/f${index}`,
    data: `${index}`,
  }));
}

/** Returns members whose paths together exceed the limit of bytes. */
function longPaths(): TarSpec[] {
  const path = `${'p'.repeat(250)}/`.repeat(16);
  return Array.from({ length: 17_000 }, (_, index) => [longName(`${path}${index}`), { name: 'x' }]).flat();
}

function longName(name: string): TarSpec {
  return { name: '././@LongLink', type: 'L', data: name };
}

const many = [
  ...zips([
    ['members-90000', '90,000 files', () => zipOf(files(90_000), { zip64: true }), done],
    [
      'members-100001',
      'one file more than may be',
      () => zipOf(files(100_001), { zip64: true }),
      rejected(/more than 100000/),
    ],
    [
      'size-of-limit',
      'more bytes than may be sent',
      () => zipOf([{ name: 'l', data: Buffer.alloc(20 * 1024 ** 2), method: 0 }]),
      refused(413, /20971520|limit/),
    ],
  ]),
  ...tars([
    ['tar-members-90000', '90,000 files in gzip', () => gzipSync(tarOf(files(90_000))), done],
    [
      'tar-members-100001',
      'one file more than may be',
      () => gzipSync(tarOf(files(100_001))),
      rejected(/more than 100000/),
    ],
    [
      'tar-members-400000',
      '400,000 empty files',
      () => gzipSync(Buffer.concat(Array<Buffer>(400_000).fill(tarMember({ name: 'same' })))),
      rejected(/more than 100000|ratio/),
    ],
    [
      'tar-directories',
      'few files in many directories',
      () =>
        gzipSync(
          tarOf(
            Array.from({ length: 2000 }, (_, index) => [
              longName(`${index}/${'d/'.repeat(60)}f`),
              { name: 'x' },
            ]).flat(),
          ),
        ),
      rejected(/too many directory entries/),
    ],
    [
      'tar-paths',
      'more bytes of paths than may be',
      () => gzipSync(tarOf(longPaths())),
      rejected(/paths .* too large|ratio/),
    ],
  ]),
];

export const costlyArchives: readonly ArchiveCase[] = [...bombs, ...many];
