import { crc32 } from 'node:zlib';
import test from 'ava';
import { zipOf } from '../../testing/archives/archive-builders.ts';
import { accepted, membersOf } from './reading.ts';

function unicodePath(name: string | Buffer, path: string, version = 1): Buffer {
  const bytes = Buffer.from(path);
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x7075, 0);
  field.writeUInt16LE(5 + bytes.length, 2);
  field.writeUInt8(version, 4);
  field.writeUInt32LE(crc32(name), 5);
  return Buffer.concat([field, bytes]);
}

function namesOf(members: ReturnType<typeof membersOf>): string[] {
  return members.map(([path]) => Buffer.from(path, 'latin1').toString());
}

test('a UTF-8 name without the flag is decoded as code page 437, with a warning that has both', async (t) => {
  const inspection = await accepted(t, zipOf([{ name: 'é', flags: 0, data: '1' }]));
  t.deepEqual(namesOf(membersOf(inspection)), ['├⌐']);
  t.deepEqual(
    inspection.warnings.map(({ code }) => code),
    ['UNMARKED_UTF8'],
  );
  t.regex(inspection.warnings[0]?.text ?? '', /“é”.*code page 437.*“├⌐”/);
});

test('names that all readers decode alike cause no warning', async (t) => {
  const latin1 = Buffer.from([0xe9]);
  const specs = [
    { name: 'é', data: '1', extra: unicodePath('é', 'é') },
    { name: latin1, flags: 0, data: '2', extra: unicodePath(latin1, 'Θ') },
    { name: 'plain', flags: 0, data: '3' },
  ];
  t.deepEqual((await accepted(t, zipOf(specs))).warnings, []);
});

test('a Unicode Path field with another name causes a warning with both names', async (t) => {
  const inspection = await accepted(
    t,
    zipOf([{ name: '#U00e9', data: '1', extra: unicodePath('#U00e9', 'é') }]),
  );
  t.deepEqual(namesOf(membersOf(inspection)), ['#U00e9']);
  t.deepEqual(
    inspection.warnings.map(({ code }) => code),
    ['OTHER_NAME'],
  );
  t.regex(inspection.warnings[0]?.text ?? '', /“#U00e9”.*“é”.*0x7075/);
});

test('a UTF-8 name without the flag whose field differs causes both warnings', async (t) => {
  const zip = zipOf([{ name: 'é', flags: 0, data: '1', extra: unicodePath('é', 'é') }]);
  const { warnings } = await accepted(t, zip);
  t.deepEqual(
    warnings.map(({ code }) => code),
    ['UNMARKED_UTF8', 'OTHER_NAME'],
  );
});

test('a stale or malformed Unicode Path field causes no warning', async (t) => {
  const fields = [
    unicodePath('earlier', 'b'),
    unicodePath('a', 'b', 2),
    unicodePath('a', 'b').subarray(0, 6),
    Buffer.from([0x75, 0x70, 1, 0, 1]),
    Buffer.from([0x75]),
  ];
  for (const extra of fields) {
    const inspection = await accepted(t, zipOf([{ name: 'a', data: '1', extra }]));
    t.deepEqual(inspection.warnings, [], extra.toString('hex'));
  }
});

test('a zip name with “..” is retained, with a warning about Software Heritage', async (t) => {
  const inspection = await accepted(t, zipOf([{ name: 'v1..v2.diff', data: '1' }]));
  t.deepEqual(namesOf(membersOf(inspection)), ['v1..v2.diff']);
  t.deepEqual(
    inspection.warnings.map(({ code }) => code),
    ['DOTS_IN_NAME'],
  );
  t.regex(inspection.warnings[0]?.text ?? '', /“v1\.\.v2\.diff”.*Software Heritage/);
});

test('a zip name with a backslash is retained, with a warning', async (t) => {
  for (const name of ['d\\a.txt', 'e/d\\a.txt']) {
    const inspection = await accepted(t, zipOf([{ name, data: '1' }]));
    t.deepEqual(namesOf(membersOf(inspection)), [name]);
    t.deepEqual(
      inspection.warnings.map(({ code }) => code),
      ['BACKSLASH_IN_NAME'],
    );
    t.true(inspection.warnings[0]?.text.includes(`“${name}”`));
  }
});

test('many names with a backslash cause one warning, which names the first', async (t) => {
  const specs = Array.from({ length: 25 }, (_, index) => ({ name: `src\\${index}`, data: 'x' }));
  const { warnings } = await accepted(t, zipOf([...specs, { name: 'a..b', data: 'x' }]));
  t.deepEqual(
    warnings.map(({ code }) => code),
    ['BACKSLASH_IN_NAME', 'DOTS_IN_NAME'],
  );
  t.true(warnings[0]?.text.includes('“src\\0”'));
});

test('twenty warnings about names are listed and the first of each kind; the last one counts the rest', async (t) => {
  const specs = Array.from({ length: 50 }, (_, index) => ({ name: `${index}..é`, flags: 0, data: 'x' }));
  const { warnings } = await accepted(t, zipOf([...specs, { name: '.git/config', data: 'x' }]));
  t.is(warnings.length, 22);
  t.is(warnings[20]?.code, 'GIT_NAME');
  t.is(warnings[21]?.text, 'Not listed: 80 more of these kinds.');
});
