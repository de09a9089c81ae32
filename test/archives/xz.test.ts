import { buffer } from 'node:stream/consumers';
import test from 'ava';
import { ArchiveBytes } from '../../src/archives/archive-bytes.ts';
import { unxz } from '../../src/archives/compression/xz/unxz.ts';
import { decodeListing } from '../../src/archives/tree/deposit-tree.ts';
import { ArchiveWorkers } from '../../src/archives/workers/archive-workers.ts';
import { contentId } from '../../src/swhid/content.ts';
import { codeTar, codeTarsXz } from '../../testing/archives/code-tars.ts';
import { demoTarXz } from '../../testing/archives/demo-tars.ts';
import { riscVTar, riscVTarsXz } from '../../testing/archives/riscv-tars.ts';
import { xzOf } from '../corpus/xz-stream.ts';
import { accepted, inspect, refused } from './reading.ts';

const withSha256 = codeTarsXz['SHA-256']!;

function changed(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at < 0 ? copy.length + at : at]! ^= value;
  return copy;
}

/** Returns the end of the check of the last block: before the index, whose length is in the footer. */
function lastCheckByte(bytes: Buffer): number {
  return -12 - 4 * (bytes.readUInt32LE(bytes.length - 8) + 1) - 1;
}

async function unpacked(bytes: Buffer): Promise<Buffer> {
  using archive = ArchiveBytes.open({ kind: 'bytes', bytes });
  const pieces: Buffer[] = [];
  for await (const piece of unxz(archive)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

for (const [tar, packings] of [[codeTar, codeTarsXz] as const, [riscVTar, riscVTarsXz] as const]) {
  for (const [packed, bytes] of Object.entries(packings)) {
    test(`a tar packed by xz with ${packed} has the same members as the plain tar`, async (t) => {
      t.true((await unpacked(bytes)).equals(tar));
      const [found, plain] = [await accepted(t, bytes), await accepted(t, tar)];
      t.is(found.format, 'tar.xz');
      t.deepEqual([...decodeListing(found.listing)], [...decodeListing(plain.listing)]);
    });
  }
}

test('streams with different checks and filters may follow each other, with padding', async (t) => {
  const streams = [demoTarXz, withSha256, Buffer.alloc(8), codeTarsXz['arm']!, Buffer.alloc(4)];
  const found = await unpacked(Buffer.concat(streams));
  t.true(found.equals(Buffer.concat([await unpacked(demoTarXz), codeTar, codeTar])));
});

test('an empty stream with SHA-256 may follow', async (t) => {
  const empty = Buffer.from('/Td6WFoAAArh+wyhAAAAABzfRCEYm0uaAQAAAAAKWVo=', 'base64');
  t.true((await unpacked(Buffer.concat([demoTarXz, empty]))).equals(await unpacked(demoTarXz)));
});

test('xz data whose SHA-256 does not match is refused', async (t) => {
  await refused(t, changed(withSha256, lastCheckByte(withSha256), 1), 'CRC_MISMATCH', /SHA-256/);
});

const [x86, arm] = [codeTarsXz['x86']!, codeTarsXz['arm']!];
const hostile: [title: string, bytes: Buffer, code: string, text: RegExp][] = [
  ['a CRC64 of filtered data that is wrong', changed(arm, lastCheckByte(arm), 1), 'CRC_MISMATCH', /CRC/],
  ['a cut footer', x86.subarray(0, -1), 'TRUNCATED', /truncated/],
  ['a cut block', x86.subarray(0, 200), 'TRUNCATED', /truncated/],
  ['a footer with other flags', changed(x86, -3, 1), 'CORRUPT', /xz/],
  ['a footer with another length of the index', changed(x86, -8, 1), 'CORRUPT', /xz/],
  ['an index with a wrong CRC', changed(x86, -13, 1), 'CORRUPT', /xz/],
  ['an index with another length', changed(x86, -18, 1), 'CORRUPT', /xz/],
  [
    'text after its padding',
    Buffer.concat([x86, Buffer.alloc(4), Buffer.from('text')]),
    'TRAILING_BYTES',
    /trailing/,
  ],
  ['three bytes of padding', Buffer.concat([x86, Buffer.alloc(3)]), 'TRAILING_BYTES', /trailing/],
];
for (const [title, bytes, code, text] of hostile) {
  test(`filtered xz data with ${title} is refused`, (t) => refused(t, bytes, code, text));
}

const [ia64, riscV, unknown] = [0x06, 0x0b, 0x0c];
const refusedFilters: { readonly [title: string]: readonly number[] } = {
  'that is not known': [unknown, 0],
  'whose start offset has three bytes': [riscV, 3, 0, 0, 0],
  'whose start offset has five bytes': [riscV, 5, 0, 0, 0, 0, 0],
  'whose start offset is cut': [riscV, 100, 0, 0],
  'whose start offset is odd': [riscV, 4, 1, 0, 0, 0],
  'of IA-64 whose start offset is no multiple of 16': [ia64, 4, 8, 0, 0, 0],
};
for (const [title, fields] of Object.entries(refusedFilters)) {
  test(`an xz filter ${title} is refused with the supported ones`, (t) =>
    refused(t, xzOf(codeTar, fields), 'UNSUPPORTED', /without filters and with CRC32, CRC64 or SHA-256/));
}

test('filtered xz data with any byte changed is either accepted or refused, and never crashes', async (t) => {
  for (const packed of [withSha256, x86]) {
    for (let at = 0; at < packed.length; at += 2) {
      t.regex((await inspect(changed(packed, at, 0x55))).outcome, /accepted|refused/);
    }
  }
});

test('members of a filtered xz tar are read', async (t) => {
  await using readers = new ArchiveWorkers({ size: 1 });
  const [leaf] = [...decodeListing((await accepted(t, x86)).listing)].map((member) => member.leaf);
  const { id, sha256, length } = leaf!;
  const member = { path: 'code', mode: '100644', id, sha256, length } as const;
  const order = { kind: 'content', archive: { kind: 'bytes', bytes: x86 }, member } as const;
  t.is(contentId(await buffer(readers.read(order, 30_000))), id);
});
