import { crc32, deflateRawSync } from 'node:zlib';
import { type ZipSpec, zipOf } from '../../testing/archives/archive-builders.ts';
import { type ArchiveCase, done, type Expected, rejected, zips } from './corpus-case.ts';

const text = 'Burnt in a kiln, then washed.\n';
const one: ZipSpec = { name: 'umber/notes.txt', data: text };
const two: ZipSpec = { name: 'umber/kiln.py', data: 'print(900)\n', method: 0 };

function entry(changes: Partial<ZipSpec>): Buffer {
  return zipOf([two, { ...one, ...changes }]);
}

const headers = zips([
  [
    'names-differ',
    'the two headers name different files',
    entry({ local: { name: 'umber/other.txt' } }),
    mismatch('name'),
  ],
  [
    'names-differ-in-case',
    'the names differ in case',
    entry({ local: { name: 'Umber/notes.txt' } }),
    mismatch('name'),
  ],
  [
    'names-differ-in-slash',
    'one of the names is a directory',
    entry({ local: { name: 'umber/notes.txt/' } }),
    mismatch('name'),
  ],
  [
    'methods-differ',
    'one header says stored',
    entry({ local: { method: 0 } }),
    mismatch('compression method'),
  ],
  ['flags-differ', 'only one header says UTF-8', entry({ local: { flags: 0 } }), mismatch('flags')],
  ['crc-differs', 'the CRCs differ', entry({ local: { crc: 1 } }), mismatch('sizes or CRC')],
  ['packed-differs', 'the packed sizes differ', entry({ local: { packed: 4 } }), mismatch('sizes')],
  ['unpacked-differs', 'the unpacked sizes differ', entry({ local: { unpacked: 4 } }), mismatch('sizes')],
  [
    'local-sizes-zero',
    'the local sizes are zero, without a descriptor',
    entry({ local: { packed: 0, unpacked: 0, crc: 0 } }),
    mismatch('sizes'),
  ],
  ['encrypted', 'the entry is encrypted', entry({ flags: 0x801 }), rejected(/encrypted/)],
  ['encrypted-strongly', 'the entry is encrypted strongly', entry({ flags: 0x841 }), rejected(/encrypted/)],
  ['headers-masked', 'the local headers are masked', entry({ flags: 0x2800 }), rejected(/encrypted/)],
  [
    'encrypted-says-directory',
    'only the directory says encrypted',
    entry({ central: { flags: 0x801 } }),
    rejected(/encrypted/),
  ],
  [
    'encrypted-says-local',
    'only the local header says encrypted',
    entry({ local: { flags: 0x801 } }),
    mismatch('flags'),
  ],
  ['aes', 'the entry is encrypted with AES', entry({ method: 99, flags: 0x801 }), rejected(/encrypted|99/)],
  ...[1, 6, 9, 12, 14, 93, 95, 98, 0xffff].map(
    (method) =>
      [`method-${method}`, `the method is ${method}`, entry({ method }), rejected(/unsupported/)] as const,
  ),
]);

const descriptors = zips([
  ...[true, false].flatMap((signature) =>
    ([4, 8] as const).map(
      (bytes) =>
        [
          `descriptor-${signature ? 'signed' : 'bare'}-${bytes}`,
          'a data descriptor has the sizes',
          zipOf([{ ...one, descriptor: { signature, bytes } }, two]),
          done,
        ] as const,
    ),
  ),
  [
    'descriptor-of-stored',
    'a stored entry has a descriptor',
    zipOf([{ ...two, descriptor: { signature: true, bytes: 4 } }, one]),
    done,
  ],
  [
    'descriptor-lies',
    'the CRC of the descriptor is wrong',
    entry({ descriptor: { signature: true, bytes: 4, crc: 7 } }),
    mismatch('data descriptor'),
  ],
  [
    'descriptor-missing',
    'a descriptor is promised and not there',
    entry({ flags: 0x808, local: { crc: 0, packed: 0, unpacked: 0 } }),
    mismatch('data descriptor'),
  ],
  [
    'descriptor-not-promised',
    'a descriptor is there and not promised',
    entry({ after: Buffer.alloc(16, 1) }),
    rejected(/belong to no entry/),
  ],
  [
    'descriptor-and-more',
    'a byte follows the descriptor',
    entry({ descriptor: { signature: true, bytes: 4 }, after: Buffer.of(0) }),
    mismatch('data descriptor'),
  ],
  [
    'descriptor-flag-alone',
    'sizes are in the local header in spite of the flag',
    entry({ flags: 0x808 }),
    done,
  ],
]);

const megabyte = Buffer.alloc(1024 ** 2);

/**
 * Returns the deflated data of this number of MiB of zeros, of a thousandth of their length, without compressing them.
 */
export function deflatedZeros(mebibytes: number): Buffer {
  const block = deflateRawSync(megabyte, { finishFlush: 3 });
  return Buffer.concat([...Array.from({ length: mebibytes }, () => block), Buffer.of(3, 0)]);
}

const data = zips([
  ['crc-wrong', 'the CRC is wrong', entry({ crc: 0xdead_beef }), rejected(/CRC/)],
  ['crc-zero', 'the CRC is zero', entry({ crc: 0 }), rejected(/CRC/)],
  ['crc-wrong-stored', 'the CRC of stored data is wrong', entry({ method: 0, crc: 5 }), rejected(/CRC/)],
  ['size-too-large', 'one byte more is promised', entry({ size: text.length + 1 }), rejected(/mismatch/)],
  ['size-too-small', 'one byte less is promised', entry({ size: text.length - 1 }), rejected(/mismatch/)],
  ['size-zero', 'no byte is promised', entry({ size: 0 }), rejected(/mismatch/)],
  ['stored-sizes-differ', 'stored data has two sizes', entry({ method: 0, size: 5 }), rejected(/mismatch/)],
  [
    'stored-sizes-differ-up',
    'stored data is said to grow',
    entry({ method: 0, size: 5000 }),
    rejected(/mismatch/),
  ],
  [
    'deflate-cut',
    'the deflate data is truncated',
    entry({ packed: deflateRawSync(text).subarray(0, 9) }),
    rejected(/truncated/),
  ],
  ['deflate-empty', 'there is no deflate data', entry({ packed: Buffer.alloc(0) }), rejected(/truncated/)],
  [
    'deflate-garbage',
    'the deflate data is invalid',
    entry({ packed: Buffer.alloc(30, 0xff) }),
    rejected(/invalid/),
  ],
  [
    'deflate-and-more',
    'bytes follow the deflate data',
    entry({ packed: Buffer.concat([deflateRawSync(text), Buffer.from('more')]) }),
    rejected(/trailing/),
  ],
  [
    'deflate-twice',
    'two deflate streams follow each other',
    entry({ packed: Buffer.concat([deflateRawSync(text), deflateRawSync(text)]) }),
    rejected(/trailing/),
  ],
  [
    'zlib-instead',
    'the data has a zlib header',
    entry({ packed: Buffer.concat([Buffer.of(0x78, 0x9c), deflateRawSync(text)]) }),
    rejected(/corrupt/),
  ],
  [
    'deflate-far-back',
    'the deflate data refers to bytes before its beginning',
    entry({ packed: Buffer.of(0x4b, 0x84, 0x63, 0), size: 5 }),
    rejected(/corrupt/),
  ],
  [
    'directory-with-data',
    'a directory has data',
    zipOf([two, { name: 'umber/', data: 'x', method: 0 }]),
    rejected(/mismatch/),
  ],
  [
    'directory-deflated',
    'a directory has the two bytes of empty deflate data',
    zipOf([two, { name: 'empty/', method: 8, data: '' }]),
    done,
  ],
  [
    'directory-said-to-be-file',
    'a file has the mode of a directory',
    entry({ mode: 0o040755 }),
    rejected(/mismatch/),
  ],
  [
    'bomb-by-ratio',
    '200 MiB of zeros in 200 kB',
    () => entry({ packed: deflatedZeros(200), size: 200 * 1024 ** 2, crc: 1 }),
    rejected(/ratio/),
  ],
  [
    'bomb-by-total',
    'many members of 60 MiB, a limit together',
    () =>
      zipOf(
        Array.from({ length: 9 }, (_, index) => ({
          name: `m${index}`,
          packed: Buffer.alloc(300_000),
          data: '',
          method: 8,
          size: 60 * 1024 ** 2,
          crc: 1,
        })),
      ),
    rejected(/limit of the unpacked size/),
  ],
  [
    'bomb-of-overlaps',
    'a hundred entries share the data of one',
    () => overlaps(100),
    rejected(/overlap|ratio/),
  ],
]);

/** Returns entries that all refer to one place, with true sizes. */
function overlaps(count: number): Buffer {
  const packed = deflatedZeros(1);
  const shared = { packed, size: megabyte.length, crc: crc32(megabyte), method: 8 };
  return zipOf(
    Array.from({ length: count }, (_, index) => ({ ...shared, name: `shared${index}`, offset: 0 })),
  );
}

function mismatch(what: string): Expected {
  return rejected(new RegExp(`disagree in their ${what}`));
}

export const zipEntries: readonly ArchiveCase[] = [...headers, ...descriptors, ...data];
