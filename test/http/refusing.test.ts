import { once } from 'node:events';
import http from 'node:http';
import anyTest, { type TestFn } from 'ava';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  ATOM_TYPE,
  archiveHeaders,
  archivePart,
  BOUNDARY,
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
  md5Of,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { makeDeposit, pathOf } from '../../testing/http/made-deposits.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { leavesNothing } from '../../testing/service/stored-things.ts';

type Context = {
  service: RunningService;
  alice: TestClient;
  /** Paths of the same deposit, `/1/software/<id>/`, and of one that is done. */
  open: string;
  done: string;
};
const test = anyTest as TestFn<Context>;

type Body = NonNullable<RequestInit['body']> | null;
type Headers = Readonly<Record<string, string>>;
type Request = { method: string; target: string; body: Body; headers: Headers };
type Refusal = readonly [status: number, name: string];

const BAD_REQUEST: Refusal = [400, 'ErrorBadRequest'];
const UNAUTHORIZED: Refusal = [401, 'Unauthorized'];
const FORBIDDEN: Refusal = [403, 'Forbidden'];
const NOT_FOUND: Refusal = [404, 'NotFound'];
const NOT_ALLOWED: Refusal = [405, 'MethodNotAllowed'];
const MISMATCH: Refusal = [412, 'ErrorChecksumMismatch'];
const MEDIATION: Refusal = [412, 'MediationNotAllowed'];
const STALE: Refusal = [412, 'ETagNotMatched'];
const TOO_LARGE: Refusal = [413, 'MaxUploadSizeExceeded'];
const NOT_ACCEPTED: Refusal = [415, 'ErrorContent'];

const [MAX_UPLOAD, MAX_ENTRY, MAX_ARCHIVES] = [2_500, 1_500, 3];
const big = Buffer.concat([helloZip, Buffer.alloc(MAX_UPLOAD)]);

test.before(async (t) => {
  const limits = { maxUploadSize: MAX_UPLOAD, maxEntrySize: MAX_ENTRY, maxArchives: MAX_ARCHIVES };
  const service = await RunningService.start(limits);
  const alice = await service.register('alice', { collections: ['software'] });
  const [open, done] = [await makeDeposit(alice, partial), await makeDeposit(alice)];
  await alice.waitFor(`${done}status/`, 'done');
  t.context = { service, alice, open, done };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

/** Tests a fact with its cases: all are sent, and none may have effects. */
function refusesEach(
  fact: string,
  casesFor: (context: Context) => Readonly<Record<string, readonly [Refusal, Request]>>,
): void {
  test.serial(fact, async (t) => {
    await leavesNothing(t, t.context.service, async () => {
      for (const [what, [refusal, { method, target, ...init }]] of Object.entries(casesFor(t.context))) {
        const answer = await t.context.alice.send(method, target, init);
        await assertSwordError(t, answer, ...refusal, what);
      }
    });
  });
}

/** Tests a fact whose cases are all refused with the same error. */
function refuses(
  fact: string,
  refusal: Refusal,
  casesFor: (context: Context) => Readonly<Record<string, Request>>,
): void {
  refusesEach(fact, (context) =>
    Object.fromEntries(
      Object.entries(casesFor(context)).map(([what, request]) => [what, [refusal, request] as const]),
    ),
  );
}

const send = (method: string, target: string, headers: Headers = {}, body: Body = null): Request => ({
  method,
  target,
  headers,
  body,
});
const create = (body: Body, headers: Headers): Request => send('POST', '/1/software/', headers, body);
const createEntry = (entry: string | Buffer, type = ATOM_TYPE): Request =>
  create(entry, { 'Content-Type': type, ...partial });
const createForm = (form: string | Buffer, headers: Headers = {}): Request =>
  create(form, { ...formType, ...partial, ...headers });
const createArchive = (headers: Headers, body: Buffer = helloZip): Request =>
  create(body, { ...archiveHeaders(), ...partial, ...headers });
const createNamed = (disposition: string): Request => createArchive({ 'Content-Disposition': disposition });

refuses('bytes with another MD5 than declared are not stored', MISMATCH, ({ open }) => {
  const other = { 'Content-MD5': md5Of('other') };
  const archiveWith = (headers: Headers) => {
    const part = archivePart();
    return formOf([{ ...part, headers: { ...part.headers, ...headers } }]);
  };
  const alone = formOf([archivePart()]);
  return {
    'of an archive': createArchive(other),
    'in base64': createArchive({ 'Content-MD5': md5Of('other', 'base64') }),
    'with an underscore': createArchive({ CONTENT_MD5: md5Of('other') }),
    'under two spellings': createArchive({ CONTENT_MD5: md5Of('other'), 'Content-MD5': md5Of(helloZip) }),
    malformed: createArchive({ 'Content-MD5': 'abc' }),
    'hex with a letter too many': createArchive({ 'Content-MD5': `${md5Of(helloZip)}0` }),
    'of the form, not of its archive': create(alone, { ...formType, 'Content-MD5': md5Of(alone) }),
    'of another archive in a form': create(helloForm, { ...formType, ...other }),
    'of an entry': create(helloEntry, { 'Content-Type': ATOM_TYPE, ...other }),
    'in the part': createForm(archiveWith(other)),
    'in the part, with an underscore': createForm(archiveWith({ CONTENT_MD5: md5Of('other') })),
    'in the part, another than in the request': create(archiveWith({ 'Content-MD5': md5Of(helloZip) }), {
      ...formType,
      ...other,
    }),
    'on the EM-IRI': send('PUT', `${open}media/`, { ...archiveHeaders(), ...other }, helloTar),
    'on the Edit-IRI': send('PUT', `${open}metadata/`, { ...entryHeaders(), ...other }, helloEntry),
  };
});

refuses('an upload needs a printable file name, in ASCII in the header', BAD_REQUEST, ({ open }) => ({
  'no disposition': create(helloZip, { 'Content-Type': 'application/zip' }),
  'no name': createNamed('attachment'),
  'an empty name': createNamed('attachment; filename=""'),
  'a folder': createNamed('attachment; filename="a/b/"'),
  'no file': createNamed('attachment; filename=".."'),
  'Latin-1': createNamed('attachment; filename="caf\xe9.zip"'),
  'encoded in other bytes than it says': createNamed("attachment; filename*=UTF-8''caf%E9.zip"),
  'a tabulator': createNamed('attachment; filename="a\tb.zip"'),
  'too long': createNamed(`attachment; filename="${'a'.repeat(256)}"`),
  'on the EM-IRI': send('PUT', `${open}media/`, { 'Content-Type': 'application/zip' }, helloZip),
  'in a form': createForm(formOf([archivePart(helloZip, 'a\u202eb.zip'), entryPart()])),
}));

refuses('only archives and entries are accepted, each at its IRI', NOT_ACCEPTED, ({ open }) => {
  const text = Buffer.alloc(1_000, 'text');
  const sevenZip = 'application/x-7z-compressed';
  const textFile = archivePart(helloZip, 'hello.txt', 'text/plain');
  return {
    text: create('hello', { 'Content-Type': 'text/plain' }),
    'no type': create(Buffer.from('hello'), {}),
    'no media type': create('hello', { 'Content-Type': 'zip' }),
    'another multipart': create(formOf([archivePart()]), {
      'Content-Type': `multipart/mixed; boundary="${BOUNDARY}"`,
    }),
    'a feed': createEntry(helloEntry, 'application/atom+xml;type=feed'),
    'a 7z': createArchive({ 'Content-Type': sevenZip }),
    'text in a zip': createArchive({}, Buffer.from('hello, I am no zip')),
    'longer text in a zip': createArchive({}, text),
    'text in a form': createForm(formOf([entryPart(), archivePart(text)])),
    'a 7z in a form': createForm(formOf([archivePart(helloZip, 'a.7z', sevenZip)])),
    'packed once more': createArchive({ 'Content-Encoding': 'gzip' }),
    'an entry packed': create(helloEntry, { 'Content-Type': ATOM_TYPE, 'Content-Encoding': 'deflate' }),
    'another packaging': createArchive({ Packaging: 'http://purl.org/net/sword/package/METSDSpaceSIP' }),
    'another packaging of an entry': create(helloEntry, { 'Content-Type': ATOM_TYPE, Packaging: 'urn:x' }),
    'another packaging of a form': create(helloForm, { ...formType, Packaging: 'urn:x' }),
    'an entry at the EM-IRI': send('POST', `${open}media/`, entryHeaders(), helloEntry),
    'an entry in a form at the EM-IRI': send('POST', `${open}media/`, formType, helloForm),
    'an archive at the Edit-IRI': send('PUT', `${open}metadata/`, archiveHeaders(), helloZip),
    'a text in a form at the Edit-IRI': send(
      'PUT',
      `${open}metadata/`,
      formType,
      formOf([entryPart(), textFile]),
    ),
  };
});

refuses('an entry has to be an Atom entry, well-formed and without a DOCTYPE', BAD_REQUEST, ({ open }) => {
  const entries = {
    'a DOCTYPE': `<!DOCTYPE entry>${helloEntry.replace(/^<\?xml[^>]*>/, '')}`,
    'an entity':
      '<!DOCTYPE e [<!ENTITY x SYSTEM "file:///etc/passwd">]><entry xmlns="http://www.w3.org/2005/Atom">&x;</entry>',
    'another root': '<feed xmlns="http://www.w3.org/2005/Atom"/>',
    'another namespace': '<entry/>',
    'no end': helloEntry.slice(0, -3),
    'two roots': `${helloEntry}<entry/>`,
    'an undeclared prefix': entryXml('<x:title>T</x:title>'),
    'no XML': 'hello',
    'white space': ' \n',
    'a NUL': entryXml('<title>\0</title>'),
    'a deep one': entryXml(`${'<a>'.repeat(60)}${'</a>'.repeat(60)}`),
  };
  const wrongByte = Buffer.from(helloEntry.replace('Ada', 'Ad\xe9'), 'latin1');
  return {
    ...Object.fromEntries(
      Object.entries(entries).flatMap(([what, entry]) => [
        [what, createEntry(entry)],
        [`${what} in a form`, createForm(formOf([archivePart(), entryPart(entry)]))],
        [`${what} at the Edit-IRI`, send('PUT', `${open}metadata/`, entryHeaders(), entry)],
      ]),
    ),
    'a wrong byte': createEntry(wrongByte),
    'an unknown encoding': createEntry(helloEntry, 'application/atom+xml;charset=klingon'),
  };
});

test('an empty body is refused with what the resource accepts', async (t) => {
  const { alice, open } = t.context;
  const empty = async (target: string) => (await alice.post(target, null, { ...partial })).text();
  t.regex(await empty(`${open}media/`), /is empty where an archive is needed/);
  t.regex(await empty('/1/software/'), /is empty where an archive or an Atom entry is needed/);
});

test('an empty file sent to the SE-IRI is refused and completes nothing', async (t) => {
  const { alice, open } = t.context;
  for (const headers of [archiveHeaders(), { ...archiveHeaders('entry.xml', ATOM_TYPE) }, formType]) {
    const answer = await alice.post(`${open}metadata/`, null, { ...headers, ...final });
    await assertSwordError(t, answer, 400, 'ErrorBadRequest', JSON.stringify(headers));
  }
  t.regex(await (await alice.get(`${open}status/`)).text(), /<deposit_status>partial</);
});

test('a lost body at the SE-IRI is refused by its media type and completes nothing', async (t) => {
  const { alice, open } = t.context;
  const archiveTypes = [
    'application/zip',
    'Application/X-Tar; a=b',
    'application/gzip',
    'application/octet-stream',
  ];
  const lost = [
    ...archiveTypes.flatMap((type) => [{ 'Content-Type': type, ...final }, { 'Content-Type': type }]),
    ...[ATOM_TYPE, 'application/xml'].map((type) => ({ 'Content-Type': type })),
  ];
  for (const headers of lost) {
    const answer = await alice.post(`${open}metadata/`, null, headers);
    await assertSwordError(t, answer, 400, 'ErrorBadRequest', JSON.stringify(headers));
  }
  t.regex(await (await alice.get(`${open}status/`)).text(), /<deposit_status>partial</);
});

refuses('an empty body is refused if one is required', BAD_REQUEST, ({ open }) => ({
  'nothing at all': create(null, {}),
  'no archive': create(null, archiveHeaders()),
  'no entry': create(null, entryHeaders()),
  'no form': create(null, formType),
  'an empty archive in a form': createForm(formOf([entryPart(), archivePart(Buffer.alloc(0))])),
  'an empty entry in a form': createForm(formOf([archivePart(), entryPart('')])),
  'an addition of nothing': send('POST', `${open}metadata/`, partial),
  'a replacement by nothing': send('PUT', `${open}metadata/`, entryHeaders()),
  'no archive at the EM-IRI': send('POST', `${open}media/`, archiveHeaders()),
}));

refuses('a form has one archive, one entry, and its end', BAD_REQUEST, () => {
  const huge = { headers: { ...archivePart().headers, 'X-Long': 'a'.repeat(20_000) }, body: helloZip };
  const bodies: Record<string, Buffer | string> = {
    'two archives': formOf([archivePart(), archivePart(helloTar, 'b.tar', 'application/x-tar')]),
    'two archives around an entry': formOf([archivePart(), entryPart(), archivePart()]),
    'two entries': formOf([entryPart(), entryPart()]),
    'two entries after an archive': formOf([archivePart(), entryPart(), entryPart()]),
    'no part': `--${BOUNDARY}--\r\n`,
    'no closing boundary': formOf([archivePart(), entryPart()], { open: true }),
    'cut in the closing boundary': helloForm.subarray(0, -5),
    'cut in the entry': helloForm.subarray(0, -60),
    'cut in the archive': helloForm.subarray(0, 200),
    'cut in the first headers': helloForm.subarray(0, 30),
    'another boundary': helloForm.toString('latin1').replaceAll(BOUNDARY, 'other'),
    garbage: Buffer.alloc(5_000, 'garbage'),
    'a part with headers beyond bounds': formOf([huge]),
    'a malformed header': formOf([{ headers: { 'Bad Header': 'x' }, body: 'x' }]),
    'bytes after a boundary': helloForm.toString('latin1').replace(`--${BOUNDARY}\r\n`, `--${BOUNDARY}x\r\n`),
  };
  return {
    ...Object.fromEntries(Object.entries(bodies).map(([what, body]) => [what, createForm(body)])),
    'no boundary': create(helloForm, { 'Content-Type': 'multipart/form-data' }),
    'an endless boundary': create(helloForm, {
      'Content-Type': `multipart/form-data; boundary=${'a'.repeat(71)}`,
    }),
  };
});

refuses(
  'a body above the limits is refused, by its declared length or as soon as it exceeds them',
  TOO_LARGE,
  ({ open }) => {
    const bigEntry = entryXml(`<title>${'a'.repeat(MAX_ENTRY)}</title>`);
    return {
      'an archive': createArchive({}, big),
      'an archive in a form': createForm(formOf([entryPart(), archivePart(big)])),
      'an archive before an entry': createForm(formOf([archivePart(big), entryPart()])),
      'an entry': createEntry(bigEntry),
      'an entry in a form': createForm(formOf([archivePart(), entryPart(bigEntry)])),
      'a form': createForm(Buffer.alloc(400_000, '-')),
      'on the EM-IRI': send('PUT', `${open}media/`, archiveHeaders(), big),
      'on the Edit-IRI': send('PUT', `${open}metadata/`, entryHeaders(), bigEntry),
    };
  },
);

test.serial('a chunked body is refused as soon as it exceeds the limit', async (t) => {
  const { alice, service } = t.context;
  const bigEntry = Buffer.from(entryXml(`<title>${'a'.repeat(MAX_ENTRY)}</title>`));
  const bodies = [
    [big, archiveHeaders()],
    [bigEntry, entryHeaders()],
    [formOf([archivePart(big), entryPart()]), formType],
  ] as const;
  await leavesNothing(t, service, async () => {
    for (const [body, headers] of bodies) {
      const stream = new Response(body).body;
      const answer = await alice.send('POST', '/1/software/', { body: stream, headers, duplex: 'half' });
      await assertSwordError(t, answer, 413, 'MaxUploadSizeExceeded', headers['Content-Type']);
    }
  });
});

/** Returns the same writes with further headers. */
function writesWith(headers: Headers, writes: Readonly<Record<string, Request>>): Record<string, Request> {
  return Object.fromEntries(
    Object.entries(writes).map(([what, write]) => [
      `${what}, ${Object.values(headers).join()}`,
      { ...write, headers: { ...write.headers, ...headers } },
    ]),
  );
}

refuses('In-Progress is true or false, everywhere', BAD_REQUEST, ({ open }) => {
  const writes = {
    'a creation': createForm(formOf([archivePart()])),
    'an addition of an archive': send('POST', `${open}media/`, archiveHeaders(), helloZip),
    'a replacement of archives': send('PUT', `${open}media/`, archiveHeaders(), helloZip),
    'an addition of metadata': send('POST', `${open}metadata/`, entryHeaders(), helloEntry),
    'a replacement of metadata': send('PUT', `${open}atom/`, entryHeaders(), helloEntry),
    'a completion': send('POST', `${open}metadata/`),
  };
  return {
    ...writesWith({ 'In-Progress': 'maybe' }, writes),
    ...writesWith({ 'In-Progress': '' }, writes),
    ...writesWith({ 'In-Progress': '1' }, writes),
    ...writesWith({ 'In-Progress': 'true, true' }, writes),
  };
});

refuses('a mediated deposit is refused', MEDIATION, ({ open }) =>
  writesWith(
    { 'On-Behalf-Of': 'carol' },
    {
      'a creation': createForm(formOf([archivePart()])),
      'an addition of an archive': send('POST', `${open}media/`, archiveHeaders(), helloZip),
      'a replacement of archives': send('PUT', `${open}media/`, archiveHeaders(), helloZip),
      'a removal of archives': send('DELETE', `${open}media/`),
      'a completion': send('POST', `${open}metadata/`, final),
      'a replacement of metadata': send('PUT', `${open}metadata/`, entryHeaders(), helloEntry),
      'a deletion': send('DELETE', `${open}metadata/`),
    },
  ),
);

refusesEach('of several faults the first in the order of validation is reported', ({ open, done }) => {
  const mediation = { 'On-Behalf-Of': 'carol' };
  const syntax = { 'In-Progress': 'maybe' };
  const stale = { 'If-Match': '"1-999"' };
  const zip = archiveHeaders();
  const text = { ...zip, 'Content-Type': 'text/plain' };
  const unknown = { Authorization: 'Basic bm9ib2R5' };
  const put = (target: string, headers: Headers, body: Body = helloZip) => send('PUT', target, headers, body);
  const media = `${open}media/`;
  const tooLong = Buffer.alloc(MAX_UPLOAD + 1, 'x');
  return {
    '401 before an unknown route': [UNAUTHORIZED, send('GET', '/nowhere', unknown)],
    '401 before a method': [UNAUTHORIZED, send('DELETE', '/1/servicedocument/', unknown)],
    '401 before mediation': [UNAUTHORIZED, put(media, { ...text, ...unknown, ...mediation })],
    'the route before mediation': [NOT_FOUND, put('/1/software/1/other/', mediation)],
    'the method before the collection': [NOT_ALLOWED, put('/1/nowhere/', mediation)],
    'the method before the deposit': [NOT_ALLOWED, put('/1/software/999/status/', mediation)],
    'the collection before mediation': [NOT_FOUND, send('POST', '/1/nowhere/', { ...mediation, ...syntax })],
    'the deposit before mediation': [NOT_FOUND, put('/1/software/999/media/', { ...text, ...mediation })],
    'mediation before syntax': [MEDIATION, put(media, { ...text, ...mediation, ...syntax })],
    'syntax before the state': [BAD_REQUEST, put(`${done}media/`, { ...zip, ...syntax })],
    'a file name before the state': [BAD_REQUEST, put(`${done}media/`, archiveHeaders('..'))],
    'the state before If-Match': [NOT_ALLOWED, put(`${done}media/`, { ...zip, ...stale })],
    'the state before the type': [NOT_ALLOWED, put(`${done}metadata/`, text)],
    'If-Match before the type': [STALE, put(media, { ...text, ...stale })],
    'the type before the length': [NOT_ACCEPTED, put(media, text, big)],
    'the packaging before the length': [NOT_ACCEPTED, put(media, { ...zip, Packaging: 'urn:x' }, big)],
    'the length before the bytes': [TOO_LARGE, put(media, zip, tooLong)],
    'the length before the MD5': [TOO_LARGE, put(media, { ...zip, 'Content-MD5': md5Of('other') }, big)],
  };
});

refuses('an origin outside the provider URL is refused and leaves nothing', FORBIDDEN, ({ open }) => {
  const origin = '<d:create_origin><d:origin url="https://elsewhere.example/x"/></d:create_origin>';
  const entry = entryXml(`<title>T</title><author><name>A</name></author>${origin}`);
  return {
    'in an entry': createEntry(entry),
    'in a form': createForm(formOf([archivePart(), entryPart(entry)])),
    'at the Edit-IRI': send('POST', `${open}metadata/`, entryHeaders(), entry),
  };
});

refuses('a body lost in transit does not complete its deposit', MISMATCH, ({ open }) => {
  const lost = (headers: Headers) =>
    send('POST', `${open}metadata/`, { ...entryHeaders(), ...final, ...headers });
  const sha = `sha-256=:${Buffer.alloc(32).toString('base64')}:`;
  return {
    'its MD5': lost({ 'Content-MD5': md5Of(helloEntry) }),
    'its digest': lost({ 'Content-Digest': sha }),
    'the digest of what it stands for': lost({ 'Repr-Digest': sha }),
    'the archive of a form': createForm(formOf([entryPart()]), { ...final, 'Content-MD5': md5Of(helloZip) }),
  };
});

refuses('a dry run is possible only for a new deposit', BAD_REQUEST, ({ open, done }) => {
  const [metadata, media] = [`${open}metadata/?dry-run=true`, `${open}media/?dry-run=true`];
  return {
    'an addition of metadata': send('POST', metadata, entryHeaders(), helloEntry),
    'a replacement of metadata': send('PUT', metadata, entryHeaders(), helloEntry),
    'an addition of an archive': send('POST', media, archiveHeaders(), helloZip),
    'a replacement of an archive': send('PUT', media, archiveHeaders(), helloZip),
    'a completion': send('POST', metadata),
    'a deletion': send('DELETE', metadata),
    'what is done': send('PUT', `${done}metadata/?dry-run=true`),
  };
});

refuses(
  'an Idempotency-Key is validated before the body and its type, also of a dry run',
  BAD_REQUEST,
  ({ open }) => {
    const bad = { 'Idempotency-Key': 'k'.repeat(256), 'Content-Type': 'a/b' };
    return {
      creating: create('x', bad),
      'in a dry run': send('POST', '/1/software/?dry-run=true', bad, 'x'),
      'adding to the EM-IRI': send('POST', `${open}media/`, bad, 'x'),
      'replacing at the EM-IRI': send('PUT', `${open}media/`, bad, 'x'),
    };
  },
);

refuses('a slug is percent-encoded UTF-8 without control characters', BAD_REQUEST, () => ({
  'a NUL': createArchive({ Slug: 'a%00b' }),
  broken: createArchive({ Slug: '%E0%A4' }),
}));

test('an entry that is sent as the file of a form is refused with the types of archives alone', async (t) => {
  const { alice } = t.context;
  const mistaken = archivePart(Buffer.from('<entry/>'), 'atom.xml', 'application/atom+xml');
  const answer = await alice.post('/1/software/', formOf([mistaken]), formType);
  t.is(answer.status, 415);
  t.regex(await answer.text(), /Accepted: application\/zip, application\/x-tar; compressed/);
});

test('a refused media type is reported as it was sent, with the types that its IRI accepts', async (t) => {
  const { alice } = t.context;
  const feed = await alice.post('/1/software/', helloEntry, {
    'Content-Type': 'application/atom+xml;type=feed',
  });
  t.regex(await feed.text(), /The media type "application\/atom\+xml;type=feed" is not accepted/);
  const begun = await alice.post('/1/software/', helloEntry, { ...entryHeaders(), ...partial });
  const archive = await alice.put(begun.headers.get('location') ?? '', helloZip, archiveHeaders());
  t.regex(await archive.text(), /Accepted: application\/atom\+xml;type=entry, multipart[^;]*\./);
});

test('a text in the place of an entry of a form is reported as such, not as base64 in a wrong encoding', async (t) => {
  const { alice } = t.context;
  const answer = await alice.post('/1/software/', formOf([entryPart('hello')]), formType);
  t.is(answer.status, 400);
  t.regex(await answer.text(), /Line 1 of the entry is not well-formed XML: text data outside of root node/);
});

test('a part of a form that is no file is named in its refusal', async (t) => {
  const { alice } = t.context;
  const button = { headers: { 'Content-Disposition': 'form-data; name="submit"' }, body: 'Send' };
  const answer = await alice.post('/1/software/', formOf([archivePart(), entryPart(), button]), formType);
  const summary = await assertSwordError(t, answer, 400, 'ErrorBadRequest');
  t.regex(summary, /^The part "submit" of the multipart body has no file name: .* leave the part out/);
});

test.serial('an archive above the allowed number is refused before its bytes are requested', async (t) => {
  const { alice } = t.context;
  const first = await alice.post('/1/software/', helloZip, {
    ...archiveHeaders(),
    ...partial,
  });
  const media = `${pathOf(first)}media/`;
  for (let number = 2; number <= MAX_ARCHIVES; number += 1)
    t.is((await alice.post(media, helloZip, archiveHeaders())).status, 201);
  const headers = { ...archiveHeaders(), Authorization: alice.authorization };
  const request = http.request(new URL(media, alice.url), { method: 'POST', headers });
  request.setHeader('Content-Length', helloZip.length);
  request.flushHeaders();
  request.once('continue', () => t.fail('its bytes were requested'));
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  t.is(answer.statusCode, 400);
  answer.resume();
  request.destroy();
});

test.serial('a refusal names the accepted values of this service', async (t) => {
  const { alice } = t.context;
  const large = await assertSwordError(
    t,
    await alice.post('/1/software/', big, archiveHeaders()),
    413,
    'MaxUploadSizeExceeded',
  );
  t.regex(large, new RegExp(String(MAX_UPLOAD)));
  const type = await alice.post('/1/software/', 'x', { 'Content-Type': 'text/<plain>' });
  const body = await type.text();
  t.regex(body, /application\/zip, application\/x-tar/);
  t.regex(body, /text\/&lt;plain/, 'echoed text is escaped');
});
