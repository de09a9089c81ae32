import { hash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { pack } from 'tar-stream';
import { defaultArchiveLimits } from '../../src/archives/archive-reader.ts';
import { MemberCollector } from '../../src/archives/member-collector.ts';
import { TarReader } from '../../src/archives/tar/tar.ts';
import { TarMembers } from '../../src/archives/tar/tar-members.ts';
import { decodeListing } from '../../src/archives/tree/deposit-tree.ts';
import { contentId } from '../../src/swhid/content.ts';
import { paxHeader, type TarSpec, tarMember, tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { demoTar, demoTarBzip2, demoTarXz } from '../../testing/archives/demo-tars.ts';
import { accepted, inspect, membersOf, refused } from './reading.ts';

const readme: TarSpec = { name: 'demo/README.md', data: 'A small project.\n' };
const hello: TarSpec = { name: 'demo/hello', data: 'hello\n', mode: 0o755 };

test('a tar written by another program is read with its long names, links and large files', async (t) => {
  const tar = pack();
  const long = `${'directory/'.repeat(20)}é`;
  const large = randomBytes(2 * 1024 ** 2 + 1);
  tar.entry({ name: long, mode: 0o755 }, 'x');
  tar.entry({ name: 'large' }, large);
  tar.entry({ name: 'link', type: 'symlink', linkname: 'large' });
  tar.entry({ name: 'empty', type: 'directory' });
  tar.finalize();
  const inspection = await accepted(t, await buffer(tar));
  const path = Buffer.from(long).toString('latin1');
  t.deepEqual(membersOf(inspection), [
    [path, '100755'],
    ['large', '100644'],
    ['link', '120000'],
    ['empty', '40000'],
  ]);
  const ids = [...decodeListing(inspection.listing)].map(({ leaf }) => leaf?.id);
  t.deepEqual(ids, [
    contentId(Buffer.from('x')),
    contentId(large),
    contentId(Buffer.from('large')),
    undefined,
  ]);
  t.is(inspection.bytes, 1 + large.length);
});

const v7 = { type: '\0', magic: '', prefix: 'not a prefix' };
const gnu = { magic: 'ustar  \0', prefix: 'not a prefix' };
// Its prefix is shorter, since two times follow it.
const star = { prefix: `${'p'.repeat(131)}${'07777777777 '.repeat(2)}${'\0'.repeat(8)}tar\0` };
const names: [title: string, specs: TarSpec[], path: string][] = [
  ['a v7 header', [{ ...readme, ...v7 }], 'demo/README.md'],
  ['a GNU header', [{ ...readme, ...gnu }], 'demo/README.md'],
  ['a ustar prefix', [{ ...readme, prefix: 'top' }], 'top/demo/README.md'],
  ['a star prefix', [{ ...readme, ...star }], `${'p'.repeat(131)}/demo/README.md`],
  ['a GNU long name', [{ name: 'long', type: 'L', data: 'a/long/name\0' }, readme], 'a/long/name'],
  ['a pax path', [paxHeader({ path: 'pax/é', __proto__x: 'y' }), readme], 'pax/Ã©'],
  ['a global pax header', [paxHeader({ comment: 'from git' }, 'g'), readme], 'demo/README.md'],
  [
    'the first of two global pax headers',
    [paxHeader({ path: 'all' }, 'g'), paxHeader({ comment: 'more' }, 'g'), readme],
    'all',
  ],
  ['a name of raw bytes', [{ ...readme, name: Buffer.from([0x64, 0xe9]) }], 'd\xe9'],
  ['a name that is not clean', [{ ...readme, name: './demo//./README.md' }], 'demo/README.md'],
];

for (const [title, specs, path] of names) {
  test(`${title} determines the name of a member`, async (t) => {
    t.deepEqual(membersOf(await accepted(t, tarOf(specs))), [[path, '100644']]);
  });
}

test('a slash at the end of an old name makes a directory', async (t) => {
  t.deepEqual(membersOf(await accepted(t, tarOf([{ name: 'old/', type: '\0' }]))), [['old', '40000']]);
});

test('a size in base 256 is a size', async (t) => {
  const size = Buffer.alloc(12);
  size[0] = 0x80;
  size.writeUInt32BE(6, 8);
  t.is((await accepted(t, tarOf([{ ...hello, size }, readme]))).bytes, 23);
});

test('the end marker of a tar may be missing, and a warning says so', async (t) => {
  for (const tar of [tarMember(readme), gzipSync(tarMember(readme))]) {
    const { files, warnings } = await accepted(t, tar);
    t.is(files, 1);
    t.deepEqual(
      warnings.map(({ code }) => code),
      ['NO_END_MARKER'],
    );
    t.regex(warnings[0]?.text ?? '', /no end marker/);
  }
});

test('a tar that ends with one block of zeros, or with many, has its end marker', async (t) => {
  for (const length of [512, 1024, 10_240]) {
    const tar = Buffer.concat([tarMember(readme), Buffer.alloc(length)]);
    t.deepEqual((await accepted(t, tar)).warnings, []);
  }
});

for (const length of [1, 7, 512, 513, 5000]) {
  test(`a tar read in chunks of ${length} bytes has the same members`, async (t) => {
    const tar = tarOf([readme, paxHeader({ path: 'pax' }), { name: 'x', data: 'x'.repeat(20_000) }, hello]);
    const contents = new MemberCollector(defaultArchiveLimits);
    const reader = new TarReader(new TarMembers(contents));
    for (let at = 0; at < tar.length; at += length) reader.push(tar.subarray(at, at + length));
    reader.finish();
    t.deepEqual(contents.toInspection('tar', hash('sha256', tar)), await accepted(t, tar));
  });
}

test('of two members with one name the later one applies, and a warning names it', async (t) => {
  const inspection = await accepted(t, tarOf([readme, { ...readme, data: 'new', mode: 0o755 }]));
  t.deepEqual(membersOf(inspection), [['demo/README.md', '100755']]);
  t.regex(inspection.warnings[0]?.text ?? '', /README.md.*duplicate/);
});

test('a hard link to itself changes nothing', async (t) => {
  const itself = { name: 'demo/README.md', type: '1', linkName: './demo/README.md' };
  const inspection = await accepted(t, tarOf([readme, itself]));
  t.deepEqual([membersOf(inspection), inspection.warnings], [[['demo/README.md', '100644']], []]);
});

test('hard links share the bytes of an earlier member and the mode of the last one', async (t) => {
  const link = { name: 'demo/twin', type: '1', linkName: './demo/hello', mode: 0o644 };
  const inspection = await accepted(t, tarOf([hello, link]));
  t.deepEqual(membersOf(inspection), [
    ['demo/hello', '100644'],
    ['demo/twin', '100644'],
  ]);
  const [first, second] = [...decodeListing(inspection.listing)];
  t.is(first?.leaf?.id, second?.leaf?.id);
});

test('a hard link that changes whether its target is executable gets a warning', async (t) => {
  const link = { name: 'demo/twin', type: '1', linkName: 'demo/hello' };
  const cases: [members: TarSpec[], warnings: RegExp[]][] = [
    [
      [hello, { ...link, mode: 0 }],
      [/^The hard link “demo\/twin” gives its target another mode, not exec.*one mode\.$/],
    ],
    [
      [
        { ...hello, mode: 0o644 },
        { ...link, mode: 0o755 },
      ],
      [/another mode, executable:/],
    ],
    [[hello, { ...link, mode: 0 }, { ...link, name: 'demo/third', mode: 0o644 }], [/“demo\/twin”/]],
    [[hello, { ...link, mode: 0o700 }], []],
    [[hello, { ...link, mode: 0 }, { ...link, name: 'demo/third', mode: 0o755 }], []],
    [
      [
        { name: 'demo/hello', type: '2', linkName: 'x' },
        { ...link, mode: 0 },
      ],
      [],
    ],
  ];
  for (const [members, expected] of cases) {
    const { warnings } = await accepted(t, tarOf(members));
    t.is(warnings.length, expected.length);
    for (const [index, text] of expected.entries()) {
      t.is(warnings[index]?.code, 'LINK_MODE');
      t.regex(warnings[index]?.text ?? '', text);
    }
  }
});

test('modes of many hard links cause one warning, which names the first and counts the rest', async (t) => {
  const pairs = Array.from({ length: 30 }, (_, number) => [
    { ...hello, name: `${number}` },
    { name: `${number}-twin`, type: '1', linkName: `${number}`, mode: 0 },
  ]);
  const { warnings } = await accepted(t, tarOf(pairs.flat()));
  t.is(warnings.length, 1);
  t.regex(warnings[0]?.text ?? '', /“0-twin”.* 29 more/);
});

test('hard links count like the files that programs without hard links create', async (t) => {
  const links = Array.from({ length: 10 }, (_, number) => ({
    name: `demo/${number}`,
    type: '1',
    linkName: 'demo/hello',
  }));
  const tar = tarOf([{ ...hello, data: 'x'.repeat(1000) }, ...links]);
  await refused(t, tar, 'TOO_LARGE', /more than 10999 bytes/, { unpackedBytes: 10_999 });
  t.is((await accepted(t, tar, { unpackedBytes: 11_000 })).files, 11);
  const itself = { name: 'demo/hello', type: '1', linkName: 'demo/hello' };
  await accepted(t, tarOf([{ ...hello, data: 'x'.repeat(1000) }, itself, itself]), { unpackedBytes: 1000 });
});

test('a name that git refuses to check out gets a warning, in any spelling', async (t) => {
  for (const name of [
    '.git',
    '.GIT',
    'git~1',
    'GIT~1',
    '.git. .',
    '.gIt:$DATA',
    '.g\u200cit',
    '\ufeff.git',
  ]) {
    const file = { ...readme, name: `demo/${name}/hooks/x` };
    const { warnings } = await accepted(t, tarOf([file, { ...file, name: `demo/${name}/hooks/y` }]));
    t.deepEqual(
      warnings.map(({ code }) => code),
      ['GIT_NAME'],
      name,
    );
    t.regex(warnings[0]?.text ?? '', /^The path “demo\/[^/]*” has a name that git refuses/);
  }
  for (const name of ['.gitignore', 'git', 'a.git', '.github', 'git~12', '.git-blame', '.g\u200ait']) {
    const { warnings } = await accepted(t, tarOf([{ ...readme, name: `demo/${name}` }]));
    t.deepEqual(warnings, [], name);
  }
});

test('the warning of a name that git refuses has the path down to it, also below a name that ends alike', async (t) => {
  for (const name of ['a.git/.git/config', 'a.git\\.git/config', '.github/.git/config']) {
    const { warnings } = await accepted(t, tarOf([{ ...readme, name }]));
    t.regex(warnings[0]?.text ?? '', /^The path “[^”]*[/\\]\.git” has .* check out, “\.git”;/, name);
  }
});

test("a hard link with a later member of its target's name is refused, unless such tars are accepted", async (t) => {
  const link = { name: 'demo/twin', type: '1', linkName: 'demo/hello', mode: 0o755 };
  const tar = tarOf([hello, link, { ...hello, data: 'other\n' }]);
  await refused(t, tar, 'DUPLICATE', /“demo\/hello” comes again.*“demo\/twin”/);
  const inspection = await accepted(t, tar, { rejectAmbiguities: false });
  const ids = [...decodeListing(inspection.listing)].map(({ path, leaf }) => [path, leaf?.id]);
  t.deepEqual(ids, [
    ['demo/twin', contentId(Buffer.from('hello\n'))],
    ['demo/hello', contentId(Buffer.from('other\n'))],
  ]);
});

test('a number after a NUL, which readers understand differently, is refused, unless such tars are accepted', async (t) => {
  const fieldOf = (size: string) => Buffer.from(size.padEnd(12, '\0'));
  for (const size of ['\0\0\x0000000006 ', ' \x000000006   ', '\x0000000000006'])
    for (const type of ['0', 'L']) {
      const tar = tarOf([{ ...hello, type, size: fieldOf(size) }, readme]);
      await refused(t, tar, 'HEADER_MISMATCH', /“demo\/hello” begins with a NUL/);
      const { listing } = await accepted(t, tar, { rejectAmbiguities: false });
      t.is([...decodeListing(listing)].length, type === 'L' ? 1 : 2);
    }
  await accepted(
    t,
    tarOf([
      { ...hello, data: '', size: fieldOf('') },
      { ...readme, size: fieldOf('     21 ') },
    ]),
  );
});

test('a long name that goes on behind its size, where readers differ, is refused, unless such tars are accepted', async (t) => {
  for (const type of ['L', 'K']) {
    const long = tarMember({ name: '././@LongLink', type, data: 'long' });
    const member = type === 'L' ? readme : { ...readme, type: '2', data: '' };
    const tar = Buffer.concat([long, tarOf([member, hello])]);
    const names = membersOf(await accepted(t, tar));
    long.write('er', 516);
    const longer = Buffer.concat([long, tarOf([member, hello])]);
    await refused(t, longer, 'HEADER_MISMATCH', /long name “long” .* readers of tar differ/);
    t.deepEqual(membersOf(await accepted(t, longer, { rejectAmbiguities: false })), names);
  }
});

test('bytes after the NUL of a long name, and after one that fills its block, are not of the name', async (t) => {
  const ended = tarMember({ name: '././@LongLink', type: 'L', data: 'long\0' });
  ended.write('er', 517);
  const full = tarMember({
    name: '././@LongLink',
    type: 'L',
    data: `${`${'l'.repeat(127)}/`.repeat(3)}${'l'.repeat(128)}`,
  });
  const next = tarMember(readme);
  next.write('x', next.length - 1);
  for (const long of [ended, full]) {
    const { warnings } = await accepted(t, Buffer.concat([long, next, tarOf([hello])]));
    t.deepEqual(warnings, []);
  }
});

test('a repeated hard link, an earlier repeated target and a link back to it are accepted', async (t) => {
  const link = { name: 'demo/twin', type: '1', linkName: 'demo/hello', mode: 0o755 };
  const back = { name: 'demo/hello', type: '1', linkName: 'demo/twin', mode: 0o755 };
  for (const members of [
    [hello, link, link],
    [hello, hello, link],
    [hello, link, back],
    [hello, link, { ...readme, name: 'demo/twin' }],
  ]) {
    const { warnings } = await accepted(t, tarOf(members));
    t.deepEqual(
      warnings.map(({ code }) => code),
      ['DUPLICATE'],
    );
  }
});

test('a link out of the tree is retained, with a warning', async (t) => {
  const link = { name: 'demo/passwd', type: '2', linkName: '../../etc/passwd' };
  const inspection = await accepted(t, tarOf([readme, link]));
  t.deepEqual(
    inspection.warnings.map(({ code }) => code),
    ['LINK_OUT_OF_TREE'],
  );
  const inside = await accepted(t, tarOf([readme, { ...link, linkName: '../other' }]));
  t.deepEqual(inside.warnings, []);
});

const hostile: Readonly<Record<string, [title: string, bytes: Buffer, text: RegExp][]>> = {
  EMPTY: [
    ['no members', Buffer.alloc(10240), /no entries/],
    ['only its root directory', tarOf([{ name: './', type: '5' }]), /no entries/],
  ],
  TRUNCATED: [
    ['a cut member', tarMember(readme).subarray(0, 522), /truncated/],
    ['a cut header', Buffer.concat([tarMember(readme), tarMember(hello).subarray(0, 100)]), /truncated/],
    ['a pax header without its member', tarOf([readme, paxHeader({ path: 'x' })]), /without its member/],
    ['cut gzip data', gzipSync(demoTar).subarray(0, -9), /truncated/],
    ['cut bzip2 data', demoTarBzip2.subarray(0, -1), /truncated/],
    // The first block ends here: the data is cut where a reader may assume its end.
    ['bzip2 data cut after a block', demoTarBzip2.subarray(0, 230), /truncated/],
    ['cut xz data', demoTarXz.subarray(0, -1), /truncated/],
    ['bytes after the xz data', Buffer.concat([demoTarXz, Buffer.from('rest')]), /trailing/],
  ],
  CORRUPT: [
    [
      'a wrong checksum in a later header',
      Buffer.concat([tarMember(readme), Buffer.alloc(512, 'x')]),
      /checksum/,
    ],
    ['a size of -1', tarOf([{ ...readme, size: Buffer.alloc(12, 0xff) }]), /size.*invalid/],
    [
      'a size that is no number',
      tarOf([{ ...readme, size: Buffer.concat([Buffer.from([0x81]), Buffer.alloc(11)]) }]),
      /size.*invalid/,
    ],
    [
      'a size that is no octal number',
      tarOf([{ ...readme, size: Buffer.from('0000000009 \0') }]),
      /size.*invalid/,
    ],
    ['a directory that has a size', tarOf([{ name: 'd/', type: '5', data: 'x' }]), /no regular file/],
    ['an invalid pax header', tarOf([{ name: 'pax', type: 'x', data: '99 path=x\n' }, readme]), /pax/],
    [
      'a pax header with a length that some read as octal',
      tarOf([{ name: 'pax', type: 'x', data: '011 path=x\n' }, readme]),
      /pax/,
    ],
    [
      'two long names for one member',
      tarOf([{ name: 'l', type: 'L', data: 'a' }, { name: 'l', type: 'L', data: 'b' }, readme]),
      /two extended/,
    ],
    ['a gzip CRC that is wrong', changed(gzipSync(demoTar), -6), /gzip/],
    ['an xz CRC that is wrong', changed(demoTarXz, 60), /xz/],
  ],
  TRAILING_BYTES: [
    ['another tar after it', Buffer.concat([tarOf([readme]), tarOf([hello])]), /trailing/],
    ['bytes after the gzip data', Buffer.concat([gzipSync(demoTar), Buffer.from('\0\0rest')]), /trailing/],
    ['bytes after the bzip2 data', Buffer.concat([demoTarBzip2, Buffer.from('x')]), /trailing/],
    [
      'bytes after the padding of its bzip2 data',
      Buffer.concat([demoTarBzip2, Buffer.alloc(9), demoTarBzip2]),
      /trailing/,
    ],
  ],
  HEADER_MISMATCH: [
    ['two sizes for one member', tarOf([paxHeader({ size: '1024' }), readme]), /size.*mismatch/],
  ],
  BAD_NAME: [
    ['a pax header with an empty path', tarOf([paxHeader({ path: '' }), readme]), /empty name/],
    ['a NUL in a pax path', tarOf([paxHeader({ path: 'a\0b' }), readme]), /NUL/],
  ],
  NAME_TOO_LONG: [
    [
      'a long name of 5 MiB',
      tarOf([{ name: 'l', type: 'L', size: 5 * 1024 ** 2 }]),
      /a long name of the tar is too long: 5242880/,
    ],
  ],
  UNSUPPORTED: [
    ['a sparse file', tarOf([paxHeader({ 'GNU.sparse.major': '1' }), readme]), /sparse/],
    ['an old sparse file', tarOf([{ ...readme, type: 'S' }]), /README.md” is a sparse/],
    [
      'a sparse file with a generated name',
      tarOf([
        paxHeader({
          'GNU.sparse.major': '1',
          'GNU.sparse.name': 'demo/disk.img',
          'GNU.sparse.realsize': '9',
        }),
        { ...readme, name: 'demo/GNUSparseFile.77/disk.img' },
      ]),
      /“demo\/disk.img” is a sparse file, which is unsupported: pack it without --sparse \(bsdtar: with --no-read-sparse\)\.$/,
    ],
  ],
  SPECIAL_FILE: [
    ['a character device', tarOf([{ name: 'null', type: '3' }]), /character device/],
    ['a FIFO', tarOf([{ name: 'pipe', type: '6' }]), /FIFO/],
    ['the label of a volume', tarOf([{ name: 'x', type: 'V' }, readme]), /type “V”, a volume label;/],
    ['a member of an unknown type', tarOf([{ name: 'x', type: 'Z' }]), /type “Z”/],
    [
      'a folder of an incremental backup, with data',
      tarOf([readme, { name: 'd/', type: 'D', data: 'Yx\0\0' }]),
      /type “D”, a directory of an incremental backup;/,
    ],
  ],
  PATH_TRAVERSAL: [['a name with “..”', tarOf([{ ...readme, name: '../evil' }]), /traversal/]],
  PATH_CONFLICT: [
    [
      'a member below a link',
      tarOf([
        { name: 'd', type: '2', linkName: '/tmp' },
        { name: 'd/x', data: 'x' },
      ]),
      /link and a directory/,
    ],
    ['a file with the name of a directory', tarOf([readme, { name: 'demo', data: 'x' }]), /conflict/],
  ],
  BAD_LINK: [
    [
      'a hard link to a later member',
      tarOf([{ name: 'h', type: '1', linkName: 'demo/hello' }, hello]),
      /no earlier file/,
    ],
    [
      'a hard link out of the tree',
      tarOf([{ name: 'h', type: '1', linkName: '../../etc/passwd' }]),
      /hard link/,
    ],
    ['a link without a target', tarOf([{ name: 'l', type: '2' }]), /empty target/],
  ],
  ONLY_ARCHIVES: [
    [
      'nothing but an archive',
      tarOf([{ name: 'inner.tar.gz', data: gzipSync(demoTar) }]),
      /archive within an archive/,
    ],
    [
      'nothing but an archive of several chunks',
      tarOf([{ name: 'inner.tar.gz', data: Buffer.concat([gzipSync(demoTar), randomBytes(2 * 1024 ** 2)]) }]),
      /archive within an archive/,
    ],
  ],
  CRC_MISMATCH: [['a bzip2 CRC that is wrong', changed(demoTarBzip2, 12), /CRC/]],
};

for (const [code, cases] of Object.entries(hostile)) {
  for (const [title, bytes, text] of cases) {
    test(`a tar with ${title} is refused`, (t) => refused(t, bytes, code, text));
  }
}

test('bzip2 data may be padded with zeros', async (t) => {
  const { listing } = await accepted(t, demoTar);
  for (const length of [1, 3, 512, 300_000]) {
    const padded = await accepted(t, Buffer.concat([demoTarBzip2, Buffer.alloc(length)]));
    t.deepEqual([...decodeListing(padded.listing)], [...decodeListing(listing)]);
  }
});

test('bytes that are no archive are refused', (t) =>
  refused(t, Buffer.from('hello'), 'UNKNOWN_FORMAT', /format/));

const notTars: [title: string, bytes: Buffer][] = [
  ['a short text', Buffer.from('hello')],
  ['a long text', Buffer.alloc(5000, 'hello ')],
  ['gzip', gzipSync(demoTar)],
  ['a zip', zipOf([{ name: 'a', data: 'x' }])],
  ['the beginning of a header', demoTar.subarray(0, 100)],
];

for (const [title, bytes] of notTars) {
  test(`${title}, compressed, is refused as another format than a tar`, (t) =>
    refused(
      t,
      gzipSync(bytes),
      'UNKNOWN_FORMAT',
      /^The format is unsupported: what is compressed is not a tar/,
    ));
}

test('a tar above a limit is refused as soon as it exceeds it', async (t) => {
  const zeros = gzipSync(tarOf([{ name: 'zeros', data: Buffer.alloc(1024 ** 2) }]));
  await refused(t, zeros, 'TOO_LARGE', /too large.*1000000/, { unpackedBytes: 1_000_000 });
  await refused(t, zeros, 'RATIO', /ratio/, { ratioFloor: 1000 });
  await refused(t, tarOf([readme, hello]), 'TOO_MANY_ENTRIES', /too many entries.*1/, { members: 1 });
});

test('directories that members imply count against the limit of members', (t) =>
  refused(t, tarOf([{ name: 'a/b/c/d', data: 'x' }]), 'TOO_MANY_ENTRIES', /directory entries/, {
    members: 2,
  }));

test('a tar with any byte changed is either accepted or refused, and never crashes', async (t) => {
  const tar = tarOf([paxHeader({ path: 'p' }), readme, { name: 'l', type: '2', linkName: 'p' }, hello]);
  for (let at = 0; at < tar.length; at += 1) {
    t.regex((await inspect(changed(tar, at))).outcome, /accepted|refused/);
  }
});

test('compressed data with any byte changed is either accepted or refused, and never crashes', async (t) => {
  for (const packed of [gzipSync(demoTar), demoTarBzip2, demoTarXz]) {
    for (let at = 0; at < packed.length; at += 3) {
      t.regex((await inspect(changed(packed, at))).outcome, /accepted|refused/);
    }
  }
});

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at < 0 ? copy.length + at : at]! ^= 0x55;
  return copy;
}
