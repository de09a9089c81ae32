import test, { type ExecutionContext } from 'ava';
import { contentDocument } from '../../src/sword/documents/content-document.ts';
import { humanDate } from '../../src/sword/documents/deposit-date.ts';
import { depositReceipt } from '../../src/sword/documents/deposit-receipt.ts';
import type { Document } from '../../src/sword/documents/document.ts';
import { errorDocument, errorIri } from '../../src/sword/documents/error-document.ts';
import { render } from '../../src/sword/documents/render.ts';
import { serviceDocument } from '../../src/sword/documents/service-document.ts';
import { statusDocument } from '../../src/sword/documents/status-document.ts';
import { Iris } from '../../src/sword/iris.ts';
import { SWORD_ERRORS, type SwordErrorCode } from '../../src/sword/sword-error.ts';
import { child, type Parsed, parsedBody, texts } from '../../testing/documents/parsed-body.ts';

const atom = (local: string) => `{http://www.w3.org/2005/Atom}${local}`;
const app = (local: string) => `{http://www.w3.org/2007/app}${local}`;
const sword = (local: string) => `{http://purl.org/net/sword/terms/}${local}`;
const dcterms = (local: string) => `{http://purl.org/dc/terms/}${local}`;
const deposit = (local: string) => `{https://deposit.example/schema}${local}`;

const PACKAGINGS = ['SimpleZip', 'Binary'].map((name) => `http://purl.org/net/sword/package/${name}`);

const iris = new Iris('https://deposit.example/');
const depositNamespace = 'https://deposit.example/schema';
const generator = { name: 'Deposit Service', version: '1.2.3', uri: 'https://deposit.example/about' };
const language = { iris, depositNamespace, generator, refIdAliases: true };
const xml = (document: Document) => render(document, 'xml', language);
const asJson = (document: Document) => render(document, 'json', language);

const orbitals = {
  depositId: 42,
  uuid: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
  collection: 'physics',
  title: 'Orbitals',
  client: 'alice',
  createdAt: '2017-09-26T10:32:07.000Z',
  updatedAt: '2017-09-27T00:05:00.000Z',
  archive: { filename: 'orbitals-1.0.zip', mediaType: 'application/zip' },
  status: 'done',
  statusDetail: 'The deposit has been loaded.',
  loaded: {
    refId: 'swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    refIdContext: 'swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904;origin=https://a.example/o;path=/',
  },
  externalId: 'hal-01234567',
  origin: 'https://a.example/o?a=1&b=2',
  treatment: 'Checked, identified, kept.',
  rejection: null,
  archives: [
    {
      number: 2,
      filename: 'orbitals-1.0.zip',
      mediaType: 'application/zip',
      length: 1234,
      sha256: 'a'.repeat(64),
      md5: 'b'.repeat(32),
    },
  ],
  terms: [
    { name: 'title', value: 'Orbitals' },
    { name: 'creator', value: 'Ada' },
  ],
} as const;

const physics = {
  name: 'physics',
  title: 'Physics software',
  accept: ['application/zip', 'application/x-tar'],
  policy: 'Source code only.',
  abstract: 'What physicists write.',
  treatment: 'Checked, identified, kept.',
};

const served = {
  maxUploadSize: 20971520,
  archiveLimits: { unpackedBytes: 536870912, members: 100000, ratio: 200 },
  dryRun: true,
  collections: [physics],
};

function assertNamespaces(t: ExecutionContext, root: Parsed, defaultNamespace: string): void {
  t.like(root.attributes, {
    xmlns: defaultNamespace,
    'xmlns:atom': 'http://www.w3.org/2005/Atom',
    'xmlns:sword': 'http://purl.org/net/sword/terms/',
    'xmlns:dcterms': 'http://purl.org/dc/terms/',
    'xmlns:depositns': depositNamespace,
  });
}

/**
 * Returns all deposit fields; asserts that each occurs once in either namespace, with the spelling that clients
 * expect.
 */
function depositFields(t: ExecutionContext, root: Parsed): Record<string, string> {
  const prefixed = root.children.filter(({ qname }) => qname.startsWith('depositns:'));
  const fields = Object.fromEntries(
    prefixed.map(({ qname, text }) => [qname.slice('depositns:'.length), text]),
  );
  t.is(Object.keys(fields).length, prefixed.length);
  for (const [name, text] of Object.entries(fields)) {
    t.deepEqual(texts(root, deposit(name)), [text]);
    t.deepEqual(texts(root, atom(name)), [text]);
    t.is(root.children.filter(({ qname }) => qname === name).length, 1);
  }
  t.is(root.children.filter(({ qname }) => qname.startsWith('deposit_')).length, prefixed.length);
  return fields;
}

const PLACE = 'https://deposit.example/1/physics/42';
const FEED = 'application/atom+xml;type=feed';
const STATEMENT = 'http://purl.org/net/sword/terms/statement';

/** The links of the receipt to the other resources of its deposit, in order. */
const LINKS = [
  { rel: 'edit', href: `${PLACE}/metadata/` },
  { rel: 'edit-media', href: `${PLACE}/media/` },
  { rel: 'http://purl.org/net/sword/terms/add', href: `${PLACE}/metadata/` },
  { rel: 'alternate', href: `${PLACE}/status/` },
  { rel: STATEMENT, href: `${PLACE}/statement/`, type: FEED },
  { rel: STATEMENT, href: `${PLACE}/statement/rdf/`, type: 'application/rdf+xml' },
  { rel: 'edit-media', href: `${PLACE}/media/feed/`, type: FEED },
  { rel: 'version-history', href: `${PLACE}/history/`, type: FEED },
];

test('a receipt is an Atom entry with the fields, links and packaging of the interface', (t) => {
  const body = xml(depositReceipt(orbitals, language));
  t.true(body.startsWith('<?xml version="1.0" encoding="UTF-8"?>'));
  const root = parsedBody(body);
  t.is(root.name, atom('entry'));
  t.is(root.qname, 'entry');
  assertNamespaces(t, root, 'http://www.w3.org/2005/Atom');
  t.deepEqual(depositFields(t, root), {
    deposit_id: '42',
    deposit_date: 'Sept. 26, 2017, 10:32 a.m.',
    deposit_archive: 'orbitals-1.0.zip',
    deposit_status: 'done',
  });
  t.is(child(root, atom('id')).text, 'urn:uuid:6ba7b810-9dad-41d1-80b4-00c04fd430c8');
  t.is(child(root, atom('title')).text, 'Orbitals');
  t.is(child(root, atom('updated')).text, '2017-09-27T00:05:00.000Z');
  t.is(child(root, atom('published')).text, '2017-09-26T10:32:07.000Z');
  t.is(child(child(root, atom('author')), atom('name')).text, 'alice');
  t.deepEqual(texts(root, atom('generator')), [], 'Atom has it in feeds alone');
  t.deepEqual(child(root, atom('content')).attributes, {
    src: `${PLACE}/media/`,
    type: 'application/zip',
  });
  t.is(child(root, sword('treatment')).text, 'Checked, identified, kept.');
  t.deepEqual(texts(root, sword('packaging')), PACKAGINGS);
  t.deepEqual(texts(root, dcterms('title')), ['Orbitals']);
  t.deepEqual(texts(root, dcterms('creator')), ['Ada']);
  t.deepEqual(
    root.children.filter(({ name }) => name === atom('link')).map(({ attributes }) => attributes),
    [
      ...LINKS,
      {
        rel: 'http://purl.org/net/sword/terms/originalDeposit',
        href: `${PLACE}/media/2/`,
        type: 'application/zip',
        title: 'orbitals-1.0.zip',
        length: '1234',
        'depositns:sha256': 'a'.repeat(64),
        'depositns:md5': 'b'.repeat(32),
      },
    ],
  );
});

test('a receipt without an archive says None and has no content', (t) => {
  const root = parsedBody(xml(depositReceipt({ ...orbitals, archive: null, title: null }, language)));
  t.is(depositFields(t, root)['deposit_archive'], 'None');
  t.deepEqual(texts(root, atom('content')), []);
  t.is(child(root, atom('title')).text, 'Deposit 42');
});

test('the status of a done deposit has its identifiers, under both pairs of names', (t) => {
  const root = parsedBody(xml(statusDocument(orbitals, language)));
  assertNamespaces(t, root, 'http://www.w3.org/2005/Atom');
  t.is(root.name, atom('entry'));
  t.deepEqual(depositFields(t, root), {
    deposit_id: '42',
    deposit_status: 'done',
    deposit_status_detail: 'The deposit has been loaded.',
    deposit_ref_id: orbitals.loaded.refId,
    deposit_ref_id_context: orbitals.loaded.refIdContext,
    deposit_swh_id: orbitals.loaded.refId,
    deposit_swh_id_context: orbitals.loaded.refIdContext,
    deposit_external_id: 'hal-01234567',
    deposit_origin_url: 'https://a.example/o?a=1&b=2',
  });
});

test('the second pair of names can be disabled', (t) => {
  const document = statusDocument(orbitals, { ...language, refIdAliases: false });
  const fields = depositFields(t, parsedBody(xml(document)));
  t.is(fields['deposit_ref_id'], orbitals.loaded.refId);
  t.false('deposit_swh_id' in fields);
  t.false('deposit_swh_id_context' in fields);
});

test('the status of a deposit that is not done has no identifier', (t) => {
  const rejected = {
    ...orbitals,
    status: 'rejected',
    statusDetail: '- No archive (archive)',
    loaded: null,
    externalId: null,
    origin: null,
  } as const;
  t.deepEqual(depositFields(t, parsedBody(xml(statusDocument(rejected, language)))), {
    deposit_id: '42',
    deposit_status: 'rejected',
    deposit_status_detail: '- No archive (archive)',
  });
  t.false(asJson(statusDocument(rejected, language)).includes('ref_id'));
});

test('the content document has the four fields of the interface', (t) => {
  const root = parsedBody(xml(contentDocument(orbitals, language)));
  assertNamespaces(t, root, 'http://www.w3.org/2005/Atom');
  t.deepEqual(depositFields(t, root), {
    deposit_id: '42',
    deposit_date: 'Sept. 26, 2017, 10:32 a.m.',
    deposit_status: 'done',
    deposit_status_detail: 'The deposit has been loaded.',
  });
  t.is(child(root, atom('published')).text, '2017-09-26T10:32:07.000Z');
});

test('status and content are Atom entries with an author and their own location', (t) => {
  for (const [name, text] of Object.entries({
    status: xml(statusDocument(orbitals, language)),
    content: xml(contentDocument(orbitals, language)),
  })) {
    const root = parsedBody(text);
    t.is(child(child(root, atom('author')), atom('name')).text, orbitals.client);
    const { attributes } = child(root, atom('link'));
    t.deepEqual(attributes, { rel: 'alternate', href: `${PLACE}/${name}/` });
  }
});

test('JSON has the same facts under the names of the elements', (t) => {
  const receipt: unknown = JSON.parse(asJson(depositReceipt(orbitals, language)));
  t.like(receipt, {
    deposit_id: 42,
    deposit_date: 'Sept. 26, 2017, 10:32 a.m.',
    deposit_archive: 'orbitals-1.0.zip',
    deposit_status: 'done',
    treatment: 'Checked, identified, kept.',
    dcterms: orbitals.terms,
    archives: [
      {
        href: `${PLACE}/media/2/`,
        type: 'application/zip',
        filename: 'orbitals-1.0.zip',
        length: 1234,
        sha256: 'a'.repeat(64),
        md5: 'b'.repeat(32),
      },
    ],
    content: { src: `${PLACE}/media/`, type: 'application/zip' },
    links: LINKS,
  });
  t.like(JSON.parse(asJson(depositReceipt({ ...orbitals, archive: null }, language))), {
    deposit_archive: null,
    content: null,
  });
  t.like(JSON.parse(asJson(statusDocument(orbitals, language))), {
    author: { name: orbitals.client },
    deposit_id: 42,
    deposit_status: 'done',
    deposit_status_detail: 'The deposit has been loaded.',
    deposit_ref_id: orbitals.loaded.refId,
    deposit_ref_id_context: orbitals.loaded.refIdContext,
    deposit_swh_id: orbitals.loaded.refId,
    deposit_swh_id_context: orbitals.loaded.refIdContext,
  });
  t.like(JSON.parse(asJson(contentDocument(orbitals, language))), {
    author: { name: orbitals.client },
    deposit_id: 42,
    deposit_date: 'Sept. 26, 2017, 10:32 a.m.',
    deposit_status: 'done',
    deposit_status_detail: 'The deposit has been loaded.',
  });
});

test('the service document describes each collection of the client', (t) => {
  const root = parsedBody(xml(serviceDocument(served, language)));
  t.is(root.name, app('service'));
  t.is(root.qname, 'service');
  assertNamespaces(t, root, 'http://www.w3.org/2007/app');
  t.is(child(root, sword('version')).text, '2.0');
  t.is(child(root, sword('maxUploadSize')).text, '20971520');
  t.deepEqual(
    ['maxUnpackedSize', 'maxMembers', 'maxRatio'].map((name) => child(root, deposit(name)).text),
    ['536870912', '100000', '200'],
  );
  const workspace = child(root, app('workspace'));
  t.is(child(workspace, atom('title')).text, 'Source code deposits');
  const collection = child(workspace, app('collection'));
  t.deepEqual(collection.attributes, { href: 'https://deposit.example/1/physics/' });
  t.deepEqual(
    collection.children.map(({ name, text, attributes }) => [name, text, ...Object.values(attributes)]),
    [
      [atom('title'), 'Physics software'],
      [app('accept'), 'application/zip'],
      [app('accept'), 'application/x-tar'],
      [app('accept'), 'application/zip', 'multipart-related'],
      [app('accept'), 'application/x-tar', 'multipart-related'],
      [app('accept'), 'application/atom+xml;type=entry'],
      [sword('collectionPolicy'), 'Source code only.'],
      [dcterms('abstract'), 'What physicists write.'],
      [sword('mediation'), 'false'],
      [sword('metadataRelevantHeader'), 'false'],
      [sword('treatment'), 'Checked, identified, kept.'],
      ...PACKAGINGS.map((packaging) => [sword('acceptPackaging'), packaging]),
      [sword('service'), 'https://deposit.example/1/servicedocument/physics/'],
      [sword('name'), 'physics'],
      ['{https://deposit.example/schema}idempotencyKey', 'true'],
      ['{https://deposit.example/schema}dryRun', 'true'],
    ],
  );
  t.like(JSON.parse(asJson(serviceDocument(served, language))), {
    version: '2.0',
    max_upload_size: 20971520,
    max_unpacked_size: 536870912,
    max_members: 100000,
    max_ratio: 200,
    workspace: {
      title: 'Source code deposits',
      collections: [{ href: 'https://deposit.example/1/physics/', name: 'physics', mediation: false }],
    },
  });
});

test('the service document names the domain of the client, if it has one', (t) => {
  const clientDomain = 'alice.example';
  const withDomain = serviceDocument({ ...served, clientDomain }, language);
  t.is(child(parsedBody(xml(withDomain)), '{https://deposit.example/schema}clientDomain').text, clientDomain);
  t.like(JSON.parse(asJson(withDomain)), { client_domain: clientDomain });
  t.notRegex(asJson(serviceDocument(served, language)), /client_domain/);
});

test('the service document of a collection links to no other', (t) => {
  const document = serviceDocument({ ...served, isOfCollection: true }, language);
  const root = parsedBody(xml(document));
  const collection = child(child(root, app('workspace')), app('collection'));
  t.deepEqual(texts(collection, sword('service')), []);
  t.deepEqual(texts(collection, sword('name')), ['physics']);
  t.notRegex(asJson(document), /"service"/);
});

test('a client without collections still has its workspace', (t) => {
  const root = parsedBody(xml(serviceDocument({ ...served, collections: [] }, language)));
  t.deepEqual(
    child(root, app('workspace')).children.map(({ name }) => name),
    [atom('title')],
  );
});

test('an error document names the error, the remedy and the values', (t) => {
  const error = {
    code: 'MaxUploadSizeExceeded',
    summary: 'The archive is too large.',
    verboseDescription: '30 bytes were sent, 20 are allowed.',
    updated: '2020-02-29T12:00:00.000Z',
  } as const;
  const root = parsedBody(xml(errorDocument(error, language)));
  t.is(root.name, sword('error'));
  t.is(root.qname, 'sword:error');
  assertNamespaces(t, root, 'http://www.w3.org/2005/Atom');
  t.is(root.attributes['href'], 'http://purl.org/net/sword/error/MaxUploadSizeExceeded');
  t.deepEqual(
    root.children.map(({ name, text }) => [name, text]),
    [
      [atom('title'), 'Maximum upload size exceeded'],
      [atom('updated'), '2020-02-29T12:00:00.000Z'],
      [atom('generator'), 'Deposit Service'],
      [atom('summary'), 'The archive is too large.'],
      [sword('treatment'), 'processing failed'],
      [sword('verboseDescription'), '30 bytes were sent, 20 are allowed.'],
    ],
  );
});

test('each error has its status and its IRI', (t) => {
  const own = `${depositNamespace}/error`;
  const standard = 'http://purl.org/net/sword/error';
  const expected: Record<SwordErrorCode, readonly [number, string]> = {
    ErrorBadRequest: [400, standard],
    Unauthorized: [401, own],
    Forbidden: [403, own],
    NotFound: [404, own],
    MethodNotAllowed: [405, standard],
    NotAcceptable: [406, standard],
    Conflict: [409, own],
    ErrorChecksumMismatch: [412, standard],
    MediationNotAllowed: [412, standard],
    ETagNotMatched: [412, own],
    TusVersionNotSupported: [412, own],
    MaxUploadSizeExceeded: [413, standard],
    ErrorContent: [415, standard],
    RangeNotSatisfiable: [416, own],
    UploadLocked: [423, own],
    TooManyRequests: [429, own],
    UploadChecksumMismatch: [460, own],
    InternalError: [500, own],
    ServiceUnavailable: [503, own],
  };
  for (const [code, [status, base]] of Object.entries(expected) as [
    SwordErrorCode,
    readonly [number, string],
  ][]) {
    t.is(SWORD_ERRORS[code].status, status, code);
    const name = code === 'NotAcceptable' ? 'ErrorContent' : code;
    t.is(errorIri(code, depositNamespace), `${base}/${name}`);
    t.is(errorIri(code, `${depositNamespace}/`), `${base}/${name}`);
  }
});

test('dates are rendered in human-readable form', (t) => {
  const cases = [
    ['2017-09-26T10:32:59.999Z', 'Sept. 26, 2017, 10:32 a.m.'],
    ['2024-02-29T00:05:00Z', 'Feb. 29, 2024, 12:05 a.m.'],
    ['2024-03-01T12:05:00Z', 'March 1, 2024, 12:05 p.m.'],
    ['2024-05-31T23:59:00Z', 'May 31, 2024, 11:59 p.m.'],
    ['2024-12-09T13:00:00Z', 'Dec. 9, 2024, 1:00 p.m.'],
    ['2024-01-01T00:30:00+01:00', 'Dec. 31, 2023, 11:30 p.m.'],
  ] as const;
  for (const [date, text] of cases) t.is(humanDate(new Date(date)), text);
  const months = Array.from(
    { length: 12 },
    (_, month) => humanDate(new Date(Date.UTC(2020, month, 1))).split(' ')[0],
  );
  t.is(months.join(' '), 'Jan. Feb. March April May June July Aug. Sept. Oct. Nov. Dec.');
});

test('IRIs are absolute, end with a slash and keep the path of the base URL', (t) => {
  const proxied = new Iris('https://Host.example:8443/deposit//');
  t.is(proxied.serviceDocument(), 'https://host.example:8443/deposit/1/servicedocument/');
  t.is(proxied.collection('a~b'), 'https://host.example:8443/deposit/1/a~b/');
  t.is(proxied.content('x', 7), 'https://host.example:8443/deposit/1/x/7/content/');
  t.is(new Iris('http://localhost:80').deposit('x', 7), 'http://localhost/1/x/7/');
  for (const wrong of [
    'deposit.example',
    'ftp://a.example',
    'https://u:p@a.example',
    'https://a.example/?x',
    '',
  ]) {
    t.throws(() => new Iris(wrong), { instanceOf: TypeError }, wrong);
  }
});

const PIECES = [
  '&',
  '&amp;',
  '&#1;',
  '&#x0;',
  '&nbsp;',
  '<',
  '>',
  ']]>',
  '"',
  "'",
  '<!--',
  '--',
  '?>',
  '<![CDATA[',
];
const ODD = [
  '\0',
  '\u0008',
  '\u000b',
  '\u001f',
  '\u007f',
  '\u0085',
  '\u2028',
  '\ufffe',
  '\uffff',
  '\r',
  '\n',
  '\t',
];
const WIDE = ['\u{1f600}', '\u{10ffff}', '\ud800', '\udfff', 'é', '漢', 'a', ' ', '\r\n'];

/** Yields texts, equal in every run. */
function* oddTexts(count: number): Generator<string> {
  const pieces = [...PIECES, ...ODD, ...WIDE];
  let state = 12345;
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let i = 0; i < count; i += 1) {
    yield Array.from({ length: 1 + next(12) }, () => pieces[next(pieces.length)]).join('');
  }
}

/** Computes independently of the code: characters that XML 1.0 cannot represent become U+FFFD, all others stay. */
function expected(text: string): string {
  const allowed = (code: number) =>
    code === 9 ||
    code === 10 ||
    code === 13 ||
    (code >= 32 && code < 0xd800) ||
    (code > 0xdfff && code < 0xfffe);
  return Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return allowed(code) || code > 0xffff ? character : '\ufffd';
  }).join('');
}

test('every document is well-formed with any text, and returns it unchanged', (t) => {
  for (const text of oddTexts(400)) {
    const want = expected(text);
    const odd = {
      ...orbitals,
      title: text,
      client: text,
      archive: { filename: text, mediaType: text },
      statusDetail: text,
      loaded: { refId: text, refIdContext: text },
      treatment: text,
      archives: orbitals.archives.map((archive) => ({ ...archive, filename: text, mediaType: text })),
      terms: [{ name: 'abstract', value: text }],
    };
    const oddLanguage = { ...language, generator: { name: text, version: text, uri: text } };

    const receipt = parsedBody(xml(depositReceipt(odd, oddLanguage)));
    t.is(child(receipt, atom('title')).text, want);
    t.is(child(receipt, deposit('deposit_archive')).text, want);
    t.is(child(receipt, atom('content')).attributes['type'], want);
    t.is(child(receipt, sword('treatment')).text, want);
    t.is(child(receipt, dcterms('abstract')).text, want);
    t.true(receipt.children.some(({ attributes }) => attributes['title'] === want));
    t.is(child(child(receipt, atom('author')), atom('name')).text, want);

    const status = parsedBody(xml(statusDocument(odd, oddLanguage)));
    t.is(child(status, deposit('deposit_status_detail')).text, want);
    t.is(child(status, atom('deposit_swh_id_context')).text, want);

    const content = parsedBody(xml(contentDocument(odd, oddLanguage)));
    t.is(child(content, atom('deposit_status_detail')).text, want);

    const { name } = physics;
    const collection = { name, title: text, accept: [text], policy: text, abstract: text, treatment: text };
    const service = parsedBody(xml(serviceDocument({ ...served, collections: [collection] }, oddLanguage)));
    const workspace = child(service, app('workspace'));
    t.is(child(child(workspace, app('collection')), atom('title')).text, want);
    t.is(child(child(workspace, app('collection')), dcterms('abstract')).text, want);
    t.is(child(child(workspace, app('collection')), sword('collectionPolicy')).text, want);

    const error = { code: 'NotFound', summary: text, verboseDescription: text, updated: text } as const;
    const refused = parsedBody(xml(errorDocument(error, oddLanguage)));
    t.is(child(refused, atom('summary')).text, want);
    t.is(child(refused, sword('verboseDescription')).text, want);

    for (const json of [asJson(depositReceipt(odd, oddLanguage)), asJson(statusDocument(odd, oddLanguage))]) {
      t.notThrows(() => JSON.parse(json));
    }
  }
});
