import { type ZipSpec, zipOf } from '../../testing/archives/archive-builders.ts';
import { changed, directoryOf, spliced, uint16, uint32, uint64 } from './byte-surgery.ts';
import { type ArchiveCase, done, refused, rejected, zips } from './corpus-case.ts';

const one: ZipSpec = { name: 'pigment/README', data: 'Ground from lapis lazuli.\n' };
const two: ZipSpec = { name: 'pigment/mix.c', data: 'int mix(int a, int b) { return a ^ b; }\n', method: 0 };
const good = zipOf([one, two]);
const endRecord = good.subarray(-22);
const directory = directoryOf(good);
const secondEntry = zipOf([one]).indexOf('PK\x01\x02');

/** Bytes of one entry that no directory lists. */
const unlisted = zipOf([{ name: 'unlisted', data: 'not in the directory' }]);
const unlistedEntry = unlisted.subarray(0, directoryOf(unlisted));

/** Moves the offsets of a zip whose entries were moved. */
function shifted(zip: Buffer, entries: number, by: number): Buffer {
  const copy = Buffer.from(zip);
  let at = directoryOf(zip) + by;
  copy.writeUInt32LE(at, copy.length - 6);
  for (let entry = 0; entry < entries; entry += 1) {
    copy.writeUInt32LE(copy.readUInt32LE(at + 42) + by, at + 42);
    at += 46 + copy.readUInt16LE(at + 28) + copy.readUInt16LE(at + 30) + copy.readUInt16LE(at + 32);
  }
  return copy;
}

function prefixed(prefix: Buffer): Buffer {
  return shifted(Buffer.concat([prefix, good]), 2, prefix.length);
}

const ends = zips([
  ['end-cut-by-one', 'the last byte is missing', good.subarray(0, -1), rejected(/truncated/)],
  ['end-cut-away', 'the end record is missing', good.subarray(0, -22), rejected(/no end record/)],
  [
    'end-cut-in-signature',
    'two bytes of the end record are there',
    good.subarray(0, -20),
    rejected(/no end/),
  ],
  ['cut-in-directory', 'the directory is cut', good.subarray(0, directory + 50), rejected(/no end record/)],
  ['cut-in-half', 'half of the archive is there', good.subarray(0, good.length / 2), rejected(/truncated/)],
  ['local-magic-alone', 'four bytes that begin like a zip', Buffer.from('PK\x03\x04'), rejected(/truncated/)],
  ['one-byte-after', 'a line feed follows', Buffer.concat([good, Buffer.from('\n')]), rejected(/trailing/)],
  ['zeros-after', '512 zeros follow', Buffer.concat([good, Buffer.alloc(512)]), rejected(/trailing/)],
  ['kilobytes-after', '100 kB follow', Buffer.concat([good, Buffer.alloc(100_000, 7)]), rejected(/corrupt/)],
  ['end-twice', 'the end record comes twice', Buffer.concat([good, endRecord]), rejected(/corrupt/)],
  [
    'end-in-comment',
    'the comment is an end record',
    zipOf([one], { comment: endRecord }),
    rejected(/corrupt/),
  ],
  [
    'whole-zip-in-comment',
    'the comment is another zip',
    zipOf([one], { comment: unlisted }),
    rejected(/more than one end record/),
  ],
  [
    'end-signature-in-comment',
    'the comment holds only the signature of an end record',
    zipOf([one], { comment: Buffer.from('see PK\x05\x06 there') }),
    rejected(/more than one end record/),
  ],
  [
    'comment-says-longer',
    'the comment is said to be longer than it is',
    changed(good, -2, uint16(9)),
    rejected(/truncated/),
  ],
  [
    'comment-says-shorter',
    'the comment is said to be shorter than it is',
    changed(zipOf([one], { comment: Buffer.from('12345') }), -7, uint16(2)),
    rejected(/trailing/),
  ],
  [
    'longest-comment',
    'the comment has 65,535 bytes',
    zipOf([one], { comment: Buffer.alloc(65_535, 'c') }),
    done,
  ],
]);

const places = zips([
  [
    'script-before',
    'a self-extractor',
    prefixed(Buffer.from('#!/bin/sh\nexit 0\n')),
    refused(415, /zip|tar/),
  ],
  [
    'entry-before',
    'an entry of no directory comes first',
    prefixed(unlistedEntry),
    rejected(/does not begin at its first byte/),
  ],
  ['unadjusted-prefix', 'two zips are glued', Buffer.concat([unlisted, good]), rejected(/corrupt/)],
  [
    'hidden-between',
    'an unlisted entry is between two others',
    zipOf([{ ...one, after: unlistedEntry }, two]),
    rejected(/belong to no entry/),
  ],
  [
    'hidden-before-directory',
    'an unlisted entry is before the directory',
    zipOf([one, { ...two, after: unlistedEntry }]),
    rejected(/belong to no entry/),
  ],
  [
    'one-byte-between',
    'a byte is between',
    zipOf([{ ...one, after: Buffer.of(0) }, two]),
    rejected(/no entry/),
  ],
  [
    'ghost-of-the-directory',
    'the directory names an entry that is nowhere',
    zipOf([one, { ...two, offset: 3 }]),
    rejected(/overlap/),
  ],
  [
    'same-place-twice',
    'two entries share one place',
    zipOf([one, { ...one, offset: 0 }]),
    rejected(/overlap/),
  ],
  [
    'entry-inside-data',
    'an entry is inside the stored data of another',
    () => {
      const outer = { name: 'outer', data: unlistedEntry, method: 0 };
      const inner = { name: 'unlisted', data: 'not in the directory', offset: 35 };
      const both = zipOf([outer, inner]);
      const alone = directoryOf(zipOf([outer]));
      return shiftDirectory(spliced(both, alone, directoryOf(both) - alone), alone);
    },
    rejected(/overlap/),
  ],
  [
    'no-local-header',
    'the local header has lost its signature',
    changed(good, secondEntry, 'XX'),
    rejected(/no local header/),
  ],
  [
    'directory-without-signature',
    'the directory has lost a signature',
    changed(good, directory, 'XX'),
    rejected(/directory is malformed/),
  ],
  ['count-too-high', 'one more is counted', zipOf([one, two], { count: 3 }), rejected(/counts 3 .* has 2/)],
  ['count-too-low', 'one is not counted', zipOf([one, two], { count: 1 }), rejected(/counts 1 .* has 2/)],
  ['count-zero', 'none is counted', zipOf([one, two], { count: 0 }), rejected(/counts 0/)],
  ['start-past-end', 'the directory is past the end', zipOf([one], { start: 2 ** 31 }), rejected(/corrupt/)],
  ['start-one-late', 'the directory begins late', zipOf([one], { start: 71 }), rejected(/corrupt/)],
  ['length-one-short', 'the directory is short', changed(good, -10, uint32(1)), rejected(/corrupt/)],
  [
    'gap-after-directory',
    'bytes lie between the directory and its end record',
    spliced(good, -22, 0, 'gap!'),
    rejected(/directory is said to end/),
  ],
  [
    'name-longer-than-directory',
    'a name of the directory reaches past its end',
    changed(good, directory + 28, uint16(60_000)),
    rejected(/truncated/),
  ],
  ['other-disk', 'the archive is disk 2 of several', changed(good, -18, uint16(1)), rejected(/split over/)],
  [
    'counts-disagree',
    'two counts of entries differ',
    changed(good, -14, uint16(1)),
    rejected(/split over|count/),
  ],
  [
    'directory-in-other-order',
    'the directory lists the entries in another order than they lie',
    () => {
      const second = good.indexOf('PK\x01\x02', directory + 4);
      const [first, last] = [good.subarray(directory, second), good.subarray(second, -22)];
      return Buffer.concat([good.subarray(0, directory), last, first, endRecord]);
    },
    done,
  ],
]);

/** Sets another start of the directory in the end record; its length stays. */
function shiftDirectory(zip: Buffer, start: number): Buffer {
  return changed(zip, -6, uint32(start));
}

const [zip64, zip64Entry] = [zipOf([one], { zip64: true }), zipOf([{ ...one, zip64: true }])];
const record64 = zip64.length - 22 - 20 - 56;
const field64 = zip64Entry.indexOf(Buffer.of(1, 0, 24, 0)) + 4;

const large = zips([
  ['zip64-whole', 'everything is zip64', zipOf([{ ...one, zip64: true }], { zip64: true }), done],
  ['zip64-entry', 'only the entry is zip64', zip64Entry, done],
  ['zip64-end', 'only the end is zip64', zip64, done],
  ...(
    [
      ['unpacked-2e53', 0, 2n ** 53n + 2n],
      ['unpacked-2e64', 0, 2n ** 64n - 1n],
      ['packed-2e63', 8, 2n ** 63n],
      ['packed-2e40', 8, 2n ** 40n],
      ['offset-2e53', 16, 2n ** 53n + 1n],
      ['offset-2e40', 16, 2n ** 40n],
    ] as const
  ).map(
    ([name, at, value]) =>
      [
        `zip64-${name}`,
        `an entry says ${value} in its zip64 field`,
        changed(zip64Entry, field64 + at, uint64(value)),
        rejected(/no archive can have|overlap|limit|does not begin|mismatch/),
      ] as const,
  ),
  ...(
    [
      ['count-2e60', 32, 2n ** 60n],
      ['length-2e62', 40, 2n ** 62n],
      ['start-2e63', 48, 2n ** 63n + 5n],
      ['start-2e40', 48, 2n ** 40n],
      ['record-length-0', 4, 0n],
      ['record-length-2e64', 4, 2n ** 64n - 1n],
    ] as const
  ).map(
    ([name, at, value]) =>
      [
        `zip64-end-${name}`,
        `the zip64 end record says ${value}`,
        changed(zip64, record64 + at, uint64(value)),
        rejected(/corrupt/),
      ] as const,
  ),
  ['zip64-no-locator', 'the locator is missing', spliced(zip64, -42, 20), rejected(/zip64 end record/)],
  ['zip64-locator-lies', 'the locator leads nowhere', changed(zip64, -34, uint64(3n)), rejected(/zip64/)],
  [
    'zip64-locator-past-end',
    'the locator leads out',
    changed(zip64, -34, uint64(2n ** 50n)),
    rejected(/past/),
  ],
  ['zip64-two-disks', 'there are two disks', changed(zip64, -26, uint32(2)), rejected(/split over/)],
  [
    'zip64-ends-disagree',
    'the two end records count differently',
    changed(changed(zip64, -14, uint16(7)), -12, uint16(7)),
    rejected(/disagree/),
  ],
  [
    'zip64-field-short',
    'the zip64 field is too short for its values',
    changed(zip64Entry, field64 - 2, uint16(8)),
    rejected(/corrupt/),
  ],
  [
    'zip64-field-missing',
    'sizes of all ones come without a zip64 field',
    changed(zip64Entry, field64 - 4, uint16(0x9999)),
    rejected(/overlap|limit|corrupt|does not begin/),
  ],
]);

export const zipStructures: readonly ArchiveCase[] = [...ends, ...places, ...large];
