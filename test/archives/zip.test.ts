import { hash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import StreamZip from 'node-stream-zip';
import { defaultArchiveLimits, type Inspection } from '../../src/archives/archive-reader.ts';
import { readArchive } from '../../src/archives/read-archive.ts';
import { decodeListing } from '../../src/archives/tree/deposit-tree.ts';
import { readBatch } from '../../src/archives/zip/zip-batch.ts';
import type { Assistant } from '../../src/archives/zip/zip-batches.ts';
import { contentId } from '../../src/swhid/content.ts';
import { type ZipSpec, zipOf } from '../../testing/archives/archive-builders.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { accepted, inspect, membersOf, refused } from './reading.ts';

const readme: ZipSpec = { name: 'demo/README.md', data: 'A small project.\n' };
const main: ZipSpec = { name: 'demo/main.c', data: 'int main(void) { return 0; }\n', method: 0 };

test('the members of a zip are those of an independent reader, with the same bytes', async (t) => {
  const large = Buffer.concat([Buffer.alloc(9 * 1024 ** 2, 'text '), randomBytes(1000)]);
  const bytes = zipOf([
    readme,
    main,
    { name: 'demo/large', data: large },
    { name: 'demo/stored', data: large, method: 0 },
    { name: 'empty/' },
  ]);
  const found = [...decodeListing((await accepted(t, bytes)).listing)];
  const file = join(await temporaryFolder(t), 'a.zip');
  await writeFile(file, bytes);
  const independent = new StreamZip.async({ file });
  try {
    const entries = Object.values(await independent.entries());
    t.deepEqual(
      entries.map(({ name }) => name.replace(/\/$/, '')),
      found.map(({ path }) => path),
    );
    for (const { path, leaf } of found) {
      if (leaf) t.is(leaf.id, contentId(await independent.entryData(path)));
    }
  } finally {
    await independent.close();
  }
});

for (const signature of [true, false]) {
  for (const bytes of [4, 8] as const) {
    test(`a data descriptor ${signature ? 'with' : 'without'} signature and with sizes of ${bytes} bytes is parsed`, async (t) => {
      const zip = zipOf([{ ...readme, descriptor: { signature, bytes } }, main]);
      t.is((await accepted(t, zip)).files, 2);
      await refused(
        t,
        zipOf([{ ...readme, descriptor: { signature, bytes, crc: 1 } }, main]),
        'HEADER_MISMATCH',
        /descriptor/,
      );
    });
  }
}

test('a zip64 archive of “disk 0 of 0”, as some writers produce it, has a single disk', async (t) => {
  const zip = zipOf([readme], { zip64: true });
  const locator = zip.lastIndexOf(Buffer.from('PK\x06\x07'));
  zip.writeUInt32LE(0, locator + 16);
  t.deepEqual(membersOf(await accepted(t, zip)), [['demo/README.md', '100644']]);
  zip.writeUInt32LE(2, locator + 16);
  t.is((await inspect(zip)).outcome, 'refused');
});

test('a zip64 archive is read like any other', async (t) => {
  const zip = zipOf(
    [
      { ...readme, zip64: true },
      { ...main, zip64: true },
    ],
    { zip64: true },
  );
  t.deepEqual(membersOf(await accepted(t, zip)), [
    ['demo/README.md', '100644'],
    ['demo/main.c', '100644'],
  ]);
});

test('files of a zip are regular files, whatever their modes, and so are links', async (t) => {
  const zip = zipOf([
    { name: 'run.sh', data: '#!', mode: 0o100755 },
    { name: 'link', data: 'run.sh', mode: 0o120777 },
  ]);
  t.deepEqual(membersOf(await accepted(t, zip)), [
    ['run.sh', '100644'],
    ['link', '100644'],
  ]);
});

test('names are UTF-8 with the flag, code page 437 without, and retain their backslashes', async (t) => {
  const zip = zipOf([
    { name: 'é', data: '1' },
    { name: Buffer.from([0xe9]), flags: 0, data: '2' },
    { name: 'a\\b', data: '3' },
    { name: './x//y', data: '4' },
  ]);
  const names = membersOf(await accepted(t, zip)).map(([path]) => Buffer.from(path, 'latin1').toString());
  t.deepEqual(names, ['é', 'Θ', 'a\\b', 'x/y']);
  await refused(t, zipOf([{ name: Buffer.from([0xe9]), data: '2' }]), 'BAD_NAME', /“\\xe9”.*UTF-8/);
});

test('an archive comment is accepted', async (t) => {
  t.is((await accepted(t, zipOf([readme], { comment: Buffer.from('from our git host') }))).files, 1);
});

test('the same zip always gives the same listing', async (t) => {
  const zip = zipOf([readme, main, { name: 'empty/' }]);
  t.deepEqual((await accepted(t, zip)).listing, (await accepted(t, Buffer.from(zip))).listing);
});

const inner = zipOf([readme]);
const hostile: Readonly<Record<string, [title: string, bytes: Buffer, text: RegExp][]>> = {
  EMPTY: [['no entry', zipOf([]), /no entries/]],
  TRUNCATED: [
    ['a cut end', zipOf([readme]).subarray(0, -1), /truncated/],
    ['no end record', zipOf([readme]).subarray(0, 60), /truncated/],
    ['cut compressed data', zipOf([{ ...readme, packed: Buffer.from([0x4b]) }]), /truncated/],
  ],
  TRAILING_BYTES: [
    ['bytes after its end record', Buffer.concat([zipOf([readme]), Buffer.alloc(9, 'x')]), /trailing bytes/],
    [
      'zeros after its end record',
      Buffer.concat([zipOf([readme]), Buffer.alloc(10_000)]),
      /trailing zeros.*bsdtar -cf FILE/,
    ],
    ['another zip before it', Buffer.concat([zipOf([main]), zipOf([readme])]), /corrupt/],
    ['bytes before its first entry', zipOf([{ ...readme, offset: 5 }]), /prepended/],
    ['bytes between two entries', zipOf([{ ...readme, after: Buffer.alloc(7) }, main]), /7 bytes/],
    ['a directory past its end', zipOf([readme], { start: 2 ** 31 }), /corrupt/],
    ['a zip64 directory past its end', zipOf([readme], { zip64: true, start: 2 ** 40 }), /corrupt/],
    [
      'bytes after the compressed data',
      zipOf([{ ...readme, packed: Buffer.from([3, 0, 9, 9]), size: 0, crc: 0 }]),
      /2 bytes follow .*trailing/,
    ],
  ],
  CORRUPT: [
    [
      'a second end record in its comment',
      zipOf([readme], { comment: zipOf([]) }),
      /more than one end record/,
    ],
    ['invalid compressed data', zipOf([{ ...readme, packed: Buffer.alloc(9, 0xff) }]), /corrupt/],
  ],
  HEADER_MISMATCH: [
    ['more entries than it counts', zipOf([readme, main], { count: 1 }), /counts 1 .* has 2/],
    ['two names for one entry', zipOf([{ ...readme, local: { name: 'demo/README.sh' } }]), /name/],
    ['two methods for one entry', zipOf([{ ...readme, local: { method: 0 } }]), /method/],
    ['two sizes for one entry', zipOf([{ ...readme, local: { unpacked: 3 } }]), /sizes/],
  ],
  OVERLAP: [
    ['overlapping entries', zipOf([readme, { ...main, offset: 20 }]), /overlap/],
    [
      'an entry that runs into the next',
      zipOf([{ ...readme, method: 0, local: { packed: 80 }, central: { packed: 80 } }, main]),
      /overlap/,
    ],
  ],
  ENCRYPTED: [
    ['an encrypted member', zipOf([{ ...readme, flags: 0x801 }]), /encrypted/],
    [
      'a member encrypted in the directory only',
      zipOf([{ ...readme, central: { flags: 0x801 } }]),
      /encrypted/,
    ],
  ],
  UNSUPPORTED: [['another compression method', zipOf([{ ...readme, method: 12 }]), /method 12.*unsupported/]],
  CRC_MISMATCH: [
    ['a wrong CRC', zipOf([{ ...readme, crc: 1 }]), /README.md.*CRC/],
    [
      'a wrong CRC of a large member',
      zipOf([{ name: 'l', data: Buffer.alloc(9 * 1024 ** 2), crc: 1 }]),
      /CRC/,
    ],
  ],
  SIZE_MISMATCH: [
    ['a size that is too large', zipOf([{ ...readme, size: 5000 }]), /5000/],
    ['a size that is too small', zipOf([{ ...readme, size: 3 }]), /more than the 3 bytes/],
  ],
  PATH_TRAVERSAL: [
    ['a name with “..”', zipOf([{ name: '../../evil.txt', data: 'x' }]), /traversal/],
    ['a name with “..” and backslashes', zipOf([{ name: 'a\\..\\evil.txt', data: 'x' }]), /traversal/],
    ['a name with control characters', zipOf([{ name: '../\x1b[31m', data: 'x' }]), /\\x1b\[31m/],
  ],
  ABSOLUTE_PATH: [
    ['an absolute name', zipOf([{ name: '/tmp/evil.txt', data: 'x' }]), /absolute/],
    ['a name with a drive letter', zipOf([{ name: 'C:\\evil.txt', data: 'x' }]), /drive letter/],
  ],
  BAD_NAME: [['a name with a NUL', zipOf([{ name: 'a\0b', data: 'x' }]), /NUL/]],
  NAME_TOO_LONG: [
    ['a name that is too long', zipOf([{ name: 'n'.repeat(256), data: 'x' }]), /too long: 256 .* 255/],
  ],
  PATH_TOO_LONG: [
    ['a path that is too long', zipOf([{ name: 'nnn/'.repeat(1025), data: '' }]), /4100 .* 4096/],
  ],
  TOO_DEEP: [['a path that is too deep', zipOf([{ name: 'd/'.repeat(65) }]), /depth is 64/]],
  DUPLICATE: [
    ['two entries of one name', zipOf([readme, { ...readme, data: 'other' }]), /duplicate/],
    ['two entries of one path', zipOf([readme, { ...readme, name: './demo//README.md' }]), /duplicate/],
  ],
  PATH_CONFLICT: [
    [
      'a file and a directory of one name',
      zipOf([
        { name: 'a', data: 'x' },
        { name: 'a/', data: '' },
      ]),
      /conflict/,
    ],
    [
      'a member below a link',
      zipOf([
        { name: 'd', data: '/tmp', mode: 0o120777 },
        { name: 'd/x', data: 'x' },
      ]),
      /conflict/,
    ],
  ],
  SPECIAL_FILE: [['a device', zipOf([{ name: 'null', mode: 0o020666 }]), /device/]],
  BAD_LINK: [
    [
      'a link with a very long target',
      zipOf([{ name: 'l', data: 'x'.repeat(4097), mode: 0o120777 }]),
      /too long: 4097 .* 4096/,
    ],
  ],
  ONLY_ARCHIVES: [
    ['nothing but an archive', zipOf([{ name: 'inner.zip', data: inner }]), /archive within an archive/],
    [
      'nothing but an archive of several chunks',
      zipOf([{ name: 'inner.zip', data: Buffer.concat([inner, randomBytes(2 * 1024 ** 2)]) }]),
      /archive within an archive/,
    ],
  ],
};

for (const [code, cases] of Object.entries(hostile)) {
  for (const [title, bytes, text] of cases) {
    test(`a zip with ${title} is refused`, (t) => refused(t, bytes, code, text));
  }
}

test('an archive next to another file is a file like any other', async (t) => {
  t.is((await accepted(t, zipOf([{ name: 'inner.zip', data: inner }, readme]))).files, 2);
});

test('every invalid member of a zip is named, up to twenty', async (t) => {
  const specs = Array.from({ length: 25 }, (_, index) => ({ name: `../${index}`, data: 'x' }));
  const inspection = await inspect(zipOf(specs));
  const texts = inspection.outcome === 'refused' ? inspection.faults.map(({ text }) => text) : [];
  t.is(texts.length, 21);
  t.regex(texts[1] ?? '', /“\.\.\/1”/);
  t.regex(texts[20] ?? '', /: 5 more/);
});

test('a zip that exceeds a limit is refused without being unpacked', async (t) => {
  const zeros = zipOf([{ name: 'zeros', data: Buffer.alloc(1024 ** 2) }]);
  await refused(t, zeros, 'TOO_LARGE', /too large.*1000000/, { unpackedBytes: 1_000_000 });
  await refused(t, zeros, 'RATIO', /ratio/, { ratioFloor: 1000 });
  await refused(t, zipOf([readme, main, { name: 'c' }]), 'TOO_MANY_ENTRIES', /too many.*2/, { members: 2 });
});

test('a zip with any byte changed is either accepted or refused, and never crashes', async (t) => {
  const zip = zipOf([readme, { ...main, zip64: true }, { name: 'l', data: 'x', mode: 0o120777 }], {
    zip64: true,
  });
  for (let at = 0; at < zip.length; at += 1) {
    for (const change of [0x01, 0x80, 0xff]) {
      const changed = Buffer.from(zip);
      changed[at]! ^= change;
      t.regex((await inspect(changed)).outcome, /accepted|refused/);
    }
  }
});

/** Members of some megabytes: many batches, a large member between them, links, directories, and bad members. */
function manyMembers(isBad: (index: number) => boolean): ZipSpec[] {
  const text = 'text '.repeat(4000);
  const files = Array.from({ length: 600 }, (_, index) => {
    const file = { name: `f/${index}`, data: `${index} ${text}` };
    return isBad(index) ? { ...file, crc: 1 } : file;
  });
  const large = { name: 'large', data: Buffer.alloc(2 * 1024 ** 2, 'large'), ...(isBad(150) && { crc: 1 }) };
  const links = ['/etc/passwd', '../out'].map((data, index) => ({ name: `l${index}`, data, mode: 0o120777 }));
  return [...files.slice(0, 200), large, ...links, { name: 'empty/' }, ...files.slice(200)];
}

/** Reads each batch late, and later ones first. Returns the number of batches as well. */
async function inspectAssisted(bytes: Buffer): Promise<{ inspection: Inspection; batches: number }> {
  const late: (() => void)[] = [];
  let batches = 0;
  const assistant: Assistant = {
    get isFree() {
      return late.length < 3;
    },
    read: (batch) => {
      batches += 1;
      const copy = { ...batch, bytes: Buffer.from(batch.bytes) };
      batch.bytes.fill(0); // they belong to the assistant
      return new Promise((resolve) => {
        late.unshift(() => resolve(readBatch(copy)));
        setTimeout(() => late.shift()?.(), 1);
      });
    },
  };
  const source = { kind: 'bytes', bytes } as const;
  const { inspection } = await readArchive(source, hash('sha256', bytes), defaultArchiveLimits, assistant);
  return { inspection, batches };
}

test('a zip that an assistant reads in parts is accepted with the same listing and warnings', async (t) => {
  const bytes = zipOf(manyMembers(() => false));
  const { inspection, batches } = await inspectAssisted(bytes);
  t.true(batches > 3, `${batches} batches`);
  t.like(inspection, { outcome: 'accepted', files: 603 });
  t.deepEqual(inspection, await inspect(bytes));
});

test('faults of a zip that an assistant reads in parts are those of one thread, in their order', async (t) => {
  const bad = manyMembers((index) => index % 50 === 0);
  const trailing = bad.map((each) => (each.name === 'f/550' ? { ...each, after: Buffer.alloc(30) } : each));
  for (const specs of [bad, trailing]) {
    const bytes = zipOf(specs);
    const { inspection } = await inspectAssisted(bytes);
    t.is(inspection.outcome === 'refused' && inspection.faults.length, 13);
    t.deepEqual(inspection, await inspect(bytes));
  }
});
