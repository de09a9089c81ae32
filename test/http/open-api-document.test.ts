import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import test from 'ava';
import { ACCEPTABLE_TYPES } from '../../src/domain/collection/collection.ts';
import { STATUSES } from '../../src/domain/deposit/status-detail.ts';
import { HISTORY_OFFERS } from '../../src/http/iris/history.ts';
import { STATEMENT_OFFERS } from '../../src/http/iris/statement.ts';
import { ERROR_TYPES } from '../../src/http/middleware/answer-errors.ts';
import { LANDING_OFFERS } from '../../src/http/middleware/landing-page.ts';
import { OPTIONAL_MODULES, type OptionalModule } from '../../src/http/middleware/open-api-document.ts';
import { MAX_PAGE_SIZE, PAGE_SIZE } from '../../src/http/requests/deposit-query.ts';
import { LIST_OFFERS } from '../../src/http/responses/answer-deposit-list.ts';
import { MEDIA_FEED_OFFERS } from '../../src/http/responses/answer-media-feed.ts';
import { DIRECTORY_OFFERS } from '../../src/http/responses/answer-object.ts';
import { OPEN_ROUTES, ROUTES } from '../../src/http/route-table.ts';
import {
  OFFSET_TYPE,
  parseUploadChecksum,
  TUS_VERSION,
} from '../../src/modules/resumable-uploads/http/tus-headers.ts';
import { CHECKSUM_ALGORITHMS } from '../../src/modules/resumable-uploads/upload.ts';
import { parseReference, parseSwhid } from '../../src/swhid/swhid.ts';
import { errorIri } from '../../src/sword/documents/error-document.ts';
import { SWORD_VERSION } from '../../src/sword/documents/service-document.ts';
import { DOCUMENT_OFFERS, FACTS_OFFERS } from '../../src/sword/headers/accept.ts';
import { parseContentMd5 } from '../../src/sword/headers/content-md5.ts';
import { parseDigestField } from '../../src/sword/headers/digest-fields.ts';
import { COMPRESSED_TAR_TYPES, UNSPECIFIC_TYPES } from '../../src/sword/headers/media-type.ts';
import { PACKAGINGS } from '../../src/sword/headers/packaging.ts';
import { ORIGINAL_DEPOSIT } from '../../src/sword/namespaces.ts';
import { SWORD_ERRORS, type SwordErrorCode } from '../../src/sword/sword-error.ts';
import {
  type Document,
  describe,
  METHODS,
  NAMESPACE,
  nameOf,
  type Operation,
  operations,
  type Parameter,
  referencesIn,
  type Schema,
} from '../../testing/documents/openapi-document.ts';

const ARCHIVE_TYPES = [...ACCEPTABLE_TYPES, ...COMPRESSED_TAR_TYPES];
/** Suffix of the name of a response that also has a header of tus. */
const OF_UPLOADS = 'OfUploads';
/** Refusals before a request is complete. */
const OF_HTTP = { Http408: '408', Http414: '414', Http431: '431', Http505: '505' } as const;

const FILE = new URL('../../docs/openapi.yaml', import.meta.url);
const document = await describe();
const { parameters, responses, schemas } = document.components;

test('exactly the error codes of the service are described, with title and IRI', (t) => {
  const names = Object.keys(responses).filter((name) => !(name in OF_HTTP));
  const described = new Set(names.flatMap(codesOf));
  t.deepEqual([...described].toSorted(), Object.keys(SWORD_ERRORS).toSorted());
  for (const name of names) {
    const said = codesOf(name).map((code) => `${SWORD_ERRORS[code].title}: \`${errorIri(code, NAMESPACE)}\``);
    t.is(responses[name]?.description, `${said.join('; ')}.`, name);
  }
  const titles = schemas['SwordError']?.properties?.['title']?.['enum'];
  t.deepEqual(titles, [...new Set(Object.values(SWORD_ERRORS).map(({ title }) => title))]);
});

test('every refusal is described at its status, common ones at every operation', (t) => {
  const always = ['ErrorBadRequest', 'InternalError'];
  const behindLogin = [...always, 'Unauthorized', 'TooManyRequests', 'ServiceUnavailable'];
  for (const { id, isOpen, refusals } of operations(document)) {
    for (const [status, name] of refusals) {
      const statuses =
        name in OF_HTTP ? [OF_HTTP[name as keyof typeof OF_HTTP]] : codesOf(name).map(statusOf);
      t.deepEqual([...new Set(statuses)], [status], `${id} ${name}`);
    }
    const names = refusals.map(([, name]) => name);
    const codes = new Set<string>(names.flatMap(codesOf));
    for (const code of isOpen ? always : behindLogin) t.true(codes.has(code), `${id} ${code}`);
    for (const name of Object.keys(OF_HTTP)) t.true(names.includes(name), `${id} ${name}`);
  }
});

test('every route is described, public ones without credentials, with HEAD and OPTIONS', (t) => {
  const templates = Object.entries({ ...OPEN_ROUTES, ...ROUTES }).map(([name, route]) => {
    const template = route.replace(/[:*](\w+)/g, '{$1}');
    return [name in OPEN_ROUTES ? template : `${template}/`, name] as const;
  });
  t.deepEqual(Object.keys(document.paths).toSorted(), templates.map(([template]) => template).toSorted());
  for (const [template, name] of templates) {
    const item = document.paths[template] ?? {};
    const named = (item['parameters'] as unknown as Operation['parameters']) ?? [];
    const places = [...template.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter);
    t.deepEqual(named.map(nameOf), places, template);
    t.is('options' in item, name !== 'live' && name !== 'ready', template);
    for (const method of METHODS.filter((one) => one in item)) {
      t.is(item[method]?.security?.length === 0, name in OPEN_ROUTES, `${method} ${template}`);
    }
    const { get, head } = item;
    if (!get) continue;
    const { 206: _part, 416: _noPart, ...responses } = get.responses; // HEAD ignores Range (RFC 9110, 14.2)
    t.like(head, { parameters: get.parameters, responses }, template);
    t.false('206' in (head?.responses ?? {}), template);
  }
});

test('every document is described in all its media types', (t) => {
  const typesOf = (offers: readonly { readonly contentType: string }[]) =>
    offers.map(({ contentType }) => contentType);
  const documents = typesOf(DOCUMENT_OFFERS);
  const offered: Readonly<Record<string, readonly string[]>> = {
    ServiceDocument: documents,
    Receipt: documents,
    Status: documents,
    Content: documents,
    DryRun: documents,
    ObjectDocument: typesOf(DIRECTORY_OFFERS),
    DepositList: typesOf(LIST_OFFERS),
    ArchiveFeed: [...ARCHIVE_TYPES, ...typesOf(MEDIA_FEED_OFFERS)],
    Statement: typesOf(STATEMENT_OFFERS),
    History: typesOf(HISTORY_OFFERS),
    Landing: typesOf(LANDING_OFFERS),
    SwordError: Object.values(ERROR_TYPES),
    Health: typesOf(FACTS_OFFERS),
    Undelivered: typesOf(FACTS_OFFERS),
    OpenApi: ['application/json', 'application/vnd.oai.openapi+json;version=3.1', 'text/html'],
  };
  const seen = new Set<string>();
  const answers = operations(document).flatMap(({ answers: own }) => own);
  for (const { content = {} } of [...answers, ...Object.values(responses)]) {
    const reference = content['application/json']?.schema?.$ref;
    if (reference === undefined) continue;
    const name = nameOf({ $ref: reference });
    seen.add(name);
    t.deepEqual(Object.keys(content), offered[name], name);
  }
  t.deepEqual([...seen].toSorted(), Object.keys(offered).toSorted());
  const bytes = document.paths['/1/{collection}/{deposit}/media/{file}/']?.['get']?.responses['200'];
  t.deepEqual(Object.keys(bytes?.content ?? {}), ARCHIVE_TYPES);
});

test('every body is described in all accepted media types', (t) => {
  const archives = [...ARCHIVE_TYPES, ...UNSPECIFIC_TYPES];
  const entries = ['application/atom+xml;type=entry', 'application/atom+xml', 'application/xml', 'text/xml'];
  const forms = ['multipart/form-data', 'multipart/related'];
  const accepted: Readonly<Record<string, readonly string[]>> = {
    createDeposit: [...archives, ...entries, ...forms],
    addMetadata: [...archives, ...entries, ...forms],
    replaceMetadata: [...entries, ...forms],
    addMetadataAtAtom: [...archives, ...entries, ...forms],
    replaceMetadataAtAtom: [...entries, ...forms],
    addArchive: [...archives, ...forms],
    replaceArchives: [...archives, ...forms],
    replaceArchive: [...archives, ...forms],
    beginUpload: [OFFSET_TYPE],
    continueUpload: [OFFSET_TYPE],
  };
  const withBody = operations(document).filter(({ body }) => body);
  t.deepEqual(withBody.map(({ id }) => id).toSorted(), Object.keys(accepted).toSorted());
  for (const { id, body = {} } of withBody) {
    t.deepEqual(Object.keys(body), accepted[id], id);
    for (const [name, { encoding = {} }] of Object.entries(body)) {
      const { atom, ...archive } = encoding;
      const types = Object.values(archive).map(({ contentType }) => contentType);
      t.deepEqual(types, forms.includes(name) ? [archives.join(', ')] : [], `${id} ${name}`);
      if (atom) t.is(atom.contentType, entries.join(', '), `${id} ${name}`);
    }
  }
});

test('code generators find a schema for all bytes, a name for each form, and a tag of webhooks alone', (t) => {
  const own = operations(document);
  for (const { id, body = {}, answers } of own) {
    for (const content of [body, ...answers.map((answer) => answer.content ?? {})])
      for (const [type, { schema = {} }] of Object.entries(content)) {
        t.not(Object.keys(schema).length, 0, `${id} ${type}`);
        if (type.startsWith('multipart/')) t.regex(schema.$ref ?? '', /Parts$/, `${id} ${type}`);
      }
  }
  const tagsIn = (paths: object): string[] =>
    [...JSON.stringify(paths).matchAll(/"tags":\["([^"]+)"\]/g)].map(([, tag = '']) => tag);
  t.deepEqual([...new Set(tagsIn(document.webhooks))], ['Webhooks']);
  t.false(tagsIn(document.paths).includes('Webhooks'), 'its functions would replace those of the others');
});

test('constants of the code have the same values in the description', (t) => {
  const { status, packaging, acceptPackaging, pageSize, deposit, tusResumable, uploadChecksum } = parameters;
  t.deepEqual(status?.schema['enum'], STATUSES);
  const withStatus = ['Receipt', 'Status', 'Content', 'ListedDeposit'];
  for (const name of withStatus) t.deepEqual(property(name, 'deposit_status')['enum'], STATUSES, name);
  const dryRun = property('DryRun', 'deposit_status')['enum'] as string[];
  t.deepEqual(
    dryRun.filter((one) => !(STATUSES as readonly string[]).includes(one)),
    [],
  );
  for (const one of [packaging, acceptPackaging]) t.deepEqual(one?.schema['enum'], PACKAGINGS);
  t.deepEqual(property('StatedArchive', 'packaging')['enum'], PACKAGINGS);
  for (const [schema, list] of [
    ['Receipt', 'packaging'],
    ['ServedCollection', 'accept_packaging'],
  ] as const) {
    t.deepEqual((property(schema, list)['items'] as Schema)['enum'], PACKAGINGS);
  }
  t.is(property('StatedArchive', 'category')['const'], ORIGINAL_DEPOSIT);
  t.is(property('ServiceDocument', 'version')['const'], SWORD_VERSION);
  t.is(pageSize?.schema['default'], PAGE_SIZE);
  t.true(pageSize?.description.includes(` ${MAX_PAGE_SIZE} `));
  t.is(deposit?.schema['maximum'], Number.MAX_SAFE_INTEGER);
  t.is(tusResumable?.schema['const'], TUS_VERSION);
  t.true(uploadChecksum?.description.startsWith(`${CHECKSUM_ALGORITHMS.join(', ')}, a blank`));
});

test('In-Progress is described as it is parsed, in any case', (t) => {
  for (const name of ['inProgress', 'inProgressOfArchives']) {
    const pattern = new RegExp(String(document.components.parameters[name]?.schema['pattern']), 'u');
    for (const value of ['true', 'True', 'FALSE']) t.true(pattern.test(value), `${name} ${value}`);
    for (const value of ['yes', '1', 'true ', '']) t.false(pattern.test(value), `${name} ${value}`);
  }
});

test('numbers are described with the maxima that are parsed', async (t) => {
  const maximumOf = (name: string, { components } = document): unknown =>
    components.parameters[name]?.schema['maximum'];
  t.deepEqual(
    ['page', 'pageSize', 'from', 'file', 'uploadLength', 'uploadOffset'].map((name) => maximumOf(name)),
    [999_999_999, 999_999_999, 999_999_999_999_999, Number.MAX_SAFE_INTEGER, 1004, 1004],
  );
  const off = await describe({ maxResumableUploadSize: undefined });
  t.is(maximumOf('uploadLength', off), Number.MAX_SAFE_INTEGER);
});

test('the patterns of identifiers and digests match exactly what is parsed', (t) => {
  const id = 'a'.repeat(40);
  const digest = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64');
  const readers: Readonly<Record<string, readonly [(text: string) => unknown, readonly string[]]>> = {
    swhid: [
      parseReference,
      [
        `swh:1:dir:${id}`,
        `swh:1:cnt:${id};origin=https://example.org/?a=1;visit=swh:1:snp:${id};path=/a%20b;lines=1-2`,
        `swh:1:cnt:${id};anchor=swh:1:rev:${id};bytes=0`,
        `swh:1:dir:${id.toUpperCase()}`,
        `swh:2:dir:${id}`,
        `swh:1:dir:${id};`,
        `swh:1:dir:${id};other=1`,
        `swh:1:dir:${id};origin=`,
        `swh:1:cnt:${id};visit=swh:1:rev:${id}`,
        `swh:1:cnt:${id};path=a`,
        `swh:1:cnt:${id};path=/a b`,
        `swh:1:cnt:${id};lines=0`,
        `swh:1:cnt:${id};bytes=1-`,
      ],
    ],
    checkSwhid: [parseSwhid, [`swh:1:dir:${id}`, `swh:1:dir:${id};path=/`, `swh:2:dir:${id}`]],
    contentMd5: [
      parseContentMd5,
      ['0F'.repeat(16), digest(16), digest(16).slice(0, 22), 'f'.repeat(31), digest(20)],
    ],
    reprDigest: [
      (text) => parseDigestField('Repr-Digest', text),
      [
        `sha-256=:${digest(32)}:`,
        `sha-512=:${digest(64)}:`,
        `sha-256=:${digest(32)}:, sha-512=:${digest(64)}:`,
        `sha-256=:${digest(31)}:`,
        `sha-256=${digest(32)}`,
        `sha-512=:${digest(32)}:`,
      ],
    ],
    uploadChecksum: [
      (text) => parseUploadChecksum({ 'upload-checksum': text }),
      [
        `sha1 ${digest(20)}`,
        `sha256  ${digest(32)}`,
        `md5 ${digest(16)}`,
        `sha1 ${digest(16)}`,
        digest(20),
        `sha512 ${digest(64)}`,
      ],
    ],
  };
  for (const [name, [read, texts]] of Object.entries(readers)) {
    const pattern = new RegExp(String(parameters[name]?.schema['pattern']), 'u');
    for (const text of texts)
      t.is(
        pattern.test(text),
        isRead(() => read(text)),
        `${name}: ${text}`,
      );
  }
});

function isRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

test('the values of the service are substituted; markers and shared parts are omitted', async (t) => {
  t.is(document.info.title, 'deposit-service');
  t.is(document.info.version, '1.2.3');
  t.deepEqual(document.servers, [{ url: 'https://deposit.example' }]);
  const { description } = document.info;
  t.true(description.includes(`The deposit namespace of the XML is ${NAMESPACE}/.`));
  t.true(
    description.includes(
      'has at most 1001 bytes (as a resumable upload, 1004), a deposit 1003 archives, an entry 1002 bytes.',
    ),
  );
  const whole = await describe({ maxResumableUploadSize: undefined });
  t.true(whole.info.description.includes('has at most 1001 bytes, a deposit'));
  const shown = JSON.stringify(document);
  t.notRegex(shown, /"x-/);
  t.notRegex(shown.replace(/"(\/[^"]*)":/g, ''), /\{[a-z]\w*\}/i, 'but in paths');
});

test('every reference resolves, and every component is referenced', (t) => {
  const referred = new Set(referencesIn(document));
  const { components } = document;
  const named = (['parameters', 'headers', 'responses', 'schemas'] as const).flatMap((kind) =>
    Object.keys(components[kind]).map((name) => `#/components/${kind}/${name}`),
  );
  t.deepEqual([...referred].toSorted(), named.toSorted());
});

/** Parts of the description for each optional capability. */
const PARTS: Readonly<Record<OptionalModule, readonly string[]>> = {
  'resumable-uploads': [
    'beginUpload',
    'uploadsOptions',
    'getUpload',
    'continueUpload',
    'removeUpload',
    'uploadOptions',
    'createDeposit header Upload',
    'addMetadata header Upload',
    'addMetadataAtAtom header Upload',
    'addArchive header Upload',
    'replaceArchives header Upload',
    'replaceArchive header Upload',
  ],
  'dry-run': ['createDeposit query dry-run', 'createDeposit 200'],
  webhooks: ['listUndelivered', 'listUndeliveredHead', 'notificationsOptions', 'webhook depositNews'],
  'status-events': [
    'followDeposit',
    'followDepositHead',
    'eventsOptions',
    'followCollection',
    'followCollectionHead',
    'collectionEventsOptions',
  ],
};

for (const module of OPTIONAL_MODULES) {
  test(`without ${module} only its part of the description is missing`, async (t) => {
    const without = await describe({ modules: new Set(OPTIONAL_MODULES.filter((name) => name !== module)) });
    const left = new Set(factsOf(without));
    const gone = factsOf(document).filter((fact) => !left.has(fact));
    const isPart = (fact: string) =>
      PARTS[module].some((part) => fact === part || (!part.includes(' ') && fact.startsWith(`${part} `)));
    t.deepEqual(
      gone.filter((fact) => !isPart(fact)),
      [],
    );
    t.deepEqual(
      PARTS[module].filter((part) => !gone.includes(part)),
      [],
    );
    const { valid, errors } = await new Validator().validate(structuredClone(without));
    t.true(valid, JSON.stringify(errors));
    for (const reference of referencesIn(without)) {
      const [, , kind = '', name = ''] = reference.split('/');
      const known = without.components[kind as keyof Document['components']];
      t.true(name in known, reference);
    }
  });
}

test('the markers in the file name optional capabilities, and no other key begins like them', async (t) => {
  const text = (await readFile(FILE, 'utf8')).replace(/^\s*#.*$/gm, '');
  const marks = [...text.matchAll(/x-module: ([\w-]+)/g)].map(([, name = '']) => name);
  t.deepEqual([...new Set(marks)].toSorted(), OPTIONAL_MODULES.toSorted());
  const keys = [...text.matchAll(/(?<![\w/])(x-[\w-]+):/g)].map(([, key = '']) => key);
  t.deepEqual([...new Set(keys)].toSorted(), ['x-module', 'x-shared']);
});

/** Returns what two descriptions are compared by: operations, their parameters and statuses, and webhooks. */
function factsOf(one: Document): string[] {
  const of = operations(one).flatMap(({ id, parameters: named, statuses }) => [
    id,
    ...named.map((name) => `${id} ${placeOf(one, name)}`),
    ...statuses.map((status) => `${id} ${status}`),
  ]);
  return [...of, ...Object.keys(one.webhooks).map((name) => `webhook ${name}`)];
}

function placeOf(one: Document, name: string): string {
  const { in: place, name: sent } = one.components.parameters[name] as Parameter & { readonly in: string };
  return `${place} ${sent}`;
}

function codesOf(name: string): SwordErrorCode[] {
  if (name in OF_HTTP) return [];
  return name.split('.').filter((code) => code !== OF_UPLOADS) as SwordErrorCode[]; // compared with all codes above
}

function statusOf(code: SwordErrorCode): string {
  return String(SWORD_ERRORS[code].status);
}

function property(schema: string, name: string): Schema {
  return schemas[schema]?.properties?.[name] ?? {};
}
