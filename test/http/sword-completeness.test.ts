import { hash } from 'node:crypto';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import {
  APP,
  ATOM,
  child,
  type Parsed,
  parsedBody,
  SWORD,
  texts,
} from '../../testing/documents/parsed-body.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  helloEntry,
  helloForm,
  helloTar,
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { makeDeposit, pathOf } from '../../testing/http/made-deposits.ts';
import { RawConnection } from '../../testing/http/raw-connection.ts';
import { swordClients } from '../../testing/http/sword-clients.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { TusUploads } from '../../testing/http/tus-uploads.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { leavesNothing } from '../../testing/service/stored-things.ts';
import { testOfService } from '../../testing/service/test-of-service.ts';

const test = testOfService({
  alice: { collections: ['software', 'papers'] },
  bob: { collections: ['software'] },
});

const DCTERMS = '{http://purl.org/dc/terms/}';
const FEED = 'application/atom+xml;type=feed';
const ORIGINAL = 'http://purl.org/net/sword/terms/originalDeposit';
const SIMPLE_ZIP = 'http://purl.org/net/sword/package/SimpleZip';
const BINARY = 'http://purl.org/net/sword/package/Binary';

const docsTar = tarOf([{ name: 'docs/readme', data: 'read me\n' }]);
const tarHeaders = (filename: string) => archiveHeaders(filename, 'application/x-tar');

function digest(bytes: Buffer | string, algorithm: 'sha256' | 'sha512' = 'sha256'): string {
  return `${algorithm.replace('sha', 'sha-')}=:${hash(algorithm, bytes, 'base64')}:`;
}

/** `/1/software/<id>/` */
async function created(
  client: TestClient,
  body: Buffer | string,
  headers: Record<string, string>,
): Promise<string> {
  const answer = await client.post('/1/software/', body, headers);
  if (answer.status !== 201) throw new Error(await answer.text());
  return pathOf(answer);
}

async function receiptOf(client: TestClient, deposit: string): Promise<Parsed> {
  return parsedBody(await (await client.get(`${deposit}metadata/`)).text());
}

function archiveLinks(receipt: Parsed): Readonly<Record<string, string>>[] {
  return receipt.children
    .filter(({ name, attributes }) => name === `${ATOM}link` && attributes['rel'] === ORIGINAL)
    .map(({ attributes }) => attributes);
}

async function bytesOf(answer: Response): Promise<Buffer> {
  return Buffer.from(await answer.arrayBuffer());
}

/** Resolves to name and number of each archive, as the receipt links to them. */
async function filesOf(client: TestClient, deposit: string): Promise<(readonly [string, number])[]> {
  return archiveLinks(await receiptOf(client, deposit)).map(
    ({ title = '', href = '' }) => [title, Number(href.split('/').at(-2))] as const,
  );
}

test.serial(
  'RFC 9530 digests are verified like an MD5: a mismatch is refused and stores nothing',
  async (t) => {
    const { alice, service } = t.context;
    const open = await makeDeposit(alice, partial);
    const uploads = [
      ['POST', '/1/software/', helloZip, archiveHeaders()],
      ['POST', '/1/software/', helloEntry, entryHeaders()],
      ['POST', '/1/software/', helloForm, formType],
      ['POST', `${open}media/`, helloZip, archiveHeaders()],
      ['PUT', `${open}media/1/`, helloZip, archiveHeaders()],
      ['PUT', `${open}metadata/`, helloEntry, entryHeaders()],
    ] as const;
    const wrong = [
      digest('other'),
      digest('other', 'sha512'),
      'sha-256=:AAAA:',
      'sha-256',
      'sha-256=:',
      '=,=',
    ];
    for (const [method, target, body, headers] of uploads) {
      for (const name of ['Content-Digest', 'Repr-Digest']) {
        for (const value of wrong) {
          await leavesNothing(t, service, async () => {
            const sent = { ...headers, ...partial, [name]: value };
            const answer = await alice.send(method, target, { body, headers: sent });
            await assertSwordError(t, answer, 412, 'ErrorChecksumMismatch', `${method} ${target} ${value}`);
          });
        }
      }
      const good = {
        'Content-Digest': digest(body),
        'Repr-Digest': `${digest(body, 'sha512')}, ${digest(body)}`,
      };
      const answer = await alice.send(method, target, { body, headers: { ...headers, ...partial, ...good } });
      t.true(answer.ok, `${method} ${target} ${await answer.text()}`);
    }
    const contradicting = { 'Content-Digest': digest(helloZip), 'Repr-Digest': digest('other') };
    const answer = await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...contradicting });
    await assertSwordError(t, answer, 412, 'ErrorChecksumMismatch');
  },
);

test('unknown digest algorithms are ignored, and of duplicate digests the last one applies', async (t) => {
  const { alice } = t.context;
  for (const value of [
    'md5=:AAAA:, unixsum=30637, a;b="x, y"',
    `sha-256=:AAAA:, ${digest(helloZip)}`.replace(':AAAA:', `:${'A'.repeat(43)}=:`),
    `sha=:AAAA:,\t${digest(helloZip)};q=1`,
  ]) {
    t.true((await begunWith(alice, { 'Repr-Digest': value })) !== '', value);
  }
});

function begunWith(client: TestClient, headers: Record<string, string>): Promise<string> {
  return created(client, helloZip, { ...archiveHeaders(), ...partial, ...headers });
}

test.serial('a part of a form has its own digests', async (t) => {
  const { alice, service } = t.context;
  const formWith = (headers: Record<string, string>) => {
    const part = archivePart();
    return formOf([{ ...part, headers: { ...part.headers, ...headers } }, entryPart()]);
  };
  await created(alice, formWith({ 'Content-Digest': digest(helloZip) }), { ...formType, ...partial });
  await leavesNothing(t, service, async () => {
    const answer = await alice.post('/1/software/', formWith({ 'Repr-Digest': digest('other') }), formType);
    await assertSwordError(t, answer, 412, 'ErrorChecksumMismatch');
  });
});

test.serial('the digests of a request that names an upload apply to the upload', async (t) => {
  const { alice, service } = t.context;
  const uploads = new TusUploads(alice);
  const upload = { ...archiveHeaders(), ...partial, Upload: await uploads.whole(helloZip) };
  await leavesNothing(t, service, async () => {
    const answer = await alice.post('/1/software/', null, { ...upload, 'Repr-Digest': digest('other') });
    await assertSwordError(t, answer, 412, 'ErrorChecksumMismatch');
  });
  const digests = { 'Content-Digest': digest(''), 'Repr-Digest': digest(helloZip, 'sha512') };
  t.is((await alice.post('/1/software/', null, { ...upload, ...digests })).status, 201);
});

test('archives are returned with their digests, and the receipt lists them', async (t) => {
  const { alice } = t.context;
  const md5 = hash('md5', helloZip);
  const deposit = await begunWith(alice, { 'Content-MD5': md5 });
  const expected = `${digest(helloZip)}, md5=:${hash('md5', helloZip, 'base64')}:`;
  for (const target of [`${deposit}media/`, `${deposit}media/1/`]) {
    const answer = await alice.get(target);
    t.deepEqual(await bytesOf(answer), helloZip);
    t.is(answer.headers.get('repr-digest'), expected);
    t.is(answer.headers.get('content-digest'), expected);
    const head = await alice.send('HEAD', target);
    t.is(head.headers.get('repr-digest'), expected);
    t.is(head.headers.get('content-digest'), null, 'no part of the request matches the digest');
    t.is(head.headers.get('content-length'), String(helloZip.length));
  }
  t.like(archiveLinks(await receiptOf(alice, deposit))[0], {
    href: `${alice.url}${deposit}media/1/`,
    type: 'application/zip',
    title: 'hello.zip',
    length: String(helloZip.length),
    'depositns:sha256': hash('sha256', helloZip),
    'depositns:md5': md5,
  });
  const plain = await begunWith(alice, {});
  t.is((await alice.get(`${plain}media/`)).headers.get('repr-digest'), digest(helloZip));
  await alice.post(`${plain}media/`, docsTar, tarHeaders('docs.tar'));
  t.is((await alice.get(`${plain}media/`)).headers.get('repr-digest'), null, 'a generated zip');
});

for (const [client, bodyOf] of Object.entries(swordClients)) {
  test(`the request of ${client} creates a deposit, adds to it and replaces it`, async (t) => {
    const { alice } = t.context;
    const { contentType, body } = bodyOf({ entry: helloEntry, archive: helloZip, filename: 'hello.zip' });
    const headers = { 'Content-Type': contentType, ...partial };
    const deposit = await created(alice, body, headers);
    t.deepEqual(await bytesOf(await alice.get(`${deposit}media/1/`)), helloZip);
    const receipt = await receiptOf(alice, deposit);
    t.is(child(receipt, `${ATOM}title`).text, 'Hello');
    t.is((await alice.post(`${deposit}metadata/`, body, headers)).status, 201);
    t.deepEqual(await filesOf(alice, deposit), [
      ['hello.zip', 1],
      ['hello.zip', 2],
    ]);
    t.is((await alice.put(`${deposit}metadata/`, body, { ...headers, ...final })).status, 204);
    t.deepEqual(await filesOf(alice, deposit), [['hello.zip', 3]]);
    await alice.waitFor(`${deposit}status/`, 'done');
  });
}

/** Returns parts in `multipart/related`, after a preamble and with a boundary that has to be quoted. */
function relatedOf(parts: readonly (readonly [headers: readonly string[], body: string | Buffer])[]): Buffer {
  const pieces = parts.flatMap(([headers, body]) => [
    '\r\n--a (b)/c=d?\r\n',
    headers.map((line) => `${line}\r\n`).join(''),
    '\r\n',
    body,
  ]);
  return Buffer.concat(
    ['For old readers.\r\n', ...pieces, '\r\n--a (b)/c=d?--\r\n'].map((piece) => Buffer.from(piece)),
  );
}

const related = (parameters = '') => ({
  'Content-Type': `Multipart/Related; boundary="a (b)/c=d?"${parameters}`,
  ...partial,
});
const payload = ['Content-Type: application/zip', 'Content-Disposition: attachment; filename=hello.zip'];

test('the root of multipart/related is an entry by the type parameter, in any position', async (t) => {
  const { alice } = t.context;
  const root = [['Content-ID: <root@alice.example>'], helloEntry] as const;
  const archive = [[...payload, 'Content-ID: <zip@alice.example>'], helloZip] as const;
  const type = '; type="application/atom+xml"; start="<root@alice.example>"; start-info=x';
  for (const [parts, parameters] of [
    [[root, archive], '; type="application/atom+xml"'],
    [[archive, root], type],
    [[root, archive], type],
  ] as const) {
    const deposit = await created(alice, relatedOf(parts), related(parameters));
    t.is(child(await receiptOf(alice, deposit), `${ATOM}title`).text, 'Hello');
    t.deepEqual(await bytesOf(await alice.get(`${deposit}media/`)), helloZip);
  }
  const media = await makeDeposit(alice, partial);
  t.is((await alice.post(`${media}media/`, relatedOf([archive]), related())).status, 201);
  const withEntry = await alice.post(`${media}media/`, relatedOf([root, archive]), related(type));
  await assertSwordError(t, withEntry, 415, 'ErrorContent');
});

test('a long invalid entry that resembles base64 is refused without delaying others', async (t) => {
  const { alice } = t.context;
  const entry = `${'A'.repeat(100)}${' '.repeat(1_000_000)}!`;
  const answer = await alice.post('/1/software/', formOf([entryPart(entry)]), formType);
  await assertSwordError(t, answer, 400, 'ErrorBadRequest');
});

test.serial(
  'base64 is decoded with lines of any length, and the digests are those of the decoded bytes',
  async (t) => {
    const { alice, service } = t.context;
    const open = await makeDeposit(alice, partial);
    const base64 = helloZip.toString('base64');
    const put = (text: string, ...headers: string[]) =>
      alice.put(
        `${open}media/`,
        relatedOf([[[...payload, 'Content-Transfer-Encoding: BASE64', ...headers], text]]),
        related(),
      );
    for (const text of [base64, base64.replace(/(.)/g, '$1\r\n'), base64.replace(/(.{7})/g, ' $1\t\r\n')]) {
      t.is(
        (await put(text, `Content-MD5: ${hash('md5', helloZip)}`, `Repr-Digest: ${digest(helloZip)}`)).status,
        204,
      );
      t.deepEqual(await bytesOf(await alice.get(`${open}media/`)), helloZip);
    }
    await leavesNothing(t, service, async () => {
      for (const bad of [`${base64}A`, `${base64.slice(0, 9)}?${base64.slice(9)}`, `AA==${base64}`, '====']) {
        await assertSwordError(t, await put(bad), 400, 'ErrorBadRequest', bad);
      }
      const otherMd5 = await put(base64, `Content-MD5: ${hash('md5', base64)}`);
      await assertSwordError(t, otherMd5, 412, 'ErrorChecksumMismatch');
      const otherPackaging = await put(base64, 'Packaging: http://purl.org/net/sword/package/METSDSpaceSIP');
      await assertSwordError(t, otherPackaging, 415, 'ErrorContent');
      const quoted = relatedOf([[[...payload, 'Content-Transfer-Encoding: quoted-printable'], helloZip]]);
      await assertSwordError(t, await alice.put(`${open}media/`, quoted, related()), 415, 'ErrorContent');
    });
  },
);

test.serial('a part that declares unchanged bytes is stored as it is', async (t) => {
  const { alice } = t.context;
  const open = await makeDeposit(alice, partial);
  for (const encoding of ['binary', '8bit', '7BIT']) {
    const form = relatedOf([[[...payload, `Content-Transfer-Encoding: ${encoding}`], helloZip]]);
    t.is((await alice.put(`${open}media/`, form, related())).status, 204, encoding);
    t.deepEqual(await bytesOf(await alice.get(`${open}media/`)), helloZip, encoding);
  }
});

test.serial('a body with mixed line endings is refused', async (t) => {
  const { alice, service } = t.context;
  const { contentType, body } = swordClients['third Python client']({
    entry: helloEntry,
    archive: helloZip,
    filename: 'a.zip',
  });
  const text = body.toString('latin1');
  const at = text.lastIndexOf('\n--', text.length - 60);
  const mixed = `${text.slice(0, at)}\r${text.slice(at).replace('==\nContent', '==\r\nContent')}`;
  await leavesNothing(t, service, async () => {
    const answer = await alice.post('/1/software/', Buffer.from(mixed, 'latin1'), {
      'Content-Type': contentType,
    });
    await assertSwordError(t, answer, 400, 'ErrorBadRequest');
  });
});

test('an archive keeps its number and its IRI when others change', async (t) => {
  const { alice } = t.context;
  const deposit = await makeDeposit(alice, partial);
  const added = await alice.post(`${deposit}media/`, helloTar, tarHeaders('second.tar'));
  t.is(added.status, 201);
  await alice.post(`${deposit}media/`, docsTar, tarHeaders('third.tar'));
  const put = await alice.put(`${deposit}media/1/`, docsTar, tarHeaders('first.tar'));
  t.deepEqual([put.status, await put.text()], [204, '']);
  t.is((await alice.delete(`${deposit}media/2/`)).status, 204);
  await alice.post(`${deposit}media/`, helloZip, archiveHeaders('fourth.zip'));
  t.deepEqual(await filesOf(alice, deposit), [
    ['first.tar', 1],
    ['third.tar', 3],
    ['fourth.zip', 4],
  ]);
  const first = await alice.get(`${deposit}media/1/`);
  t.deepEqual(await bytesOf(first), docsTar);
  t.is(first.headers.get('content-type'), 'application/x-tar');
  t.is(first.headers.get('content-disposition'), 'attachment; filename="first.tar"');
  const receipt = (await alice.get(`${deposit}metadata/`)).headers.get('etag');
  t.is(receipt, first.headers.get('etag')?.replace(/"$/, '-xml"') ?? null, 'of the same revision');
  const same = await alice.get(`${deposit}media/1/`, { 'If-None-Match': first.headers.get('etag') ?? '' });
  t.deepEqual([same.status, await same.text()], [304, '']);
  await alice.put(`${deposit}media/`, helloZip, archiveHeaders('only.zip'));
  t.deepEqual(await filesOf(alice, deposit), [['only.zip', 5]]);
  for (const gone of [1, 2, 3, 4, 6, 0, '05', 'x']) {
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await alice.send(method, `${deposit}media/${gone}/`);
      await assertSwordError(t, answer, 404, 'NotFound', `${method} ${gone}`);
    }
  }
});

test.serial(
  'a File-IRI accepts the same archives as the EM-IRI, only for a partial deposit and a matching If-Match',
  async (t) => {
    const { alice, bob, service } = t.context;
    const deposit = await makeDeposit(alice, partial);
    const file = `${deposit}media/1/`;
    const options = await alice.send('OPTIONS', file);
    t.is(options.headers.get('allow'), 'GET, HEAD, PUT, DELETE, OPTIONS');
    await leavesNothing(t, service, async () => {
      const put = (headers: Record<string, string>, body = helloZip) => alice.put(file, body, headers);
      await assertSwordError(
        t,
        await put({ ...archiveHeaders(), 'If-Match': '"1-99"' }),
        412,
        'ETagNotMatched',
      );
      await assertSwordError(t, await put({ ...archiveHeaders('a.txt', 'text/plain') }), 415, 'ErrorContent');
      await assertSwordError(t, await put(archiveHeaders(), Buffer.from('no zip')), 415, 'ErrorContent');
      await assertSwordError(t, await put(entryHeaders(), Buffer.from(helloEntry)), 415, 'ErrorContent');
      await assertSwordError(t, await put(archiveHeaders(), Buffer.of()), 400, 'ErrorBadRequest');
      await assertSwordError(t, await alice.post(file, helloZip, archiveHeaders()), 405, 'MethodNotAllowed');
      await assertSwordError(t, await bob.get(file), 404, 'NotFound');
      await assertSwordError(t, await bob.delete(file), 404, 'NotFound');
      await assertSwordError(t, await alice.get(file.replace('software', 'papers')), 404, 'NotFound');
    });
    const last = await alice.put(file, docsTar, { ...tarHeaders('last.tar'), ...final });
    t.is(last.status, 204);
    await alice.waitFor(`${deposit}status/`, 'done');
    t.deepEqual(await bytesOf(await alice.get(file.slice(0, -1))), docsTar, 'also without its slash');
    for (const refused of [await alice.put(file, docsTar, tarHeaders('x.tar')), await alice.delete(file)]) {
      await assertSwordError(t, refused, 405, 'MethodNotAllowed');
      t.is(refused.headers.get('allow'), 'GET, HEAD, OPTIONS');
    }
    const history = await (await alice.get(`${deposit}history/`)).text();
    t.regex(history, /Archive number 1 replaced by last\.tar \(\d[\d,]* bytes\)\./);
  },
);

test('of two concurrent removals of one archive one succeeds, the other gets not found', async (t) => {
  const { alice } = t.context;
  const deposit = await makeDeposit(alice, partial);
  await alice.post(`${deposit}media/`, docsTar, tarHeaders('docs.tar'));
  const answers = await Promise.all([1, 2, 3].map(() => alice.delete(`${deposit}media/1/`)));
  t.deepEqual(answers.map(({ status }) => String(status)).toSorted(), ['204', '404', '404']);
  t.deepEqual(await filesOf(alice, deposit), [['docs.tar', 2]]);
});

test('the EM-IRI returns the list of archives to feed readers, and the archives to other clients', async (t) => {
  const { alice } = t.context;
  const deposit = await makeDeposit(alice, partial);
  await alice.post(`${deposit}media/`, docsTar, tarHeaders('docs.tar'));
  for (const Accept of [FEED, 'application/atom+xml', `${FEED}, application/zip;q=0.9`]) {
    const answer = await alice.get(`${deposit}media/`, { Accept });
    t.is(answer.headers.get('content-type'), FEED, Accept);
    t.regex(answer.headers.get('vary') ?? '', /Accept/);
    const entries = parsedBody(await answer.text()).children.filter(({ name }) => name === `${ATOM}entry`);
    t.deepEqual(
      entries.map((entry) => [
        texts(entry, `${ATOM}title`)[0],
        child(entry, `${ATOM}content`).attributes['src'],
        child(entry, `${ATOM}content`).attributes['type'],
      ]),
      [
        ['hello.zip', `${alice.url}${deposit}media/1/`, 'application/zip'],
        ['docs.tar', `${alice.url}${deposit}media/2/`, 'application/x-tar'],
      ],
    );
    const [first, second] = entries.map((entry) => child(entry, `${ATOM}content`).attributes['src'] ?? '');
    t.deepEqual(await bytesOf(await alice.get(first ?? '')), helloZip);
    t.deepEqual(await bytesOf(await alice.get(second ?? '')), docsTar);
  }
  for (const Accept of [
    '*/*',
    'application/zip',
    'application/xml',
    'text/html, */*;q=0.1',
    `*/*, ${FEED};q=0.5`,
    'application/json, text/plain, */*',
  ]) {
    const answer = await alice.get(`${deposit}media/`, { Accept });
    t.is(answer.headers.get('content-type'), 'application/zip', Accept);
    t.is((await bytesOf(answer)).toString('latin1', 0, 2), 'PK');
  }
  for (const Accept of ['application/json', 'application/json, application/zip;q=0']) {
    const answer = await alice.get(`${deposit}media/`, { Accept });
    t.regex(answer.headers.get('content-type') ?? '', /^application\/json/, Accept);
    await answer.body?.cancel();
  }
  const empty = await created(alice, helloEntry, { ...entryHeaders(), ...partial });
  const feed = parsedBody(await (await alice.get(`${empty}media/`, { Accept: FEED })).text());
  t.deepEqual(texts(feed, `${ATOM}entry`), []);
  await assertSwordError(t, await alice.get(`${empty}media/`), 404, 'NotFound');
});

test('the content is returned in the requested packaging, or the request is refused', async (t) => {
  const { alice } = t.context;
  const tar = await created(alice, helloTar, { ...tarHeaders('hello.tar'), ...partial });
  const get = (packaging?: string) =>
    alice.get(`${tar}media/`, packaging === undefined ? {} : { 'Accept-Packaging': packaging });
  for (const [asked, given] of [
    [undefined, BINARY],
    [BINARY, BINARY],
    [`http://example.org/x, ${BINARY};q=0.2, ${SIMPLE_ZIP};q=0`, BINARY],
  ] as const) {
    const answer = await get(asked);
    t.is(answer.headers.get('packaging'), given, asked);
    t.deepEqual(await bytesOf(answer), helloTar);
  }
  const zipped = await get(`${BINARY};q=0.5, ${SIMPLE_ZIP}`);
  t.is(zipped.headers.get('packaging'), SIMPLE_ZIP);
  t.is(zipped.headers.get('content-type'), 'application/zip');
  t.true((await bytesOf(zipped)).includes(helloTar), 'the archive as it is, in a zip');
  const zip = await makeDeposit(alice, partial);
  const asItIs = await alice.get(`${zip}media/`, { 'Accept-Packaging': SIMPLE_ZIP });
  t.deepEqual(await bytesOf(asItIs), helloZip);
  for (const packaging of ['http://purl.org/net/sword/package/METSDSpaceSIP', 'zip', `${BINARY};q=0`]) {
    const refused = await get(packaging);
    await assertSwordError(t, refused, 406, 'ErrorContent', packaging);
    t.is(refused.headers.get('packaging'), null);
  }
  t.deepEqual(texts(await receiptOf(alice, tar), `${SWORD}packaging`), [SIMPLE_ZIP, BINARY]);
});

test('the receipt repeats the Dublin Core terms of the effective metadata, in any encoding', async (t) => {
  const { alice } = t.context;
  const dc = (content: string, encoding = 'utf-8') =>
    entryXml(content)
      .replace('<entry ', '<entry xmlns:dc="http://purl.org/dc/terms/" ')
      .replace('encoding="utf-8"', `encoding="${encoding}"`);
  const title = '<title>Hello</title><dc:title>Hello &lt;world&gt;</dc:title><dc:creator>Ada</dc:creator>';
  const deposit = await created(alice, dc(`${title}<dc:title/><author><name>Ada</name></author>`), {
    ...entryHeaders(),
    ...partial,
  });
  const terms = async () =>
    (await receiptOf(alice, deposit)).children
      .filter(({ name }) => name.startsWith(DCTERMS))
      .map(({ name, text }) => [name.slice(DCTERMS.length), text]);
  t.deepEqual(await terms(), [
    ['title', 'Hello <world>'],
    ['creator', 'Ada'],
  ]);
  const more = dc('<dc:creator>Ada</dc:creator><dc:abstract>d\u00e9j\u00e0 vu</dc:abstract>', 'iso-8859-1');
  const latin1 = Buffer.from(more, 'latin1');
  const added = await alice.post(`${deposit}metadata/`, latin1, { ...entryHeaders(), ...partial });
  t.deepEqual(texts(parsedBody(await added.text()), `${DCTERMS}abstract`), ['d\u00e9j\u00e0 vu'], 'at once');
  t.deepEqual(await terms(), [
    ['title', 'Hello <world>'],
    ['creator', 'Ada'],
    ['abstract', 'd\u00e9j\u00e0 vu'],
  ]);
  const translated = '<dc:title xml:lang="en">Solution</dc:title><dc:title xml:lang="fr">Solution</dc:title>';
  await alice.put(
    `${deposit}metadata/`,
    dc(`${translated}<dc:title>Solution</dc:title>`).replace('<entry ', '<entry xml:lang="de" '),
    { ...entryHeaders(), ...partial },
  );
  const languages = (await receiptOf(alice, deposit)).children.filter(({ name }) => name.startsWith(DCTERMS));
  t.deepEqual(
    languages.map(({ attributes }) => attributes['xml:lang']),
    ['en', 'fr', 'de'],
  );
  const many = Array.from({ length: 150 }, (_, index) => `<dc:subject>${index}</dc:subject>`).join('');
  await alice.put(`${deposit}metadata/`, dc(many), { ...entryHeaders(), ...partial });
  t.deepEqual((await terms()).slice(-1), [['subject', '99']], 'bounded');
  const json = await (await alice.get(`${deposit}metadata/`, { Accept: 'application/json' })).json();
  t.like(json, { dcterms: { 0: { name: 'subject', value: '0' }, length: 100 } });
});

test('after a restart the terms are read from the store; without it a receipt omits them', async (t) => {
  await using service = await RunningService.start();
  const before = await service.register('alice', { collections: ['software'] });
  const entry = Buffer.from(
    entryXml('<dc:creator xmlns:dc="http://purl.org/dc/terms/">Zo\u00eb</dc:creator>').replace(
      'encoding="utf-8"',
      'encoding="iso-8859-1"',
    ),
    'latin1',
  );
  const deposit = await created(before, entry, { ...entryHeaders(), ...partial });
  const creators = async () => {
    await service.stop();
    await service.startAgain();
    return texts(await receiptOf(before.at(service.url), deposit), `${DCTERMS}creator`);
  };
  const tag = async () => (await before.at(service.url).get(`${deposit}metadata/`)).headers.get('etag') ?? '';
  t.deepEqual(await creators(), ['Zo\u00eb']);
  const held = await tag();
  await service.service.store.remove(hash('sha256', entry));
  t.deepEqual(await creators(), []);
  t.is(await tag(), '', 'no client may cache it as the complete one');
  const again = await before.at(service.url).get(`${deposit}metadata/`, { 'If-None-Match': held });
  t.deepEqual(
    [again.status, again.headers.get('etag')],
    [304, held],
    'a client with the complete one may keep it',
  );
  const added = await before.at(service.url).post(`${deposit}media/`, helloTar, tarHeaders('hello.tar'));
  t.deepEqual([added.status, added.headers.get('etag')], [201, null], 'nor the response to a change');
});

test('each collection has a service document of its own', async (t) => {
  const { alice, bob } = t.context;
  const service = parsedBody(await (await alice.get('/1/servicedocument/')).text());
  const collections = child(service, `${APP}workspace`).children.filter(
    ({ name }) => name === `${APP}collection`,
  );
  t.is(collections.length, 2);
  for (const collection of collections) {
    const [iri = ''] = texts(collection, `${SWORD}service`);
    const answer = await alice.get(iri);
    t.is(answer.status, 200, iri);
    const [own] = child(parsedBody(await answer.text()), `${APP}workspace`).children.filter(
      ({ name }) => name === `${APP}collection`,
    );
    t.deepEqual(own?.attributes, collection.attributes);
    t.deepEqual(texts(own ?? service, `${SWORD}service`), []);
    const alternates = collection.children.filter(({ attributes }) => 'alternate' in attributes);
    t.true(alternates.length > 0);
    t.true(alternates.every(({ attributes }) => attributes['alternate'] === 'multipart-related'));
  }
  await assertSwordError(t, await bob.get('/1/servicedocument/papers/'), 404, 'NotFound');
  await assertSwordError(t, await alice.get('/1/servicedocument/unknown/'), 404, 'NotFound');
  const options = await alice.send('OPTIONS', '/1/servicedocument/papers/');
  t.is(options.headers.get('allow'), 'GET, HEAD, OPTIONS');
});

test('a public page leads clients and people to the service document', async (t) => {
  const { service, alice } = t.context;
  const answer = await fetch(`${service.url}/`);
  const page = await answer.text();
  t.is(answer.status, 200);
  t.is(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  t.regex(
    answer.headers.get('content-security-policy') ?? '',
    /^default-src 'none'; .*frame-ancestors 'none'$/,
  );
  t.notRegex(page, /<script|\sstyle=|src=/);
  const links = [...page.matchAll(/<link rel="([^"]+)" href="([^"]+)">/g)].map(([, rel, href]) => [
    rel,
    href,
  ]);
  const iri = `${service.url}/1/servicedocument/`;
  t.deepEqual(links, [
    ['http://purl.org/net/sword/discovery/service-document', iri],
    ['sword', iri],
  ]);
  t.is((await alice.get(iri)).status, 200);
  const head = await fetch(`${service.url}/`, { method: 'HEAD' });
  t.deepEqual([head.status, await head.text()], [200, '']);
  const post = await fetch(`${service.url}/`, { method: 'POST' });
  await assertSwordError(t, post, 405, 'MethodNotAllowed');
  t.is(post.headers.get('allow'), 'GET, HEAD, OPTIONS');
  using connection = await RawConnection.to(service.url);
  await connection.send('GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n');
  t.false((await connection.answers(1)).body.includes('evil'), 'the Host header changes nothing');
});

test('an archive in base64 has the same size limit as one without, in both multipart types', async (t) => {
  const maxUploadSize = 1024 ** 2;
  await using service = await RunningService.start({ maxUploadSize, maxEntrySize: 1000 });
  const alice = await service.register('alice', { collections: ['software'] });
  const send = (length: number, type: string) => {
    const archive = Buffer.concat([helloTar, Buffer.alloc(length - helloTar.length)]);
    const headers = {
      'Content-Type': 'application/x-tar',
      'Content-Disposition': 'form-data; name="file"; filename=a.tar',
      'Content-Transfer-Encoding': 'base64',
    };
    const body = archive.toString('base64').replace(/(.{76})/g, '$1\r\n');
    const contentType = formType['Content-Type'].replace('multipart/form-data', type);
    return alice.post('/1/software/', formOf([{ headers, body }]), {
      ...partial,
      'Content-Type': contentType,
    });
  };
  for (const type of ['multipart/related', 'multipart/form-data']) {
    t.is((await send(maxUploadSize, type)).status, 201, type);
    const answer = await send(maxUploadSize + 1, type);
    const refused = await assertSwordError(t, answer, 413, 'MaxUploadSizeExceeded', type);
    t.regex(refused, /depositns:resumableUploads/);
  }
});

test('an entry in base64 has the same size limit as one without, declared or not', async (t) => {
  const maxEntrySize = 4_000;
  await using service = await RunningService.start({ maxEntrySize });
  const alice = await service.register('alice', { collections: ['software'] });
  const short = entryXml('<title>Hello</title><author><name>Ada</name></author>');
  const send = (bytes: number, encoding: Record<string, string>) => {
    const { headers } = entryPart(short);
    const entry = `${short}${' '.repeat(bytes - Buffer.byteLength(short))}`;
    const body = Buffer.from(entry)
      .toString('base64')
      .replace(/(.{76})/g, '$1\r\n');
    return alice.post('/1/software/', formOf([{ headers: { ...headers, ...encoding }, body }]), {
      ...partial,
      ...formType,
    });
  };
  for (const encoding of [{}, { 'Content-Transfer-Encoding': 'base64' }]) {
    const accepted = await send(maxEntrySize, encoding);
    t.is(accepted.status, 201, await accepted.text());
    await assertSwordError(t, await send(maxEntrySize + 1, encoding), 413, 'MaxUploadSizeExceeded');
  }
});
