import { gzipSync } from 'node:zlib';
import test from 'ava';
import { bunzip2 } from '../../src/archives/compression/bunzip2.ts';
import { paxHeader, tarMember, tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { accepted, inspect, membersOf, refused } from './reading.ts';

const MiB = 1024 ** 2;

/** Returns a header without a member, of maximum length: records with unknown keys. */
function manyKeys(type: 'g' | 'x', from: number): Buffer {
  const keys = Array.from({ length: 60_000 }, (_, index) => [`k${(from + index).toString(36)}`, '']);
  return tarMember(paxHeader(Object.fromEntries(keys), type));
}

test('irrelevant values of global headers are not stored, whatever their number', async (t) => {
  const globals = Array.from({ length: 8 }, (_, index) => manyKeys('g', index * 60_000));
  const members = tarOf(Array.from({ length: 20_000 }, (_, index) => ({ name: `${index}` })));
  // It would take minutes if all of them were scanned for each member: the test would time out.
  t.is((await accepted(t, Buffer.concat([...globals, members]))).files, 20_000);
});

test('of several global headers the last one applies, and a header of the member takes precedence', async (t) => {
  const tar = tarOf([
    paxHeader({ path: 'first' }, 'g'),
    paxHeader({ path: 'second', comment: 'x' }, 'g'),
    { name: 'a', data: 'x' },
    paxHeader({ path: 'own' }),
    { name: 'b', data: 'y' },
  ]);
  t.deepEqual(membersOf(await accepted(t, tar)), [
    ['second', '100644'],
    ['own', '100644'],
  ]);
});

for (const type of ['g', 'x'] as const) {
  test(`a sparse file is detected in a ${type} header after other records`, (t) =>
    refused(
      t,
      tarOf([paxHeader({ a: '', 'GNU.sparse.map': '0,1' }, type), { name: 'a', data: 'x' }]),
      'UNSUPPORTED',
      /sparse/,
    ));
}

test('the total size of extended headers is limited', async (t) => {
  const header = tarMember(paxHeader({ comment: 'x'.repeat(900_000 - 16) }, 'g'));
  const tar = (count: number) =>
    gzipSync(
      Buffer.concat([...Array.from({ length: count }, () => header), tarOf([{ name: 'a', data: 'x' }])]),
      {
        level: 1,
      },
    );
  const limits = { ratio: 1e6 };
  await accepted(t, tar(149), limits);
  await refused(t, tar(150), 'TOO_LARGE', /extended headers .*134217728 bytes/, limits);
});

test('a long name of zeros is as fast as any other', async (t) => {
  const name = Buffer.concat([Buffer.alloc(64 * 1024 - 1), Buffer.from('x')]);
  const long = tarMember({ name: 'long', type: 'L', data: name.toString('latin1') });
  const members = Array.from({ length: 30 }, () => Buffer.concat([long, tarMember({ name: 'a' })]));
  // Two seconds each if the time grew with the square of the length: the test would time out.
  await refused(t, Buffer.concat(members), 'BAD_NAME', /NUL/);
});

test('the total sizes of link targets and of names are limited', async (t) => {
  const links = Array.from({ length: 1000 }, (_, index) => ({ name: `l${index}`, type: '2' }));
  const tar = tarOf([paxHeader({ linkpath: 't'.repeat(900_000) }, 'g'), ...links]);
  // The 75th exceeds the limit, and reading stops after it.
  t.regex(JSON.stringify(await inspect(tar)), /PATHS_TOO_LARGE.*Not listed: 54 more/);
});

// Names that one program reads and another does not.

const readme = { name: 'readme.txt', data: 'hello' };

test('a directory of a zip is empty or inflates to nothing', async (t) => {
  const file = { name: 'd/a.txt', data: 'hi' };
  const nothing = { name: 'd/', method: 8 };
  for (const packed of [Buffer.from([3, 0]), Buffer.alloc(0)])
    t.is((await accepted(t, zipOf([{ ...nothing, packed }, file]))).files, 1);
  const junk = Buffer.alloc(5000, 7);
  await refused(
    t,
    zipOf([{ name: 'd/', method: 0, packed: junk }, file]),
    'SIZE_MISMATCH',
    /“d\/”.*5000 bytes/,
  );
  await refused(t, zipOf([{ ...nothing, packed: junk }, file]), 'CORRUPT', /“d\/”/);
  const bomb = zipOf([{ name: 'x', data: Buffer.alloc(50 * MiB) }]);
  const packed = bomb.subarray(31, 31 + bomb.readUInt32LE(18));
  await refused(t, zipOf([{ ...nothing, packed }, file]), 'SIZE_MISMATCH', /“d\/”.*more than the 0 bytes/);
  await refused(
    t,
    zipOf([{ ...nothing, packed: Buffer.from([3, 0]), crc: 5 }, file]),
    'CRC_MISMATCH',
    /“d\/”/,
  );
});

test('a zip64 end record is always found, also hidden in the comment of an entry', async (t) => {
  const plain = zipOf([readme]);
  const hidden = zipOf([readme], { zip64: true }).subarray(plain.length - 22, -22);
  const end = Buffer.from(plain.subarray(-22));
  end.writeUInt32LE(end.readUInt32LE(12) + hidden.length, 12);
  const directoryAt = end.readUInt32LE(16);
  const directory = Buffer.from(plain.subarray(directoryAt, -22));
  directory.writeUInt16LE(hidden.length, 32);
  const zip = Buffer.concat([plain.subarray(0, directoryAt), directory, hidden, end]);
  await refused(t, zip, 'HEADER_MISMATCH', /zip64 end record disagree/);
});

test('a zip of 65,535 entries needs no zip64 record', async (t) => {
  const entries = Array.from({ length: 0xffff }, (_, index) => ({ name: `${index}` }));
  t.is((await accepted(t, zipOf(entries))).files, 0xffff);
  await refused(t, zipOf(entries.slice(1), { count: 0xffff }), 'HEADER_MISMATCH', /65535 .*65534/);
});

test('bzip2 blocks of a single byte and of a long run need only the memory that they fill', async (t) => {
  // A zero, then 1,024 of them: `bzip2 --stdout` of each.
  const one = '425a6839314159265359b1f7404b00000040004000200021184682ee48a70a12163ee80960';
  const run = '425a683931415926535974f5adf70000044000c0000008200030802a6945ac38bb9229c28483a7ad6fb8';
  const zeros = Buffer.from(run + one.repeat(100), 'hex');
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const pieces = Array.from(bunzip2([Buffer.concat(Array.from({ length: 100 }, () => zeros))]), (piece) => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    return piece;
  });
  t.deepEqual(Buffer.concat(pieces), Buffer.alloc(100 * (1024 + 100)));
  t.true(most < 64 * MiB, `${most} bytes`);
});
