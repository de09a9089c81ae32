import { gzipSync } from 'node:zlib';
import test from 'ava';
import { defaultArchiveLimits } from '../../src/archives/archive-reader.ts';
import { sniffFormat } from '../../src/archives/format.ts';
import { entryPath, pointsOutOfTree } from '../../src/archives/members/entry-path.ts';
import { sanitizeName } from '../../src/archives/members/sanitize-name.ts';
import { tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { demoTarBzip2, demoTarXz } from '../../testing/archives/demo-tars.ts';

test('the format of an archive is detected from its first bytes', (t) => {
  const v7 = tarOf([{ name: 'a', data: 'x', magic: '' }]);
  const archives = {
    zip: zipOf([{ name: 'a', data: 'x' }]),
    tar: v7,
    'tar.gz': gzipSync(v7),
    'tar.bz2': demoTarBzip2,
    'tar.xz': demoTarXz,
  };
  for (const [format, bytes] of Object.entries(archives))
    t.is(sniffFormat(bytes.subarray(0, 512)), format as 'zip');
  t.is(sniffFormat(zipOf([])), 'zip');
  t.is(sniffFormat(Buffer.alloc(512)), 'tar');
});

test('bytes that are no archive have no format', (t) => {
  const texts = ['', 'P', 'PK', 'hello', 'BZh9 is a string', 'x'.repeat(512), '\0'.repeat(511)];
  for (const text of texts) t.is(sniffFormat(Buffer.from(text)), 'unknown', text);
  t.is(sniffFormat(tarOf([{ name: 'a', data: 'x' }]).subarray(0, 511)), 'unknown');
});

const clean: [name: string, path: string][] = [
  ['a/b', 'a/b'],
  ['./a', 'a'],
  ['a//b/', 'a/b'],
  ['a/./b', 'a/b'],
  ['.', ''],
  ['./', ''],
  ['foo..bar.txt', 'foo..bar.txt'],
  ['...', '...'],
  ['..a/b..', '..a/b..'],
  ['a\\b', 'a\\b'],
  ['.git/config', '.git/config'],
  ['ab:c', 'ab:c'],
];
for (const [name, path] of clean) {
  test(`the member name ${name} becomes the path “${path}”`, (t) => {
    t.deepEqual(entryPath(name, defaultArchiveLimits), { path });
  });
}

for (const name of [
  '',
  '/a',
  '\\a',
  '\\\\host\\a',
  'c:a',
  '..',
  'a/..',
  '../a',
  'a/../b',
  'a\\..\\b',
  '..\\a',
  'a/..\\b',
  'a\0',
]) {
  test(`the member name ${JSON.stringify(name)} is refused`, (t) => {
    t.false('path' in entryPath(name, defaultArchiveLimits));
  });
}

test('a link points out of the tree if it is absolute or climbs above the root', (t) => {
  for (const target of ['/', '/etc', '../..', '../../a', 'x/../../../a'])
    t.true(pointsOutOfTree('a/link', target), target);
  for (const target of ['b', '..', '../b', '../b/../c', './..//b', '...'])
    t.false(pointsOutOfTree('a/link', target), target);
});

test('a name is rendered as text, with escapes for other bytes', (t) => {
  t.is(sanitizeName(Buffer.from('a é 日本 😀').toString('latin1')), 'a é 日本 😀');
  t.is(sanitizeName('\x1b[31m\n\x00\x7f\xe9\xc3('), '\\x1b[31m\\x0a\\x00\\x7f\\xe9\\xc3(');
  // A right-to-left override and a non-character: valid UTF-8, yet not for a log or for XML.
  t.is(sanitizeName(Buffer.from('\u202e\uffff').toString('latin1')), '\\xe2\\x80\\xae\\xef\\xbf\\xbf');
});

test('a long name is truncated to 200 characters', (t) => {
  t.is(sanitizeName('n'.repeat(1000)), `${'n'.repeat(200)}…`);
  t.is(sanitizeName(Buffer.from('😀'.repeat(300)).toString('latin1')), `${'😀'.repeat(100)}…`);
  t.is(sanitizeName('n'.repeat(200)), 'n'.repeat(200));
});
