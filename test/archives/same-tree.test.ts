import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import type { ArchiveListing } from '../../src/archives/archive-reader.ts';
import { decodeEntry, decodeListing } from '../../src/archives/tree/deposit-tree.ts';
import { mergeListings } from '../../src/archives/tree/merge-archives.ts';
import { paxHeader, type TarSpec, tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { demoFiles, demoTar, demoTarBzip2, demoTarXz } from '../../testing/archives/demo-tars.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { archiveBytes, vectors } from '../swhid/vectors.ts';
import { accepted, directoryOf, inspect, membersOf } from './reading.ts';

const demoZip = zipOf([...demoFiles, { name: 'demo/empty/' }]);

const demos = { demoZip, demoTar, demoTarGzip: gzipSync(demoTar), demoTarBzip2, demoTarXz };
for (const [name, bytes] of Object.entries(demos)) {
  test(`${name} has the directory id that git computes for its tree`, async (t) => {
    // Computed once with `git mktree`, which keeps the empty directory.
    t.is(directoryOf(bytes, await accepted(t, bytes)), '63646f3069966257f2a79c4b17b2476e46b242ea');
  });
}

const tarsReadAsGnuTarDoes = {
  'with a first name that begins like a zip': tarOf([{ name: 'PKGBUILD', data: 'pkgname=paint' }]),
  'with a file whose name ends with a slash': tarOf([
    { name: 'folder/', type: '0' },
    { name: 'folder/f', data: 'x' },
  ]),
  'with a GNU long name before a pax path': tarOf([
    { name: '././@LongLink', type: 'L', data: 'long\0' },
    paxHeader({ path: 'wins' }),
    { name: 'short', data: 'x' },
  ]),
};
for (const [name, tar] of Object.entries(tarsReadAsGnuTarDoes)) {
  test(`a tar ${name} has the same directory id for the Python verifier, if it is installed`, async (t) => {
    const directory = directoryOf(tar, await accepted(t, tar));
    if (spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status !== 0)
      return t.pass('it does not exist');
    const file = path.join(await temporaryFolder(t), 'paint.tar');
    await writeFile(file, tar);
    const identifiers = path.join(import.meta.dirname, '../../docs/auditing/identifiers.py');
    const { stdout } = spawnSync('python3', ['-B', identifiers, file], { encoding: 'utf8' });
    t.is(stdout, `swh:1:dir:${directory}\n`);
  });
}

test('compressed tars may consist of several streams', async (t) => {
  const halves = [demoTar.subarray(0, 777), demoTar.subarray(777)];
  const gzip = Buffer.concat([...halves.map((half) => gzipSync(half)), Buffer.alloc(5)]);
  t.deepEqual(membersOf(await accepted(t, gzip)), membersOf(await accepted(t, demoTar)));
  for (const twice of [demoTarBzip2, demoTarXz]) {
    const inspection = await inspect(Buffer.concat([twice, twice]));
    // The second tar is read, and refused because it comes after the end of the first.
    t.deepEqual(inspection.outcome === 'refused' && inspection.faults.map(({ code }) => code), [
      'TRAILING_BYTES',
    ]);
  }
});

for (const vector of vectors.archives) {
  test(`the archive ${vector.id} has the directory id of other implementations, or is refused`, async (t) => {
    const bytes = archiveBytes(vector);
    const inspection = await inspect(bytes);
    const found =
      inspection.outcome === 'accepted' ? `swh:1:dir:${directoryOf(bytes, inspection)}` : 'reject';
    t.is(found, vector.expected);
  });
}

for (const vector of vectors.merges) {
  test(`the archives of ${vector.id} merge to the directory id of other implementations`, async (t) => {
    const merged = mergeListings(
      await Promise.all(vector.archives.map(async (one) => listed(t, archiveBytes(one)))),
    );
    t.is(merged.outcome === 'accepted' && `swh:1:dir:${merged.directory}`, vector.expected);
  });
}

for (const vector of vectors.mode_mapping) {
  test(`the mode ${vector.mode_octal} is ${vector.tar_or_disk_after_normalisation} in a tar and ${vector.zip} in a zip`, async (t) => {
    const mode = Number.parseInt(vector.mode_octal, 8);
    const tar = await accepted(t, tarOf([{ name: 'f', data: 'x', mode: mode & 0o7777 }]));
    t.deepEqual(membersOf(tar), [['f', vector.tar_or_disk_after_normalisation]]);
    t.deepEqual(membersOf(await accepted(t, zipOf([{ name: 'f', data: 'x', mode }]))), [['f', vector.zip]]);
  });
}

test('a manifest lists every path of the tree in byte order, with the source of its bytes', async (t) => {
  const first = await listed(
    t,
    tarOf([
      { name: 'a.b', data: '1' },
      { name: 'a/x', data: '2', mode: 0o755 },
      { name: 'é', type: '5' },
    ]),
  );
  const second = await listed(t, zipOf([{ name: 'a/x', data: 'new' }]));
  const merged = mergeListings([first, second]);
  if (merged.outcome === 'refused') return t.fail();
  const [header = '', ...lines] = Buffer.from(merged.manifest).toString('latin1').trimEnd().split('\n');
  t.deepEqual(JSON.parse(header), {
    manifest: 1,
    directory: merged.directory,
    files: 2,
    bytes: 4,
    archives: [first.sha256, second.sha256],
  });
  const found = lines
    .map(decodeEntry)
    .map((entry) => [entry.path, entry.mode, 'archive' in entry ? entry.archive : undefined]);
  t.deepEqual(found, [
    ['a', '40000', undefined],
    ['a.b', '100644', first.sha256],
    ['a/x', '100644', second.sha256],
    ['Ã©', '40000', undefined],
  ]);
  t.regex(Buffer.from(merged.manifest).toString(), /"path":"%C3%A9"/);
});

test('a listing has the same bytes in every release', async (t) => {
  const inner = zipOf([{ name: 'a', data: '1' }]);
  const tar = tarOf([
    { name: 'é/', type: '5' },
    { name: 'é/x', data: '2', mode: 0o755 },
    { name: 'in.zip', data: inner },
  ]);
  const { sha256, listing } = await listed(t, tar);
  const [id, zip] = [gitId('2'), gitId(inner)];
  t.is(
    Buffer.from(listing).toString(),
    `{"listing":1,"format":"tar","archive":"${sha256}"}
{"path":"%C3%A9","mode":"40000"}
{"path":"%C3%A9/x","mode":"100755","id":"${id}","length":1,"sha256":"${hash('sha256', '2')}","archive":false}
{"path":"in.zip","mode":"100644","id":"${zip}","length":${inner.length},"sha256":"${hash('sha256', inner)}","archive":true}
`,
  );
});

function gitId(bytes: string | Buffer): string {
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), Buffer.from(bytes)]));
}

test('a listing returns names with any bytes', async (t) => {
  const bytes = Array.from({ length: 255 }, (_, index) => index + 1).filter(
    (byte) => byte !== 0x2f && byte !== 0x5c,
  );
  const members = bytes.map((byte): TarSpec => ({ name: Buffer.from([0x61, 0x61, byte]), data: 'x' }));
  const { listing } = await accepted(t, tarOf(members));
  t.deepEqual(
    [...decodeListing(listing)].map(({ path }) => path.charCodeAt(2)),
    bytes,
  );
  t.true(listing.every((byte) => byte === 0x0a || (byte >= 0x20 && byte < 0x7f)));
});

test('a file or link in one archive and a directory in another conflict, and both are named', async (t) => {
  const file = { name: 'file.zip', ...(await listed(t, tarOf([{ name: 'a', data: 'x' }]))) };
  const link = { name: 'link.zip', ...(await listed(t, tarOf([{ name: 'a', type: '2', linkName: 'b' }]))) };
  const deep = [{ name: 'z' }, { name: 'a/b/c', data: 'x' }, { name: 'a/d' }];
  const below = { name: 'below.zip', ...(await listed(t, tarOf(deep))) };
  const empty = { name: 'empty.zip', ...(await listed(t, tarOf([{ name: 'a', type: '5' }]))) };
  const other = { name: 'other.zip', ...(await listed(t, tarOf([{ name: 'z', data: 'z' }]))) };
  const cases: [ArchiveListing[], string][] = [
    [[other, file, below], 'is a file in file.zip and a directory in below.zip'],
    [[other, below, file], 'is a directory in below.zip and a file in file.zip'],
    [[link, other, empty], 'is a link in link.zip and a directory in empty.zip'],
    [[empty, below, link], 'is a directory in empty.zip and a link in link.zip'],
  ];
  for (const [listings, text] of cases) {
    const faults = [{ code: 'PATH_CONFLICT', text: `The path “a” ${text} (conflict).` }];
    t.deepEqual(mergeListings(listings), { outcome: 'refused', faults });
  }
  const [nameless] = cases[0]![0].slice(1).map(({ sha256, listing }) => ({ sha256, listing }));
  t.like(mergeListings([nameless!, empty]), {
    faults: [{ text: `The path “a” is a file in ${file.sha256} and a directory in empty.zip (conflict).` }],
  });
});

test('all conflicting archives are found together', async (t) => {
  const names = Array.from({ length: 9 }, (_, index) => `${index}`);
  const folders = await Promise.all(
    names.map((name) => listed(t, tarOf([{ name: 'z' }, { name: `${name}/x`, data: name }]))),
  );
  const files = await listed(t, tarOf(names.map((name) => ({ name, data: 'x' }))));
  let readings = 0;
  const listings = [...folders, files].map(({ sha256, listing }, index) => ({
    sha256,
    name: `${index}.tar`,
    get listing() {
      readings += 1;
      return listing;
    },
  }));
  const texts = names.map(
    (name) => `The path “${name}” is a directory in ${name}.tar and a file in 9.tar (conflict).`,
  );
  t.like(mergeListings(listings), { faults: texts.map((text) => ({ text })) });
  t.true(readings <= 2 * listings.length, `${readings} for ${listings.length} listings`);
});

async function listed(t: Parameters<typeof accepted>[0], bytes: Buffer): Promise<ArchiveListing> {
  return { sha256: hash('sha256', bytes), listing: (await accepted(t, bytes)).listing };
}
