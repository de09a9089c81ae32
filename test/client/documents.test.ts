import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { folderIdentifier } from '../../client/archives/folder-identifier.ts';
import { folderMembers } from '../../client/archives/folder-members.ts';
import { identify } from '../../client/archives/identify.ts';
import { packFolder } from '../../client/archives/pack-folder.ts';
import { asciiName, prepareArchive } from '../../client/archives/prepare-archive.ts';
import { PreparedCache } from '../../client/archives/prepared-cache.ts';
import { READING_LIMITS } from '../../client/archives/unpacked-limits.ts';
import { entryFrom, madeEntry } from '../../client/deposit/entry.ts';
import { readReceipt } from '../../client/documents/deposit-documents.ts';
import { announcedDigests } from '../../client/documents/digests.ts';
import { readServiceDocument } from '../../client/documents/service-document.ts';
import { child, readXml, textOf, UnreadableAnswer } from '../../client/documents/xml-tree.ts';
import { Fault, UsageFault } from '../../client/faults.ts';
import { fileBody } from '../../client/http/bodies.ts';
import { linkInHeader, linkOfAnswer } from '../../client/http/link-header.ts';
import { TemporaryFolder } from '../../client/temporary-folder.ts';
import { contentId } from '../../src/swhid/content.ts';
import { directoryId } from '../../src/swhid/directory.ts';
import { DEFAULT_DEPOSIT_NAMESPACE } from '../../src/sword/namespaces.ts';
import { printable } from '../../src/tools/terminal/printable.ts';
import { ProgressBars } from '../../src/tools/terminal/progress-bar.ts';
import { entryFacts, readEntry } from '../../testing/documents/read-entry.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const xml = (text: string) => readXml(Buffer.from(text), 'The answer');

test('a response is parsed with any namespace prefixes', (t) => {
  const root = xml(
    '<?xml version="1.0"?><!-- c --><f:a xmlns:f="urn:1" xmlns="urn:2" x="1&#10;&quot;&#x1F3A8;"><b f:y="2">p &amp;lt; <![CDATA[<raw> &amp; ]]><c xmlns="urn:3">q</c></b><f:b/></f:a>',
  );
  t.deepEqual([root.local, root.attributes.get('x')], ['a', '1\n"🎨']);
  const [first, second] = root.children;
  t.deepEqual([first?.local, first?.text, first?.attributes.get('f:y')], ['b', 'p &lt; <raw> &amp; q', '2']);
  t.deepEqual([second?.local, first && child(first, 'c')?.text], ['b', 'q']);
  t.is(textOf(root, 'nothing', 'b'), 'p &lt; <raw> &amp; q');
});

const unreadable: Record<string, string | Buffer> = {
  'a DOCTYPE': '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
  'a DOCTYPE that declares nothing': '<!DOCTYPE a><a/>',
  'an undeclared entity': '<a>&nbsp;</a>',
  'an entity named like a property of every object': '<a>&constructor;</a>',
  'an entity in an attribute': '<a b="&x;"/>',
  'a reference to no character': '<a>&#1;</a>',
  'a lone surrogate': '<a>&#xD800;</a>',
  'tags that cross': '<a><b></a></b>',
  'no end': '<a>',
  'two roots': '<a/><b/>',
  'no element': 'hello',
  nothing: '',
  'an attribute twice': '<a b="1" b="2"/>',
  'what nests too deep': '<a>'.repeat(40) + '</a>'.repeat(40),
  'a name that would reach prototypes': '<a><__proto__>1</__proto__></a>',
  'bytes that are no UTF-8': Buffer.from('<a>\xff</a>', 'latin1'),
  'an unknown encoding': '<?xml version="1.0" encoding="nonsense"?><a/>',
};

for (const [what, document] of Object.entries(unreadable)) {
  test(`a response with ${what} is refused`, (t) => {
    const error = t.throws(() => readXml(Buffer.from(document), 'The answer'), {
      instanceOf: UnreadableAnswer,
    });
    t.regex(error?.message ?? '', /^The answer cannot be read: /);
  });
}

test('the error about a response is short, however long the response is', (t) => {
  const deep = Buffer.from('<a>'.repeat(100_000));
  const { message } = t.throws(() => readXml(deep, 'It'));
  t.true(message.length < 300, message);
});

test('parsing many character references is linear in their bytes', (t) => {
  const root = xml(`<a>${'&amp;'.repeat(200_000)}</a>`);
  t.is(root.text.length, 200_000);
});

test('a service document is parsed completely, and missing values stay undefined', (t) => {
  const read = (body: string) => readServiceDocument({ body: Buffer.from(body), iri: 'http://x/' });
  const full = read(
    '<service xmlns="http://www.w3.org/2007/app" xmlns:a="http://www.w3.org/2005/Atom" xmlns:s="http://purl.org/net/sword/terms/" xmlns:d="urn:d"><s:maxUploadSize>100</s:maxUploadSize><d:maxResumableUploadSize>200</d:maxResumableUploadSize><d:maxUnpackedSize>300</d:maxUnpackedSize><d:maxMembers>4</d:maxMembers><d:maxRatio>5</d:maxRatio><d:clientDomain>x.example</d:clientDomain><workspace><collection href="http://x/1/soft%20ware/"><a:title>T</a:title><accept>application/zip</accept><accept>application/atom+xml;type=entry</accept><d:resumableUploads>http://x/u/</d:resumableUploads><d:dryRun>true</d:dryRun></collection><collection/></workspace></service>',
  );
  t.deepEqual(full, {
    maxUploadSize: 100,
    maxResumableUploadSize: 200,
    unpackedLimits: { unpackedBytes: 300, members: 4, ratio: 5 },
    clientDomain: 'x.example',
    collections: [
      {
        iri: 'http://x/1/soft%20ware/',
        name: 'soft ware',
        title: 'T',
        accept: ['application/zip'],
        dryRun: true,
        recognisesRepeats: false,
        resumableUploads: 'http://x/u/',
      },
    ],
  });
  t.deepEqual(read('<service xmlns="http://www.w3.org/2007/app"/>'), {
    maxUploadSize: null,
    maxResumableUploadSize: null,
    unpackedLimits: READING_LIMITS,
    clientDomain: null,
    collections: [],
  });
});

test('a document that is not a service document is refused', (t) => {
  for (const body of ['<feed xmlns="http://www.w3.org/2005/Atom"/>', '<html/>']) {
    const answer = { body: Buffer.from(body), iri: 'http://x/' };
    t.throws(() => readServiceDocument(answer), {
      message: 'http://x/ is not a SWORD service document.',
    });
  }
});

test('announced digests are parsed in every format', (t) => {
  const empty = 'd41d8cd98f00b204e9800998ecf8427e';
  const md5 = { algorithm: 'md5', header: 'content-md5', digest: empty } as const;
  t.deepEqual(announcedDigests({ 'content-md5': empty.toUpperCase() }), [md5]);
  t.deepEqual(announcedDigests({ 'content-md5': '1B2M2Y8AsgTpgAmY7PhCfg==' }), [md5]);
  const [sha256, ...more] = announcedDigests({
    'repr-digest': 'id-sha-1=:AA==:, sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
    'content-md5': 'nonsense',
  });
  t.like(sha256, { algorithm: 'sha256', header: 'repr-digest' });
  t.deepEqual(more, []);
});

test('links in a header are found by their relation', (t) => {
  const header =
    '<http://x/a>; rel="first", <http://x/b?p=1,2>; title="n"; rel="start next", <http://x/c>; rel=edit';
  t.is(linkInHeader(header, 'next'), 'http://x/b?p=1,2');
  t.is(linkInHeader(header, 'edit'), 'http://x/c');
  t.is(linkInHeader(header, 'ex'), null);
  t.is(
    linkInHeader(`${'<'.repeat(9)}http://x/a>; rel=next`, 'next'),
    'http://x/a',
    'no link target contains <',
  );
});

test('addresses are resolved against their document, and an invalid one gets an error message', (t) => {
  const iri = 'http://x/1/servicedocument/';
  const service = (href: string) => ({
    iri,
    body: Buffer.from(
      `<service><workspace><collection href="${href}"><u:resumableUploads xmlns:u="urn:u">up/</u:resumableUploads></collection></workspace></service>`,
    ),
  });
  t.like(readServiceDocument(service('c/')).collections[0], {
    iri: `${iri}c/`,
    resumableUploads: `${iri}up/`,
  });
  const wrong = { instanceOf: UnreadableAnswer, message: `${iri} contains an invalid address: http://[` };
  t.throws(() => readServiceDocument(service('http://[')), wrong);
  const headers = { location: '../../2/metadata/', link: '<page2>; rel="next"' };
  const links = '<link rel="edit-media" href="media/"/><link rel="alternate" href="/1/c/2/status/"/>';
  const body = Buffer.from(`<entry>${links}<deposit_id>2</deposit_id></entry>`);
  t.like(readReceipt({ iri: 'http://x/1/c/9/metadata/', body, headers }).links, {
    edit: 'http://x/1/c/2/metadata/',
    media: 'http://x/1/c/9/metadata/media/',
    state: 'http://x/1/c/2/status/',
  });
  t.is(linkOfAnswer({ iri, headers }, 'next'), `${iri}page2`);
});

test('control characters from a server are escaped for the terminal', (t) => {
  t.is(printable('a\x1b[2Jb\u009bc\u202ed\te\nf'), 'a\\u001b[2Jb\\u009bc\\u202ed\\u0009e\nf');
});

test('metadata from options are readable by the service, with any characters', (t) => {
  const given = {
    name: 'Paint & <Co> "2"',
    author: ['Ada Lovelace <ada@example.org>', 'Grace \u{1f600}'],
    version: '1.0',
    url: 'https://acme.example/paint?a=1&b=2',
    license: ['MIT', 'https://spdx.org/licenses/MIT.html'],
    'date-published': '2026-03-01',
  };
  const entry = readEntry(Buffer.from(madeEntry(given)));
  t.like(entryFacts(entry, DEFAULT_DEPOSIT_NAMESPACE, null), {
    title: 'Paint & <Co> "2"',
    authors: ['Ada Lovelace', 'Grace \u{1f600}'],
    version: '1.0',
    urlHosts: ['acme.example', 'spdx.org'],
    datePublished: '2026-03-01',
    dateCreated: null,
  });
  t.is(entryFrom({}), null);
  for (const wrong of [{ name: 'x' }, { name: 'x', author: ['  '] }, { metadata: 'x', name: 'x' }])
    t.throws(() => entryFrom(wrong), { instanceOf: UsageFault });
});

test('metadata from options with a character that XML cannot contain are refused', (t) => {
  const given = { name: 'Paint', author: ['Ada'] };
  t.throws(() => entryFrom({ ...given, name: 'a\u0001b' }), {
    instanceOf: UsageFault,
    message: '--name contains the character U+0001, which XML cannot contain.',
  });
  t.throws(() => entryFrom({ ...given, author: ['Ada', 'Grace\ufffe'] }), {
    message: /^--author .* U\+FFFE,/,
  });
  t.throws(() => entryFrom({ ...given, description: '\ud83d' }), { message: /^--description .* U\+D83D,/ });
  const others = { ...given, exclude: ['\u0001'] };
  t.truthy(entryFrom(others), 'no option of the metadata');
  t.truthy(entryFrom({ ...given, description: 'two\r\n\tlines' }));
});

test('metadata from a file are read byte for byte', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'entry.xml');
  await writeFile(file, Buffer.from([0xff, 0xfe, 0x3c, 0]));
  t.deepEqual(Buffer.from(entryFrom({ metadata: file })?.bytes ?? []), readFileSync(file));
});

test('metadata in JSON are refused with what to give in their place', async (t) => {
  const file = path.join(await temporaryFolder(t), 'codemeta.json');
  const message = `${file} is JSON: give an Atom entry (XML) as --metadata, or options such as --name and --author.`;
  for (const start of ['\n', '\ufeff']) {
    await writeFile(file, `${start}{ "name": "Paint" }`);
    t.throws(() => entryFrom({ metadata: file }), { instanceOf: UsageFault, message });
  }
});

test('file names are converted to ASCII that servers accept', (t) => {
  const names = {
    'naïve.zip': 'naive.zip',
    '日本.tar': '__.tar',
    'a"b\\c/d': 'a_b_c_d',
    '..': 'source',
    '': 'source',
  };
  for (const [name, ascii] of Object.entries(names)) t.is(asciiName(name), ascii);
  t.is(asciiName(`${'x'.repeat(300)}.zip`).length, 255);
});

test('a file that changes while its folder is packed aborts the packing', async (t) => {
  const folder = await temporaryFolder(t);
  const options = { mtime: new Date(0), onRead: () => undefined };
  for (const [name, change] of [
    ['shorter', 'x'],
    ['longer', 'x'.repeat(2000)],
  ] as const) {
    const source = path.join(folder, name);
    await mkdir(source);
    await writeFile(path.join(source, 'before'), 'b');
    await writeFile(path.join(source, 'file'), 'x'.repeat(1000));
    const members = folderMembers(source, () => false);
    await writeFile(path.join(source, 'file'), change);
    const packing = packFolder(source, members, path.join(folder, `${name}.tar.gz`), options);
    await t.throwsAsync(packing, { message: /file changed while it was packed/ });
  }
});

const PREPARING = { exclude: [], mtime: new Date(0), limits: READING_LIMITS };

/** A file that can be opened, but not read. */
const UNREADABLE = '/proc/self/mem';
const onLinux = existsSync(UNREADABLE) ? test : test.skip;

onLinux('an archive that cannot be read is reported in a sentence', async (t) => {
  using folder = new TemporaryFolder();
  using progress = new ProgressBars();
  using cache = new PreparedCache('/nonexistent');
  const options = { ...PREPARING, folder, progress, cache, note: t.fail };
  const message = `${UNREADABLE} cannot be read: i/o error.`;
  await t.throwsAsync(prepareArchive(UNREADABLE, options, 1), { instanceOf: Fault, message });
});

test('an archive that vanishes is reported in a sentence, before it is read and before it is sent', async (t) => {
  const file = path.join(await temporaryFolder(t), 'vanished.tar');
  const vanished = { instanceOf: Fault, message: `${file} cannot be read: no such file or directory.` };
  await t.throwsAsync(identify([{ source: file, file, sha256: '' }]), vanished);
  await t.throwsAsync(Array.fromAsync(fileBody({ file, length: 1 }).pieces()), vanished);
});

test('a folder that changes while it is read has no identifier', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'file');
  for (const size of [1000, 2 ** 20, 2 ** 20 + 32, 3_000_000]) {
    await writeFile(file, Buffer.alloc(size, 'x'));
    const members = folderMembers(folder, () => false);
    const expected = directoryId(
      new Map([['file', { mode: '100644', id: contentId(readFileSync(file)) } as const]]),
    );
    t.is(folderIdentifier(folder, members), expected, String(size));
    for (const change of [size - 1, size + 1, size * 3, 0]) {
      await writeFile(file, Buffer.alloc(change, 'x'));
      const error = t.throws(() => folderIdentifier(folder, members), { instanceOf: Fault });
      t.regex(error?.message ?? '', /file changed while it was packed/, `${size}, then ${change}`);
    }
    await rm(file);
    t.throws(() => folderIdentifier(folder, members), {
      message: /file cannot be read: .*\. Correct that, or leave it out with --exclude\.$/,
    });
  }
});

/** Changes of a folder that leave the bytes of its files as they are. */
const changes: Record<string, (source: string) => unknown> = {
  'a new file': (source) => writeFileSync(path.join(source, 'new'), 'n'),
  'a new empty folder': (source) => mkdirSync(path.join(source, 'new')),
  'another mode': (source) => chmodSync(path.join(source, 'file'), 0o755),
  'another target of a link': (source) => {
    rmSync(path.join(source, 'link'));
    symlinkSync('elsewhere', path.join(source, 'link'));
  },
};
test('a folder that changes while it is packed is refused, also if its files stay as they are', async (t) => {
  for (const [change, perform] of Object.entries(changes)) {
    const source = await temporaryFolder(t);
    await writeFile(path.join(source, 'file'), 'f', { mode: 0o644 });
    await symlink('file', path.join(source, 'link'));
    let isChanged = false;
    class ChangingBars extends ProgressBars {
      override at(what: string): void {
        if (isChanged || what !== 'MB hashed') return;
        isChanged = true;
        perform(source);
      }
    }
    using folder = new TemporaryFolder();
    using progress = new ChangingBars();
    using cache = new PreparedCache(path.join(folder.path, 'none'));
    const options = { ...PREPARING, folder, progress, cache, note: t.fail };
    const archive = await prepareArchive(source, options, 1);
    const message = /changed while it was packed, from/;
    await t.throwsAsync(identify([archive]), { instanceOf: Fault, message }, change);
  }
});

test('an archive that differs from its folder is refused', async (t) => {
  const source = await temporaryFolder(t);
  using folder = new TemporaryFolder();
  using progress = new ProgressBars();
  await writeFile(path.join(source, 'file'), 'before');
  using cache = new PreparedCache(path.join(source, 'none'));
  const options = { ...PREPARING, folder, progress, cache, note: () => undefined };
  const before = await prepareArchive(source, options, 1);
  t.is((await identify([before])).outcome, 'identified');
  await writeFile(path.join(source, 'file'), 'behind');
  const { directory } = await prepareArchive(source, options, 2);
  const mixed = identify([{ ...before, ...(directory !== undefined && { directory }) }]);
  await t.throwsAsync(mixed, {
    message:
      /^The folder .* changed while it was packed, from .* to .*: try again when no process writes to it\.$/,
  });
});
