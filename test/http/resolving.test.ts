import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { contentId } from '../../src/swhid/content.ts';
import { type Directory, directoryBody, directoryId, type Leaf } from '../../src/swhid/directory.ts';
import { gitObjectId } from '../../src/swhid/git-object.ts';
import { tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { ATOM, child, DEPOSIT, parsedBody, texts } from '../../testing/documents/parsed-body.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archiveHeaders,
  archivePart,
  entryPart,
  final,
  formOf,
  formType,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { damageObject } from '../../testing/service/engines-under-test.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { accepted, directoryOf, membersOf } from '../archives/reading.ts';

type Context = {
  service: RunningService;
  alice: TestClient;
  bob: TestClient;
  own: Ids;
  other: Ids;
  bobs: Ids;
};
const test = anyTest as TestFn<Context>;

/** Ids of a deposit; those of its directory, revision and snapshot are SWHIDs. */
type Ids = { id: number; dir: string; rev: string; snp: string; origin: string; tail: string };

const BYTES = 'application/octet-stream';
const TAR = 'application/x-tar';

const noise = Buffer.alloc(500_000, createHash('sha512').update('noise').digest());
const longName = `${'long-'.repeat(30)}name.txt`;
const awkward = Buffer.from('caf\xe9 \\ 100%;x', 'latin1');

const first = zipOf([
  { name: 'demo/readme.md', data: 'the first readme\n' },
  { name: 'demo/src/main.py', data: 'print("one")\n' },
  { name: 'demo/stored.bin', data: noise, method: 0 },
  { name: 'demo/deflated.bin', data: Buffer.concat([noise, noise]) },
  { name: 'demo/nothing', data: '' },
]);
const second = gzipSync(
  tarOf([
    { name: 'demo/', type: '5', mode: 0o755 },
    { name: 'demo/readme.md', data: 'not the last one\n' },
    { name: 'demo/readme.md', data: 'the last readme!\n' },
    { name: 'demo/src/run.sh', data: '#!/bin/sh\n', mode: 0o755 },
    { name: 'demo/src/again.sh', type: '1', linkName: 'demo/src/run.sh', mode: 0o755 },
    { name: 'demo/src/link', type: '2', linkName: 'main.py' },
    { name: 'demo/empty/', type: '5', mode: 0o755 },
    { name: 'demo/deep/', type: '5' },
    { name: 'x', type: 'L', data: `demo/deep/${longName}\0` },
    { name: 'demo/deep/long', data: 'long\n' },
    { name: Buffer.concat([Buffer.from('demo/deep/'), awkward]), data: 'awkward\n' },
    { name: 'demo/deep/C:drive', data: 'drive\n' },
    { name: 'demo/large.bin', data: Buffer.concat([noise, Buffer.from('!')]) },
  ]),
);

const tree = directory({
  demo: directory({
    'readme.md': leaf('the last readme!\n'),
    'stored.bin': leaf(noise),
    'deflated.bin': leaf(Buffer.concat([noise, noise])),
    nothing: leaf(''),
    'large.bin': leaf(Buffer.concat([noise, Buffer.from('!')])),
    src: directory({
      'main.py': leaf('print("one")\n'),
      'run.sh': leaf('#!/bin/sh\n', '100755'),
      'again.sh': leaf('#!/bin/sh\n', '100755'),
      link: leaf('main.py', '120000'),
    }),
    empty: directory({}),
    deep: directory({
      [longName]: leaf('long\n'),
      [awkward.toString('latin1')]: leaf('awkward\n'),
      'C:drive': leaf('drive\n'),
    }),
  }),
});

function directory(entries: Record<string, Leaf | Directory>): Directory {
  return new Map(Object.entries(entries));
}

function leaf(data: string | Buffer, mode: Leaf['mode'] = '100644'): Leaf {
  return { mode, id: contentId(Buffer.from(data)) };
}

function at(...names: string[]): Leaf | Directory {
  return names.reduce<Leaf | Directory>(
    (place, name) => (place as Directory).get(name) as Leaf | Directory,
    tree,
  );
}

function idAt(...names: string[]): string {
  const found = at(...names);
  return found instanceof Map ? directoryId(found) : found.id;
}

test.before(async (t) => {
  const service = await RunningService.start();
  const options = { collections: ['software', 'papers'], providerUrl: 'https://alice.example/' };
  const alice = await service.register('alice', options);
  const bob = await service.register('bob', { collections: ['software'] });
  const own = await deposited(alice, 'a;b%20c');
  const other = await deposited(alice, 'other');
  const bobs = await deposited(bob, 'bobs');
  t.context = { service, alice, bob, own, other, bobs };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

async function deposited(client: TestClient, slug: string): Promise<Ids> {
  const form = formOf([archivePart(first), entryPart()]);
  const slugHeader = { Slug: encodeURIComponent(slug) };
  const receipt = await client.post('/1/software/', form, { ...formType, ...partial, ...slugHeader });
  const id = Number(child(parsedBody(await receipt.text()), `${DEPOSIT}deposit_id`).text);
  const media = `/1/software/${id}/media/`;
  await client.post(media, second, { ...archiveHeaders('second.tar.gz', 'application/gzip'), ...final });
  const status = parsedBody(await client.waitFor(`/1/software/${id}/status/`, 'done'));
  const context = child(status, `${DEPOSIT}deposit_ref_id_context`).text;
  const [dir = '', origin = '', visit = '', anchor = ''] = context.split(';');
  const [snp, rev] = [visit, anchor].map((part) => part.slice(part.indexOf('=') + 1));
  return {
    id,
    dir,
    rev: rev ?? '',
    snp: snp ?? '',
    origin: origin.slice('origin='.length),
    tail: `;${origin};${visit};${anchor}`,
  };
}

async function bytesOf(
  t: ExecutionContext,
  client: TestClient,
  target: string,
  Accept = BYTES,
): Promise<Buffer> {
  const answer = await client.get(`/1/resolve/${target}`, { Accept });
  t.is(answer.status, 200, target);
  t.is(answer.headers.get('content-type'), Accept);
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (answer.headers.has('content-length')) t.is(answer.headers.get('content-length'), String(bytes.length));
  return bytes;
}

const CONTENTS: readonly (readonly [path: string, data: string | Buffer])[] = [
  ['demo/readme.md', 'the last readme!\n'],
  ['demo/src/main.py', 'print("one")\n'],
  ['demo/src/run.sh', '#!/bin/sh\n'],
  ['demo/src/again.sh', '#!/bin/sh\n'],
  ['demo/src/link', 'main.py'],
  ['demo/stored.bin', noise],
  ['demo/deflated.bin', Buffer.concat([noise, noise])],
  ['demo/large.bin', Buffer.concat([noise, Buffer.from('!')])],
  ['demo/nothing', ''],
  [`demo/deep/${longName}`, 'long\n'],
  ['demo/deep/caf%E9%20%5C%20100%25%3Bx', 'awkward\n'],
];

for (const [path, data] of CONTENTS) {
  test(`the content ${path.slice(0, 40)} is returned as deposited, with its path and without`, async (t) => {
    const { alice, own } = t.context;
    const expected = Buffer.from(data);
    const swhid = `swh:1:cnt:${contentId(expected)}`;
    for (const target of [
      `${swhid}${own.tail};path=/${path}`,
      encodeURIComponent(`${swhid}${own.tail};path=/${path}`),
      `${swhid};anchor=${own.rev}`,
    ]) {
      t.true((await bytesOf(t, alice, target)).equals(expected), target);
    }
  });
}

test('the returned bytes of every object type hash to its id, also with git', async (t) => {
  const { alice, own } = t.context;
  const hasGit = spawnSync('git', ['--version']).status === 0;
  const objects = [
    [`swh:1:cnt:${idAt('demo', 'readme.md')}`, 'blob', own.tail],
    [own.dir, 'tree', ''],
    [`swh:1:dir:${idAt('demo', 'src')}`, 'tree', own.tail],
    [`swh:1:dir:${idAt('demo', 'empty')}`, 'tree', own.tail],
    [own.rev, 'commit', ''],
    [own.snp, 'snapshot', own.tail.replace(/;anchor.*/, '')],
  ] as const;
  for (const [swhid, type, qualifiers] of objects) {
    const bytes = await bytesOf(t, alice, swhid + qualifiers);
    t.is(gitObjectId(type, bytes), swhid.slice(-40), swhid);
    if (!hasGit || type === 'snapshot') continue;
    const args = ['hash-object', '-t', type, '--stdin', '--literally'];
    t.is(spawnSync('git', args, { input: bytes }).stdout.toString().trim(), swhid.slice(-40));
  }
  t.is(own.dir, `swh:1:dir:${directoryId(tree)}`, 'the deposited archive is that of this test');
  t.true((await bytesOf(t, alice, own.dir)).equals(directoryBody(tree)));
});

test('a directory is returned as a reproducible tar with the same identifier', async (t) => {
  const { alice, own } = t.context;
  for (const names of [[], ['demo'], ['demo', 'src'], ['demo', 'deep']]) {
    const swhid = `swh:1:dir:${idAt(...names)}`;
    const target = names.length === 0 ? swhid : `${swhid}${own.tail};path=/${names.join('/')}/`;
    const tar = await bytesOf(t, alice, target, TAR);
    const reading = await accepted(t, tar);
    t.is(`swh:1:dir:${directoryOf(tar, reading)}`, swhid, names.join('/'));
    t.true((await bytesOf(t, alice, target, TAR)).equals(tar), 'deterministic');
  }
  const whole = membersOf(await accepted(t, await bytesOf(t, alice, own.dir, TAR)));
  const modes = new Map(whole);
  t.is(modes.get('demo/src/run.sh'), '100755');
  t.is(modes.get('demo/src/link'), '120000');
  t.is(modes.get('demo/empty'), '40000');
});

test("the tar of a directory is extracted by the system's tar", async (t) => {
  const { alice, own } = t.context;
  if (spawnSync('tar', ['--version']).status !== 0) return t.pass('no tar here');
  const input = await bytesOf(t, alice, own.dir, TAR);
  const listed = spawnSync('tar', ['--list', '--verbose', '--numeric-owner', '--file=-'], { input });
  t.is(listed.status, 0, listed.stderr.toString());
  t.regex(listed.stdout.toString(), /^-rwxr-xr-x 0\/0 +10 1970-01-01 \d\d:\d\d \.\/demo\/src\/again\.sh$/m);
  t.regex(
    listed.stdout.toString(),
    /^hrwxr-xr-x .* \.\/demo\/src\/run\.sh link to \.\/demo\/src\/again\.sh$/m,
  );
});

test('the document lists the object and the deposits that contain it, newest first', async (t) => {
  const { alice, own, other, service } = t.context;
  const answer = await alice.get(`/1/resolve/${own.dir}/`);
  t.is(answer.status, 200);
  t.is(answer.headers.get('content-type'), 'application/xml');
  const entry = parsedBody(await answer.text());
  t.is(entry.name, `${ATOM}entry`);
  t.is(child(entry, `${ATOM}id`).text, own.dir);
  t.is(child(entry, `${DEPOSIT}object_type`).text, 'directory');
  t.is(child(entry, `${DEPOSIT}path`).text, '/');
  const found = entry.children.filter(({ name }) => name === `${DEPOSIT}deposit`);
  t.deepEqual(
    found.map((one) => [child(one, `${DEPOSIT}id`).text, child(one, `${DEPOSIT}status_iri`).text]),
    [other, own].map(({ id }) => [String(id), `${service.url}/1/software/${id}/status/`]),
  );
  t.deepEqual(texts(entry, `${DEPOSIT}deposit`).length, 2);

  for (const { attributes } of entry.children.filter(({ name }) => name === `${ATOM}link`)) {
    const linked = await alice.get(attributes['href'] ?? '', {
      Accept: attributes['type'] ?? 'application/xml',
    });
    t.is(linked.headers.get('content-type'), attributes['type'] ?? 'application/xml');
    await linked.arrayBuffer();
  }

  const older = await alice.get(`/1/resolve/${own.dir}/?below=${other.id}`, { Accept: 'application/json' });
  const { deposits, links } = (await older.json()) as {
    deposits: { id: number; swhid_context: string }[];
    links: { rel: string; href: string }[];
  };
  t.deepEqual(
    deposits.map(({ id, swhid_context: context }) => [id, context]),
    [[own.id, `${own.dir}${own.tail};path=/`]],
  );
  t.is(links.find(({ rel }) => rel === 'self')?.href, older.url, 'the page itself, not the first one');
});

test('the page of an object names its formats, and the deposits that contain it', async (t) => {
  const { alice, own, other } = t.context;
  const page = await (await alice.get(`/1/resolve/${own.dir}/`, { Accept: 'text/html' })).text();
  t.regex(page, />Other format, application\/x-tar<\/a>/);
  for (const { id } of [own, other]) t.true(page.includes(`<li><dl><dt>Deposit</dt><dd><bdi>${id}</bdi>`));
  t.true(page.includes(`<dt>Origin</dt><dd><a href="${other.origin}"`));
  t.true(page.includes(`<dt>SWHID</dt><dd><bdi>${own.dir}</bdi>`));
});

test('origin, visit and anchor select the deposit, and lines and bytes are returned', async (t) => {
  const { alice, own, other } = t.context;
  const json = async (target: string) => {
    const answer = await alice.get(target.startsWith('http') ? target : `/1/resolve/${target}`, {
      Accept: 'application/json',
    });
    t.is(answer.status, 200, target);
    return (await answer.json()) as Record<string, unknown> & {
      deposits: { id: number; origin_url: string }[];
    };
  };
  for (const [target, id] of [
    [`${own.dir};origin=${own.origin}`, own.id],
    [`${own.dir};origin=${other.origin}`, other.id],
    [encodeURIComponent(`${own.dir};origin=${own.origin}`), own.id],
    [`${own.dir};visit=${own.snp}`, own.id],
    [`${own.dir};anchor=${other.rev};path=/`, other.id],
    [own.rev, own.id],
    [`${other.snp};origin=${other.origin}`, other.id],
    [`swh:1:dir:${idAt('demo')};anchor=${own.snp}`, own.id],
  ] as const) {
    t.deepEqual(
      (await json(target)).deposits.map((one) => one.id),
      [id],
      target,
    );
  }
  t.is((await json(own.rev)).deposits[0]?.origin_url, 'https://alice.example/a%3Bb%2520c');
  const readme = `swh:1:cnt:${idAt('demo', 'readme.md')}`;
  t.like(await json(`${readme};anchor=${own.dir};path=/demo/readme.md;lines=1-2;bytes=0-9`), {
    object_type: 'content',
    path: '/demo/readme.md',
    length: 17,
    mode: '100644',
    lines: '1-2',
    bytes: '0-9',
  });
  const { links } = (await json(`${readme};visit=${own.snp};path=/demo/readme.md`)) as unknown as {
    links: { rel: string; href: string }[];
  };
  t.deepEqual(
    links.map(({ rel }) => rel),
    ['self', 'alternate'],
  );
  t.like(await json(links[0]?.href ?? ''), { swhid: readme, links });
  const found = await json(`swh:1:cnt:${idAt('demo', 'src', 'run.sh')};visit=${own.snp}`);
  t.like(found, { path: '/demo/src/again.sh', mode: '100755' });
});

test('objects of another client, unknown ones and wrong paths get the same response', async (t) => {
  const { alice, bob, own, other, bobs } = t.context;
  const readme = `swh:1:cnt:${idAt('demo', 'readme.md')}`;
  const nobodys = '0'.repeat(40);
  const absent = [
    [bob, own.rev],
    [bob, own.snp],
    [alice, bobs.rev],
    [bob, `${own.dir}${own.tail}`],
    [bob, `${readme};anchor=${own.rev}`],
    [alice, `swh:1:dir:${nobodys}`],
    [alice, `swh:1:rel:${own.rev.slice(-40)}`],
    [alice, `${own.dir};anchor=swh:1:rel:${nobodys}`],
    [alice, `swh:1:snp:${own.rev.slice(-40)}`],
    [alice, `swh:1:dir:${idAt('demo')};origin=https://elsewhere.example/`],
    [bob, `swh:1:cnt:${nobodys}`],
    [alice, `${own.dir};path=/demo`],
    [alice, `${own.dir};anchor=${own.rev};path=/demo`],
    [alice, `${own.rev};visit=${other.snp}`],
    [alice, `${own.rev};origin=${other.origin}`],
    [alice, `${readme};anchor=${own.rev};path=/demo/src/main.py`],
    [alice, `${readme};anchor=${own.rev};path=/demo`],
    [alice, `swh:1:cnt:${idAt('demo')};anchor=${own.rev}`],
    [alice, `swh:1:cnt:${contentId(Buffer.from('the first readme\n'))};anchor=${own.rev}`],
    [alice, `swh:1:cnt:${contentId(Buffer.from('not the last one\n'))};anchor=${own.rev}`],
  ] as const;
  for (const [client, target] of absent) {
    for (const Accept of ['application/xml', BYTES]) {
      const answer = await client.get(`/1/resolve/${target}`, { Accept });
      const body = await answer.clone().text();
      await assertSwordError(t, answer, 404, 'NotFound', target);
      t.regex(body, /No deposit of this client that is done has /);
    }
  }
  t.is((await bob.get(`/1/resolve/${own.dir}`)).status, 200, 'bob has deposited the same content');
});

test('a content or directory inside a deposit is found in the newest trees without a context', async (t) => {
  const { alice, own, other } = t.context;
  const [readme, demo] = [`swh:1:cnt:${idAt('demo', 'readme.md')}`, `swh:1:dir:${idAt('demo')}`];
  const answer = await alice.get(`/1/resolve/${readme}`, { Accept: 'application/json' });
  const found = (await answer.json()) as { path: string; deposits: { id: number }[] };
  t.deepEqual([answer.status, found.path], [200, '/demo/readme.md']);
  t.deepEqual(found.deposits.map(({ id }) => id).includes(own.id), true);
  const bytes = await alice.get(`/1/resolve/${readme}`, { Accept: BYTES });
  t.is(contentId(Buffer.from(await bytes.arrayBuffer())), idAt('demo', 'readme.md'));
  const inner = await alice.get(`/1/resolve/${demo};origin=${other.origin}`, { Accept: 'application/json' });
  const { deposits } = (await inner.json()) as { deposits: { id: number }[] };
  t.deepEqual(
    deposits.map(({ id }) => id),
    [other.id],
    'of that origin only',
  );
});

test('a refusal names the SWHID without the trailing slash of the path', async (t) => {
  const { alice } = t.context;
  const absent = `swh:1:dir:${'0'.repeat(40)}`;
  const notFound = await assertSwordError(t, await alice.get(`/1/resolve/${absent}/`), 404, 'NotFound');
  t.true(notFound.startsWith(`No deposit of this client that is done has "${absent}"`), notFound);
  const answer = await alice.get('/1/resolve/swh:1:dir:123/');
  t.regex(await answer.text(), /"swh:1:dir:123" is not a SWHID/);
});

test('a refusal advises to name an anchor only where that finds more', async (t) => {
  const { alice } = t.context;
  const zeros = '0'.repeat(40);
  for (const [target, isAdvised] of [
    [`swh:1:cnt:${zeros}`, true],
    [`swh:1:dir:${zeros}`, true],
    [`swh:1:cnt:${zeros};anchor=swh:1:rev:${zeros}`, false],
    [`swh:1:dir:${zeros};visit=swh:1:snp:${zeros}`, false],
    [`swh:1:rev:${zeros}`, false],
    [`swh:1:snp:${zeros}`, false],
    [`swh:1:rel:${zeros}`, false],
  ] as const) {
    const answer = await alice.get(`/1/resolve/${target}/`);
    const summary = await assertSwordError(t, answer, 404, 'NotFound', target);
    t.is(summary.includes('add ;anchor='), isAdvised, target);
  }
});

test('an invalid SWHID is a bad request', async (t) => {
  const { alice, own } = t.context;
  for (const target of [
    'x',
    'swh:1:dir:123',
    `swh:2:dir:${own.dir.slice(-40)}`,
    own.dir.toUpperCase(),
    `${own.dir};what=1`,
    `${own.dir};lines=1`,
    `${own.dir};origin=`,
    `${own.rev};path=/x`,
    `swh:1:cnt:${idAt('demo', 'readme.md')};anchor=${own.rev};bytes=9-1`,
    `${own.dir}%zz`,
  ]) {
    await assertSwordError(t, await alice.get(`/1/resolve/${target}`), 400, 'ErrorBadRequest', target);
  }
  await assertSwordError(t, await alice.get(`/1/resolve/${own.dir}?below=x`), 400, 'ErrorBadRequest');
  await assertSwordError(t, await alice.put(`/1/resolve/${own.dir}`, 'x'), 405, 'MethodNotAllowed');
});

test('HEAD describes the bytes without reading them, and a current entity tag gets 304', async (t) => {
  const { alice, own } = t.context;
  const target = `/1/resolve/swh:1:cnt:${idAt('demo', 'stored.bin')};anchor=${own.rev}`;
  const head = await alice.send('HEAD', target, { headers: { Accept: BYTES } });
  t.deepEqual([head.status, head.headers.get('content-length')], [200, String(noise.length)]);
  const tag = head.headers.get('etag') ?? '';
  const same = await alice.get(target, { Accept: BYTES, 'If-None-Match': tag });
  t.deepEqual([same.status, await same.text()], [304, '']);
  const mine = (tags: string) => alice.get(target, { Accept: BYTES, 'If-Match': tags });
  for (const tags of [tag, '*', `"x", ${tag}`]) t.is((await mine(tags)).status, 200, tags);
  await assertSwordError(t, await mine('"x"'), 412, 'ETagNotMatched');
  const tar = await alice.send('HEAD', `/1/resolve/${own.dir}`, { headers: { Accept: TAR } });
  t.deepEqual([tar.status, tar.headers.get('content-type')], [200, TAR]);
});

test('a corrupt object is not returned as if it were complete', async (t) => {
  const service = await RunningService.start();
  await using _service = service;
  const dana = await service.register('dana', { collections: ['software'] });
  const { rev, dir } = await deposited(dana, 'damaged');
  const target = `/1/resolve/swh:1:cnt:${idAt('demo', 'stored.bin')};anchor=${rev}`;
  t.is((await dana.get(target, { Accept: BYTES })).status, 200);
  const sha256 = createHash('sha256').update(first).digest('hex');
  const at = first.indexOf(noise) + noise.length - 1;
  await damageObject(service.folder, sha256, (bytes) => bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at));
  // It is detected at the end of the object, which may be before the answer has begun, or after.
  for (const read of [
    () => dana.get(target, { Accept: BYTES }),
    () => dana.get(`/1/resolve/${dir}`, { Accept: TAR }),
  ]) {
    const answer = await read();
    if (answer.status === 200) await t.throwsAsync(answer.arrayBuffer());
    else t.is(answer.status, 500);
  }
  await service.service.store.remove(sha256);
  const missing = await dana.get(target, { Accept: BYTES });
  await assertSwordError(t, missing, 500, 'InternalError');
  for (const [at, accept] of [
    [target, BYTES],
    [`/1/resolve/${dir}`, TAR],
  ] as const)
    t.is((await dana.send('HEAD', at, { headers: { Accept: accept } })).status, 500, accept);
});

test('a client without a grant for the collection cannot resolve its objects either', async (t) => {
  const { service } = t.context;
  const carol = await service.register('carol', { collections: ['papers', 'software'] });
  const { rev } = await deposited(carol, 'revoked');
  t.is((await carol.get(`/1/resolve/${rev}`)).status, 200);
  await service.administration.client({ type: 'RevokeCollection', client: 'carol', collection: 'software' });
  for (;;) {
    const answer = await carol.get(`/1/resolve/${rev}`);
    if (answer.status === 404) break;
    t.is(answer.status, 200);
  }
});
