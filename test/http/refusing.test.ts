import { once } from 'node:events';
import http from 'node:http';
import anyTest, { type TestFn } from 'ava';
import { child, parsedBody } from '../../testing/documents/parsed-body.ts';
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
  helloTar,
  helloZip,
  md5Of,
  partial,
} from '../../testing/http/deposit-bodies.ts';
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

type Request = {
  method: string;
  target: string;
  body?: NonNullable<RequestInit['body']> | null;
  headers?: Record<string, string>;
};
type Refusal = readonly [what: string, request: Request, status: number, name: string];

const [MAX_UPLOAD, MAX_ENTRY, MAX_ARCHIVES] = [2_500, 1_500, 3];
const big = Buffer.concat([helloZip, Buffer.alloc(MAX_UPLOAD)]);

test.before(async (t) => {
  const limits = { maxUploadSize: MAX_UPLOAD, maxEntrySize: MAX_ENTRY, maxArchives: MAX_ARCHIVES };
  const service = await RunningService.start(limits);
  const alice = await service.register('alice', { collections: ['software'] });
  const create = async (headers: Record<string, string>): Promise<string> => {
    const answer = await alice.post('/1/software/', formOf([archivePart(), entryPart()]), {
      ...formType,
      ...headers,
    });
    const id = child(parsedBody(await answer.text()), '{http://www.w3.org/2005/Atom}deposit_id').text;
    return `/1/software/${id}/`;
  };
  const [open, done] = [await create(partial), await create(final)];
  await alice.waitFor(`${done}status/`, 'done');
  t.context = { service, alice, open, done };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

/** Tests a fact with its cases: all are sent, and none may have effects. */
function refuses(fact: string, casesFor: (context: Context) => readonly Refusal[]): void {
  test.serial(fact, async (t) => {
    await leavesNothing(t, t.context.service, async () => {
      for (const [what, { method, target, ...init }, status, name] of casesFor(t.context)) {
        const answer = await t.context.alice.send(method, target, init);
        await assertSwordError(t, answer, status, name, what);
      }
    });
  });
}

const create = (body: NonNullable<RequestInit['body']> | null, headers: Record<string, string>): Request => ({
  method: 'POST',
  target: '/1/software/',
  body,
  headers,
});
const createEntry = (entry: string | Buffer, type = ATOM_TYPE): Request =>
  create(entry, { 'Content-Type': type, ...partial });
const createForm = (form: string | Buffer): Request => create(form, { ...formType, ...partial });
const createArchive = (headers: Record<string, string>, body: Buffer = helloZip): Request =>
  create(body, { ...archiveHeaders(), ...partial, ...headers });

refuses('bytes with another MD5 than declared are not stored', ({ open }) => [
  ['of an archive', createArchive({ 'Content-MD5': md5Of('other') }), 412, 'ErrorChecksumMismatch'],
  ['in base64', createArchive({ 'Content-MD5': md5Of('other', 'base64') }), 412, 'ErrorChecksumMismatch'],
  ['with an underscore', createArchive({ CONTENT_MD5: md5Of('other') }), 412, 'ErrorChecksumMismatch'],
  [
    'under two spellings',
    createArchive({ CONTENT_MD5: md5Of('other'), 'Content-MD5': md5Of(helloZip) }),
    412,
    'ErrorChecksumMismatch',
  ],
  ['malformed', createArchive({ 'Content-MD5': 'abc' }), 412, 'ErrorChecksumMismatch'],
  [
    'hex with a letter too many',
    createArchive({ 'Content-MD5': `${md5Of(helloZip)}0` }),
    412,
    'ErrorChecksumMismatch',
  ],
  [
    'of the form, not of its archive',
    create(formOf([archivePart()]), { ...formType, 'Content-MD5': md5Of(formOf([archivePart()])) }),
    412,
    'ErrorChecksumMismatch',
  ],
  [
    'of another archive in a form',
    create(formOf([archivePart(), entryPart()]), { ...formType, 'Content-MD5': md5Of('other') }),
    412,
    'ErrorChecksumMismatch',
  ],
  [
    'of an entry',
    create(helloEntry, { 'Content-Type': ATOM_TYPE, 'Content-MD5': md5Of('other') }),
    412,
    'ErrorChecksumMismatch',
  ],
  [
    'in the part',
    createForm(formOf([withHeader('Content-MD5', md5Of('other'))])),
    412,
    'ErrorChecksumMismatch',
  ],
  [
    'in the part, with an underscore',
    createForm(formOf([withHeader('CONTENT_MD5', md5Of('other'))])),
    412,
    'ErrorChecksumMismatch',
  ],
  [
    'in the part, another than in the request',
    create(formOf([withHeader('Content-MD5', md5Of(helloZip))]), {
      ...formType,
      'Content-MD5': md5Of('other'),
    }),
    412,
    'ErrorChecksumMismatch',
  ],
  [
    'on the EM-IRI',
    {
      method: 'PUT',
      target: `${open}media/`,
      body: helloTar,
      headers: { ...archiveHeaders(), 'Content-MD5': md5Of('other') },
    },
    412,
    'ErrorChecksumMismatch',
  ],
  [
    'on the Edit-IRI',
    {
      method: 'PUT',
      target: `${open}metadata/`,
      body: helloEntry,
      headers: { ...entryHeaders(), 'Content-MD5': md5Of('other') },
    },
    412,
    'ErrorChecksumMismatch',
  ],
]);

function withHeader(name: string, value: string) {
  const { headers, body } = archivePart();
  return { headers: { ...headers, [name]: value }, body };
}

refuses('an upload needs a printable file name, in ASCII in the header', ({ open }) => [
  ['no disposition', create(helloZip, { 'Content-Type': 'application/zip' }), 400, 'ErrorBadRequest'],
  ['no name', createArchive({ 'Content-Disposition': 'attachment' }), 400, 'ErrorBadRequest'],
  [
    'an empty name',
    createArchive({ 'Content-Disposition': 'attachment; filename=""' }),
    400,
    'ErrorBadRequest',
  ],
  [
    'a folder',
    createArchive({ 'Content-Disposition': 'attachment; filename="a/b/"' }),
    400,
    'ErrorBadRequest',
  ],
  ['no file', createArchive({ 'Content-Disposition': 'attachment; filename=".."' }), 400, 'ErrorBadRequest'],
  [
    'Latin-1',
    createArchive({ 'Content-Disposition': 'attachment; filename="caf\xe9.zip"' }),
    400,
    'ErrorBadRequest',
  ],
  [
    'encoded in other bytes than it says',
    createArchive({ 'Content-Disposition': "attachment; filename*=UTF-8''caf%E9.zip" }),
    400,
    'ErrorBadRequest',
  ],
  [
    'a tabulator',
    createArchive({ 'Content-Disposition': 'attachment; filename="a\tb.zip"' }),
    400,
    'ErrorBadRequest',
  ],
  [
    'too long',
    createArchive({ 'Content-Disposition': `attachment; filename="${'a'.repeat(256)}"` }),
    400,
    'ErrorBadRequest',
  ],
  [
    'on the EM-IRI',
    {
      method: 'PUT',
      target: `${open}media/`,
      body: helloZip,
      headers: { 'Content-Type': 'application/zip' },
    },
    400,
    'ErrorBadRequest',
  ],
  [
    'in a form',
    createForm(formOf([archivePart(helloZip, 'a\u202eb.zip'), entryPart()])),
    400,
    'ErrorBadRequest',
  ],
]);

refuses('only archives and entries are accepted, each at its IRI', ({ open }) => [
  ['text', create('hello', { 'Content-Type': 'text/plain' }), 415, 'ErrorContent'],
  ['no type', create(Buffer.from('hello'), {}), 415, 'ErrorContent'],
  ['no media type', create('hello', { 'Content-Type': 'zip' }), 415, 'ErrorContent'],
  [
    'another multipart',
    create(formOf([archivePart()]), { 'Content-Type': `multipart/mixed; boundary="${BOUNDARY}"` }),
    415,
    'ErrorContent',
  ],
  ['a feed', createEntry(helloEntry, 'application/atom+xml;type=feed'), 415, 'ErrorContent'],
  ['a 7z', createArchive({ 'Content-Type': 'application/x-7z-compressed' }), 415, 'ErrorContent'],
  ['text in a zip', createArchive({}, Buffer.from('hello, I am no zip')), 415, 'ErrorContent'],
  ['longer text in a zip', createArchive({}, Buffer.alloc(1_000, 'text')), 415, 'ErrorContent'],
  [
    'text in a form',
    createForm(formOf([entryPart(), archivePart(Buffer.alloc(1_000, 'text'))])),
    415,
    'ErrorContent',
  ],
  [
    'a 7z in a form',
    createForm(formOf([archivePart(helloZip, 'a.7z', 'application/x-7z-compressed')])),
    415,
    'ErrorContent',
  ],
  ['packed once more', createArchive({ 'Content-Encoding': 'gzip' }), 415, 'ErrorContent'],
  [
    'an entry packed',
    create(helloEntry, { 'Content-Type': ATOM_TYPE, 'Content-Encoding': 'deflate' }),
    415,
    'ErrorContent',
  ],
  [
    'another packaging',
    createArchive({ Packaging: 'http://purl.org/net/sword/package/METSDSpaceSIP' }),
    415,
    'ErrorContent',
  ],
  [
    'another packaging of an entry',
    create(helloEntry, { 'Content-Type': ATOM_TYPE, Packaging: 'urn:x' }),
    415,
    'ErrorContent',
  ],
  [
    'another packaging of a form',
    create(formOf([archivePart(), entryPart()]), { ...formType, Packaging: 'urn:x' }),
    415,
    'ErrorContent',
  ],
  [
    'an entry at the EM-IRI',
    { method: 'POST', target: `${open}media/`, body: helloEntry, headers: entryHeaders() },
    415,
    'ErrorContent',
  ],
  [
    'an entry in a form at the EM-IRI',
    {
      method: 'POST',
      target: `${open}media/`,
      body: formOf([archivePart(), entryPart()]),
      headers: { ...formType },
    },
    415,
    'ErrorContent',
  ],
  [
    'an archive at the Edit-IRI',
    { method: 'PUT', target: `${open}metadata/`, body: helloZip, headers: archiveHeaders() },
    415,
    'ErrorContent',
  ],
  [
    'a text in a form at the Edit-IRI',
    {
      method: 'PUT',
      target: `${open}metadata/`,
      body: formOf([entryPart(), archivePart(helloZip, 'hello.txt', 'text/plain')]),
      headers: { ...formType },
    },
    415,
    'ErrorContent',
  ],
]);

refuses('an entry has to be an Atom entry, well-formed and without a DOCTYPE', ({ open }) => {
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
  return [
    ...Object.entries(entries).flatMap(([what, entry]): Refusal[] => [
      [what, createEntry(entry), 400, 'ErrorBadRequest'],
      [`${what} in a form`, createForm(formOf([archivePart(), entryPart(entry)])), 400, 'ErrorBadRequest'],
      [
        `${what} at the Edit-IRI`,
        { method: 'PUT', target: `${open}metadata/`, body: entry, headers: entryHeaders() },
        400,
        'ErrorBadRequest',
      ],
    ]),
    ['a wrong byte', createEntry(wrongByte), 400, 'ErrorBadRequest'],
    [
      'an unknown encoding',
      createEntry(helloEntry, 'application/atom+xml;charset=klingon'),
      400,
      'ErrorBadRequest',
    ],
  ];
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

refuses('an empty body is refused if one is required', ({ open }) => [
  ['nothing at all', create(null, {}), 400, 'ErrorBadRequest'],
  ['no archive', create(null, archiveHeaders()), 400, 'ErrorBadRequest'],
  ['no entry', create(null, entryHeaders()), 400, 'ErrorBadRequest'],
  ['no form', create(null, { ...formType }), 400, 'ErrorBadRequest'],
  [
    'an empty archive in a form',
    createForm(formOf([entryPart(), archivePart(Buffer.alloc(0))])),
    400,
    'ErrorBadRequest',
  ],
  ['an empty entry in a form', createForm(formOf([archivePart(), entryPart('')])), 400, 'ErrorBadRequest'],
  [
    'an addition of nothing',
    { method: 'POST', target: `${open}metadata/`, headers: { ...partial } },
    400,
    'ErrorBadRequest',
  ],
  [
    'a replacement by nothing',
    { method: 'PUT', target: `${open}metadata/`, headers: entryHeaders() },
    400,
    'ErrorBadRequest',
  ],
  [
    'no archive at the EM-IRI',
    { method: 'POST', target: `${open}media/`, headers: archiveHeaders() },
    400,
    'ErrorBadRequest',
  ],
]);

refuses('a form has one archive, one entry, and its end', () => {
  const whole = formOf([archivePart(), entryPart()]);
  const huge = { headers: { ...archivePart().headers, 'X-Long': 'a'.repeat(20_000) }, body: helloZip };
  const bodies: Record<string, Buffer | string> = {
    'two archives': formOf([archivePart(), archivePart(helloTar, 'b.tar', 'application/x-tar')]),
    'two archives around an entry': formOf([archivePart(), entryPart(), archivePart()]),
    'two entries': formOf([entryPart(), entryPart()]),
    'two entries after an archive': formOf([archivePart(), entryPart(), entryPart()]),
    'no part': `--${BOUNDARY}--\r\n`,
    'no closing boundary': formOf([archivePart(), entryPart()], { open: true }),
    'cut in the closing boundary': whole.subarray(0, -5),
    'cut in the entry': whole.subarray(0, -60),
    'cut in the archive': whole.subarray(0, 200),
    'cut in the first headers': whole.subarray(0, 30),
    'another boundary': whole.toString('latin1').replaceAll(BOUNDARY, 'other'),
    garbage: Buffer.alloc(5_000, 'garbage'),
    'a part with headers beyond bounds': formOf([huge]),
    'a malformed header': formOf([{ headers: { 'Bad Header': 'x' }, body: 'x' }]),
    'bytes after a boundary': whole.toString('latin1').replace(`--${BOUNDARY}\r\n`, `--${BOUNDARY}x\r\n`),
  };
  return [
    ...Object.entries(bodies).map(
      ([what, body]): Refusal => [what, createForm(body), 400, 'ErrorBadRequest'],
    ),
    ['no boundary', create(whole, { 'Content-Type': 'multipart/form-data' }), 400, 'ErrorBadRequest'],
    [
      'an endless boundary',
      create(whole, { 'Content-Type': `multipart/form-data; boundary=${'a'.repeat(71)}` }),
      400,
      'ErrorBadRequest',
    ],
  ];
});

refuses(
  'a body above the limits is refused, by its declared length or as soon as it exceeds them',
  ({ open }) => {
    const tooLarge = [413, 'MaxUploadSizeExceeded'] as const;
    const bigEntry = entryXml(`<title>${'a'.repeat(MAX_ENTRY)}</title>`);
    return [
      ['an archive', createArchive({}, big), ...tooLarge],
      ['an archive in a form', createForm(formOf([entryPart(), archivePart(big)])), ...tooLarge],
      ['an archive before an entry', createForm(formOf([archivePart(big), entryPart()])), ...tooLarge],
      ['an entry', createEntry(bigEntry), ...tooLarge],
      ['an entry in a form', createForm(formOf([archivePart(), entryPart(bigEntry)])), ...tooLarge],
      ['a form', createForm(Buffer.alloc(400_000, '-')), ...tooLarge],
      [
        'on the EM-IRI',
        { method: 'PUT', target: `${open}media/`, body: big, headers: archiveHeaders() },
        ...tooLarge,
      ],
      [
        'on the Edit-IRI',
        { method: 'PUT', target: `${open}metadata/`, body: bigEntry, headers: entryHeaders() },
        ...tooLarge,
      ],
    ];
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
      const stream = new Response(new Uint8Array(body)).body;
      const answer = await alice.send('POST', '/1/software/', {
        body: stream,
        headers,
        duplex: 'half',
      });
      await assertSwordError(t, answer, 413, 'MaxUploadSizeExceeded', headers['Content-Type']);
    }
  });
});

refuses('In-Progress is true or false, everywhere', ({ open }) => {
  const writes: Request[] = [
    createForm(formOf([archivePart()])),
    { method: 'POST', target: `${open}media/`, body: helloZip, headers: archiveHeaders() },
    { method: 'PUT', target: `${open}media/`, body: helloZip, headers: archiveHeaders() },
    { method: 'POST', target: `${open}metadata/`, body: helloEntry, headers: entryHeaders() },
    { method: 'PUT', target: `${open}atom/`, body: helloEntry, headers: entryHeaders() },
    { method: 'POST', target: `${open}metadata/` },
  ];
  return ['maybe', '', '1', 'true, true'].flatMap((value) =>
    writes.map(
      ({ headers, ...request }): Refusal => [
        value,
        { ...request, headers: { ...headers, 'In-Progress': value } },
        400,
        'ErrorBadRequest',
      ],
    ),
  );
});

refuses('a mediated deposit is refused', ({ open }) => {
  const writes: Request[] = [
    createForm(formOf([archivePart()])),
    { method: 'POST', target: `${open}media/`, body: helloZip, headers: archiveHeaders() },
    { method: 'PUT', target: `${open}media/`, body: helloZip, headers: archiveHeaders() },
    { method: 'DELETE', target: `${open}media/` },
    { method: 'POST', target: `${open}metadata/`, headers: { ...final } },
    { method: 'PUT', target: `${open}metadata/`, body: helloEntry, headers: entryHeaders() },
    { method: 'DELETE', target: `${open}metadata/` },
  ];
  return writes.map(
    ({ headers, ...request }): Refusal => [
      `${request.method} ${request.target}`,
      { ...request, headers: { ...headers, 'On-Behalf-Of': 'carol' } },
      412,
      'MediationNotAllowed',
    ],
  );
});

refuses('of several faults the first in the order of validation is reported', ({ open, done }) => {
  const mediation = { 'On-Behalf-Of': 'carol' };
  const syntax = { 'In-Progress': 'maybe' };
  const stale = { 'If-Match': '"1-999"' };
  const text = { ...archiveHeaders(), 'Content-Type': 'text/plain' };
  const unknown = { Authorization: 'Basic bm9ib2R5' };
  const put = (
    target: string,
    headers: Record<string, string>,
    body: Buffer | string = helloZip,
  ): Request => ({ method: 'PUT', target, body, headers });
  return [
    [
      '401 before an unknown route',
      { method: 'GET', target: '/nowhere', headers: unknown },
      401,
      'Unauthorized',
    ],
    [
      '401 before a method',
      { method: 'DELETE', target: '/1/servicedocument/', headers: unknown },
      401,
      'Unauthorized',
    ],
    [
      '401 before mediation',
      put(`${open}media/`, { ...text, ...unknown, ...mediation }),
      401,
      'Unauthorized',
    ],
    ['the route before mediation', put('/1/software/1/other/', mediation), 404, 'NotFound'],
    ['the method before the collection', put('/1/nowhere/', mediation), 405, 'MethodNotAllowed'],
    ['the method before the deposit', put('/1/software/999/status/', mediation), 405, 'MethodNotAllowed'],
    [
      'the collection before mediation',
      { method: 'POST', target: '/1/nowhere/', headers: { ...mediation, ...syntax } },
      404,
      'NotFound',
    ],
    [
      'the deposit before mediation',
      put('/1/software/999/media/', { ...text, ...mediation }),
      404,
      'NotFound',
    ],
    [
      'mediation before syntax',
      put(`${open}media/`, { ...text, ...mediation, ...syntax }),
      412,
      'MediationNotAllowed',
    ],
    [
      'syntax before the state',
      put(`${done}media/`, { ...archiveHeaders(), ...syntax }),
      400,
      'ErrorBadRequest',
    ],
    ['a file name before the state', put(`${done}media/`, archiveHeaders('..')), 400, 'ErrorBadRequest'],
    [
      'the state before If-Match',
      put(`${done}media/`, { ...archiveHeaders(), ...stale }),
      405,
      'MethodNotAllowed',
    ],
    ['the state before the type', put(`${done}metadata/`, text), 405, 'MethodNotAllowed'],
    ['If-Match before the type', put(`${open}media/`, { ...text, ...stale }), 412, 'ETagNotMatched'],
    ['the type before the length', put(`${open}media/`, text, big), 415, 'ErrorContent'],
    [
      'the packaging before the length',
      put(`${open}media/`, { ...archiveHeaders(), Packaging: 'urn:x' }, big),
      415,
      'ErrorContent',
    ],
    [
      'the length before the bytes',
      put(`${open}media/`, archiveHeaders(), Buffer.alloc(MAX_UPLOAD + 1, 'x')),
      413,
      'MaxUploadSizeExceeded',
    ],
    [
      'the length before the MD5',
      put(`${open}media/`, { ...archiveHeaders(), 'Content-MD5': md5Of('other') }, big),
      413,
      'MaxUploadSizeExceeded',
    ],
  ];
});

refuses('an origin outside the provider URL is refused and leaves nothing', ({ open }) => {
  const origin = '<d:create_origin><d:origin url="https://elsewhere.example/x"/></d:create_origin>';
  const entry = entryXml(`<title>T</title><author><name>A</name></author>${origin}`);
  return [
    ['in an entry', createEntry(entry), 403, 'Forbidden'],
    ['in a form', createForm(formOf([archivePart(), entryPart(entry)])), 403, 'Forbidden'],
    [
      'at the Edit-IRI',
      { method: 'POST', target: `${open}metadata/`, body: entry, headers: entryHeaders() },
      403,
      'Forbidden',
    ],
  ];
});

refuses('a body lost in transit does not complete its deposit', ({ open }) => {
  const lost = (headers: Record<string, string>): Request => ({
    method: 'POST',
    target: `${open}metadata/`,
    headers: { ...entryHeaders(), ...final, ...headers },
  });
  const [sha, onlyEntry] = [`sha-256=:${Buffer.alloc(32).toString('base64')}:`, formOf([entryPart()])];
  return [
    ['its MD5', lost({ 'Content-MD5': md5Of(helloEntry) }), 412, 'ErrorChecksumMismatch'],
    ['its digest', lost({ 'Content-Digest': sha }), 412, 'ErrorChecksumMismatch'],
    ['the digest of what it stands for', lost({ 'Repr-Digest': sha }), 412, 'ErrorChecksumMismatch'],
    [
      'the archive of a form',
      create(onlyEntry, { ...formType, ...final, 'Content-MD5': md5Of(helloZip) }),
      412,
      'ErrorChecksumMismatch',
    ],
  ];
});

refuses('a dry run is possible only for a new deposit', ({ open, done }) => [
  ...(['POST', 'PUT'] as const).flatMap((method): Refusal[] => [
    [
      `${method} of metadata`,
      { method, target: `${open}metadata/?dry-run=true`, body: helloEntry, headers: entryHeaders() },
      400,
      'ErrorBadRequest',
    ],
    [
      `${method} of an archive`,
      {
        method,
        target: `${open}media/?dry-run=true`,
        body: new Uint8Array(helloZip),
        headers: archiveHeaders(),
      },
      400,
      'ErrorBadRequest',
    ],
  ]),
  ['a completion', { method: 'POST', target: `${open}metadata/?dry-run=true` }, 400, 'ErrorBadRequest'],
  ['a deletion', { method: 'DELETE', target: `${open}metadata/?dry-run=true` }, 400, 'ErrorBadRequest'],
  ['what is done', { method: 'PUT', target: `${done}metadata/?dry-run=true` }, 400, 'ErrorBadRequest'],
]);

const badKey = { 'Idempotency-Key': 'k'.repeat(256) };

refuses('an Idempotency-Key is validated before the body and its type, also of a dry run', ({ open }) => [
  ['creating', create('x', { ...badKey, 'Content-Type': 'a/b' }), 400, 'ErrorBadRequest'],
  [
    'in a dry run',
    { ...create('x', { ...badKey, 'Content-Type': 'a/b' }), target: '/1/software/?dry-run=true' },
    400,
    'ErrorBadRequest',
  ],
  ...(['POST', 'PUT'] as const).map(
    (method) =>
      [
        `${method} to the EM-IRI`,
        { method, target: `${open}media/`, body: 'x', headers: { ...badKey, 'Content-Type': 'a/b' } },
        400,
        'ErrorBadRequest',
      ] as const,
  ),
]);

refuses('a slug is percent-encoded UTF-8 without control characters', () => [
  ['a NUL', createArchive({ Slug: 'a%00b' }), 400, 'ErrorBadRequest'],
  ['broken', createArchive({ Slug: '%E0%A4' }), 400, 'ErrorBadRequest'],
]);

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
  const first = await alice.post('/1/software/', new Uint8Array(helloZip), {
    ...archiveHeaders(),
    ...partial,
  });
  const media = new URL(first.headers.get('location') ?? '').pathname.replace('metadata/', 'media/');
  for (let number = 2; number <= MAX_ARCHIVES; number += 1)
    t.is((await alice.post(media, new Uint8Array(helloZip), archiveHeaders())).status, 201);
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
