import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { MAX_CHANGES } from '../../src/domain/deposit/limits.ts';
import type { JsonObject, RecordedEvent } from '../../src/event-log/event-log.ts';
import { chainHash, sealAfter } from '../../src/event-log/integrity/hash-chain.ts';
import { tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import {
  ATOM,
  child,
  DEPOSIT,
  type Parsed,
  parsedBody,
  SWORD,
  texts,
} from '../../testing/documents/parsed-body.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  ATOM_TYPE,
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  type FormPart,
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
import { pathOf } from '../../testing/http/made-deposits.ts';
import { RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { RunningService } from '../../testing/service/running-service.ts';

type Context = { service: RunningService; alice: TestClient; acme: TestClient };
const test = anyTest as TestFn<Context>;

test.before(async (t) => {
  const service = await RunningService.start({ maxArchives: 3 });
  const alice = await service.register('alice', { collections: ['software', 'zips'] });
  const accept = ['application/zip'];
  await service.administration.collection({ type: 'ChangeAcceptedTypes', collection: 'zips', accept });
  const limits = { domain: 'acme.example', providerUrl: 'https://acme.example/code' };
  const acme = await service.register('acme', { collections: ['software'], ...limits });
  t.context = { service, alice, acme };
});

test.after.always((t) => t.context.service[Symbol.asyncDispose]());

const bareArchive: FormPart = {
  headers: { 'content-type': 'application/zip', 'content-disposition': 'form-data; filename=hello.zip' },
  body: helloZip,
};
const bareEntry: FormPart = { headers: { 'content-type': 'application/atom+xml' }, body: helloEntry };

const ofForm = { headers: formType, types: ['ArchiveAdded', 'MetadataAdded'] } as const;

const creations: Record<
  string,
  { body: Buffer | string; headers: Record<string, string>; types: readonly string[] }
> = {
  'a form with the archive before the entry': { ...ofForm, body: helloForm },
  'a form with the entry before the archive': { ...ofForm, body: formOf([entryPart(), archivePart()]) },
  'a form whose parts have no names': { ...ofForm, body: formOf([bareEntry, bareArchive]) },
  'a form with an archive alone': { ...ofForm, body: formOf([archivePart()]), types: ['ArchiveAdded'] },
  'a form with an entry alone': { ...ofForm, body: formOf([entryPart()]), types: ['MetadataAdded'] },
  'an archive': { body: helloZip, headers: archiveHeaders(), types: ['ArchiveAdded'] },
  'an entry': { body: helloEntry, headers: { 'Content-Type': ATOM_TYPE }, types: ['MetadataAdded'] },
  'an entry as plain XML': {
    body: helloEntry,
    headers: { 'Content-Type': 'text/xml; charset=utf-8' },
    types: ['MetadataAdded'],
  },
};

for (const [what, { body, headers, types }] of Object.entries(creations)) {
  test(`${what} creates a deposit`, async (t) => {
    const { alice } = t.context;
    const answer = await alice.post('/1/software/', body, { ...headers, ...partial });
    t.is(answer.status, 201);
    const receipt = parsedBody(await answer.text());
    const id = idIn(receipt);
    t.deepEqual(await eventTypes(t, id), ['DepositCreated', ...types]);
    const archive = types.includes('ArchiveAdded') ? 'hello.zip' : 'None';
    assertReceipt(t, receipt, id, { archive, status: 'partial' });
    t.is(answer.headers.get('location'), `${alice.url}/1/software/${id}/metadata/`);
    t.is(answer.headers.get('etag'), `"${id}-${types.length}-xml"`);
  });
}

function assertReceipt(
  t: ExecutionContext<Context>,
  receipt: Parsed,
  id: number,
  { archive, status }: { archive: string; status: string },
): void {
  const { url } = t.context.service;
  t.is(receipt.name, `${ATOM}entry`);
  const fields = { deposit_id: String(id), deposit_archive: archive, deposit_status: status };
  for (const [name, value] of Object.entries(fields)) {
    t.is(child(receipt, `${DEPOSIT}${name}`).text, value);
    t.is(child(receipt, `${ATOM}${name}`).text, value, 'the deprecated tag');
  }
  t.is(child(receipt, `${DEPOSIT}deposit_date`).text, child(receipt, `${ATOM}deposit_date`).text);
  const links = receipt.children.filter(
    ({ name, attributes }) =>
      name === `${ATOM}link` && attributes['rel'] !== 'http://purl.org/net/sword/terms/originalDeposit',
  );
  const deposit = `${url}/1/software/${id}`;
  const statement = 'http://purl.org/net/sword/terms/statement';
  const feed = 'application/atom+xml;type=feed';
  t.deepEqual(
    links.map(({ attributes: { rel, href, type } }) => [rel, href, type]),
    [
      ['edit', `${deposit}/metadata/`, undefined],
      ['edit-media', `${deposit}/media/`, undefined],
      ['http://purl.org/net/sword/terms/add', `${deposit}/metadata/`, undefined],
      ['alternate', `${deposit}/status/`, undefined],
      [statement, `${deposit}/statement/`, feed],
      [statement, `${deposit}/statement/rdf/`, 'application/rdf+xml'],
      ['edit-media', `${deposit}/media/feed/`, feed],
      ['version-history', `${deposit}/history/`, feed],
    ],
  );
  t.is(texts(receipt, `${SWORD}packaging`)[0], 'http://purl.org/net/sword/package/SimpleZip');
  t.not(child(receipt, `${SWORD}treatment`).text, '');
  t.regex(child(receipt, `${ATOM}id`).text, /^urn:uuid:/);
  const sources = receipt.children
    .filter(({ name }) => name === `${ATOM}content`)
    .map(({ attributes }) => attributes['src']);
  t.deepEqual(sources, archive === 'None' ? [] : [`${deposit}/media/`]);
}

test('a created deposit is complete unless In-Progress is true', async (t) => {
  const { alice } = t.context;
  const cases = [
    [{}, 'deposited'],
    [final, 'deposited'],
    [{ 'In-Progress': 'FALSE' }, 'deposited'],
    [{ 'In-Progress': 'True' }, 'partial'],
  ] as const;
  for (const [headers, status] of cases) {
    const answer = await alice.post('/1/software/', helloForm, { ...formType, ...headers });
    const id = idIn(parsedBody(await answer.text()));
    const isComplete = (await eventTypes(t, id)).includes('DepositCompleted');
    t.is(isComplete, status === 'deposited', JSON.stringify(headers));
  }
});

test('a slug becomes the end of the origin if the client has a provider URL', async (t) => {
  const { acme } = t.context;
  const entry = entryXml(
    '<title>Anvil</title><author><name>Wile</name></author><codemeta:url>https://www.acme.example/anvil</codemeta:url>',
  );
  const answer = await acme.post('/1/software/', formOf([archivePart(), entryPart(entry)]), {
    ...formType,
    Slug: 'anvil%202',
  });
  const id = idIn(parsedBody(await answer.text()));
  const status = parsedBody(await acme.waitFor(`/1/software/${id}/status/`, 'done', 'rejected'));
  const context = child(status, `${DEPOSIT}deposit_ref_id_context`).text;
  t.true(context.includes(';origin=https://acme.example/code/anvil%25202;'));
});

test('added archives get 201 and the receipt, replaced ones 204; without In-Progress the deposit stays partial', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const media = `/1/software/${id}/media/`;
  const added = await alice.post(
    media,
    helloTar,
    archiveHeaders('second.tar', 'application/x-tar; charset=binary'),
  );
  t.is(added.status, 201);
  t.is(added.headers.get('location'), `${alice.url}${media}`);
  assertReceipt(t, parsedBody(await added.text()), id, { archive: 'second.tar', status: 'partial' });
  const replaced = await alice.put(media, helloTar, archiveHeaders('only.tar', 'application/x-tar'));
  t.deepEqual([replaced.status, await replaced.text()], [204, '']);
  t.is(replaced.headers.get('etag'), `"${id}-4"`);
  const form = await alice.put(media, formOf([archivePart(helloZip, 'form.zip')]), { ...formType });
  t.is(form.status, 204);
  t.deepEqual(await eventTypes(t, id), [
    'DepositCreated',
    'ArchiveAdded',
    'MetadataAdded',
    'ArchiveAdded',
    'ArchivesReplaced',
    'ArchivesReplaced',
  ]);
  t.deepEqual(Buffer.from(await (await alice.get(media)).arrayBuffer()), helloZip);
});

test('an archive with In-Progress: false completes the deposit in the same append', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const answer = await alice.post(`/1/software/${id}/media/`, helloZip, {
    ...archiveHeaders('last.zip'),
    ...final,
  });
  t.is(answer.status, 201);
  t.deepEqual((await eventTypes(t, id)).slice(0, 5), [
    'DepositCreated',
    'ArchiveAdded',
    'MetadataAdded',
    'ArchiveAdded',
    'DepositCompleted',
  ]);
});

test('added metadata get 201 and the receipt, replaced ones 204, also at atom/ and without a Content-Type', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const edit = `/1/software/${id}/metadata/`;
  const added = await alice.post(edit, helloEntry, { ...entryHeaders(), ...partial });
  t.is(added.status, 201);
  t.is(added.headers.get('location'), `${alice.url}${edit}`);
  assertReceipt(t, parsedBody(await added.text()), id, { archive: 'hello.zip', status: 'partial' });
  const replaced = await alice.put(`/1/software/${id}/atom/`, helloEntry, { ...entryHeaders(), ...partial });
  t.deepEqual([replaced.status, await replaced.text()], [204, '']);
  const untyped = await alice.post(edit, Buffer.from(helloEntry), { ...partial });
  t.is(untyped.status, 201, await untyped.text());
  const form = await alice.put(edit, formOf([entryPart()]), { ...formType, ...partial });
  t.is(form.status, 204);
  t.deepEqual((await eventTypes(t, id)).slice(3), [
    'MetadataAdded',
    'MetadataReplaced',
    'MetadataAdded',
    'MetadataReplaced',
  ]);
});

test('metadata without In-Progress complete the deposit', async (t) => {
  const { alice } = t.context;
  for (const method of ['POST', 'PUT'] as const) {
    const id = await begun(t);
    await alice.send(method, `/1/software/${id}/metadata/`, { body: helloEntry, headers: entryHeaders() });
    t.is((await eventTypes(t, id))[4], 'DepositCompleted', method);
  }
});

test('an empty POST to the SE-IRI completes the deposit, and repeated gets the same response', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const edit = `/1/software/${id}/metadata/`;
  for (const headers of [final, {}, { 'Content-Type': ATOM_TYPE, ...final }]) {
    const answer = await alice.post(edit, null, headers);
    t.is(answer.status, 200);
    t.not(child(parsedBody(await answer.text()), `${DEPOSIT}deposit_status`).text, 'partial');
  }
  t.is((await eventTypes(t, id)).filter((type) => type === 'DepositCompleted').length, 1);
});

test('an empty chunked body completes the deposit as well', async (t) => {
  const { alice, service } = t.context;
  const id = await begun(t);
  const post = async (chunks: readonly string[], headers: Record<string, string>) => {
    using connection = await RawConnection.to(service.url);
    const chunked = { 'Transfer-Encoding': 'chunked', ...headers };
    await connection.send(requestHead(`POST /1/software/${id}/metadata/`, alice, chunked));
    for (const chunk of chunks) {
      await connection.send(chunk);
      await pause(20); // it comes by itself
    }
    return await connection.answers(1);
  };
  const entry = `${Buffer.byteLength(helloEntry).toString(16)}\r\n${helloEntry}\r\n`;
  const headers = { ...entryHeaders(), ...partial };
  t.is((await post([entry, '0\r\n\r\n'], headers)).status, 201, 'the bytes that arrive are read');
  t.is((await post(['0\r\n\r\n'], headers)).status, 400, 'it is not marked as complete');
  const completed = await post(['0\r\n', '\r\n'], final);
  t.is(completed.status, 200);
  t.regex(completed.body, /<deposit_status>deposited</);
});

test('a partial deposit can be deleted, and then every IRI of it is gone', async (t) => {
  const { alice, service } = t.context;
  const id = await begun(t);
  const deleted = await alice.delete(`/1/software/${id}/metadata/`, { 'In-Progress': 'perhaps' });
  t.deepEqual([deleted.status, await deleted.text()], [204, '']);
  for (const end of ['metadata/', 'atom/', 'media/', 'status/', 'content/']) {
    await assertSwordError(t, await alice.get(`/1/software/${id}/${end}`), 404, 'NotFound', end);
  }
  for (const answer of [
    await alice.put(`/1/software/${id}/media/`, helloZip, archiveHeaders()),
    await alice.post(`/1/software/${id}/metadata/`, null, final),
    await alice.delete(`/1/software/${id}/metadata/`),
  ])
    await assertSwordError(t, answer, 404, 'NotFound');
  t.is((await eventsOf(service, id)).at(-1)?.type, 'DepositDeleted', 'its history remains');
});

test('the archives of a partial deposit can be removed, and others added', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const media = `/1/software/${id}/media/`;
  t.is((await alice.delete(media)).status, 204);
  const receipt = parsedBody(await (await alice.get(`/1/software/${id}/metadata/`)).text());
  assertReceipt(t, receipt, id, { archive: 'None', status: 'partial' });
  const { headers } = await alice.get(media);
  t.is((await alice.delete(media)).status, 204, 'they are already gone');
  t.is((await alice.get(media)).headers.get('etag'), headers.get('etag'), 'nothing has happened');
  t.is((await alice.post(media, helloZip, archiveHeaders())).status, 201);
});

test('a deposit that is not partial refuses changes and names the allowed ones', async (t) => {
  const { alice } = t.context;
  const id = await begun(t, final);
  await alice.waitFor(`/1/software/${id}/status/`, 'done');
  const [edit, media] = [`/1/software/${id}/metadata/`, `/1/software/${id}/media/`];
  const before = await eventTypes(t, id);
  const answers = [
    await alice.post(media, helloZip, archiveHeaders()),
    await alice.put(media, helloZip, archiveHeaders()),
    await alice.delete(media),
    await alice.post(edit, helloEntry, entryHeaders()),
    await alice.put(edit, helloEntry, entryHeaders()),
    await alice.delete(edit),
    await alice.post(edit, null, partial),
  ];
  for (const answer of answers) {
    const summary = await assertSwordError(t, answer, 405, 'MethodNotAllowed');
    t.is(summary, `Deposit ${id} is done: it can be changed only while it is partial.`);
    t.is(answer.headers.get('allow'), 'GET, HEAD, OPTIONS');
  }
  t.deepEqual(await eventTypes(t, id), before);
});

test('a write with If-Match succeeds only at the given revision', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const [edit, media] = [`/1/software/${id}/metadata/`, `/1/software/${id}/media/`];
  const tag = (await alice.get(edit)).headers.get('etag') ?? '';
  const changed = await alice.put(edit, helloEntry, { ...entryHeaders(), ...partial, 'If-Match': tag });
  t.is(changed.status, 204);
  const stale = { ...partial, 'If-Match': tag };
  const answers = [
    await alice.put(edit, helloEntry, { ...entryHeaders(), ...stale }),
    await alice.post(media, helloZip, { ...archiveHeaders(), ...stale }),
    await alice.post(edit, null, { ...final, 'If-Match': tag }),
    await alice.delete(media, stale),
    await alice.delete(edit, stale),
  ];
  for (const answer of answers) await assertSwordError(t, answer, 412, 'ETagNotMatched');
  const now = changed.headers.get('etag') ?? '';
  t.is((await alice.delete(media, { 'If-Match': `"other", ${now}` })).status, 204);
  t.is((await alice.delete(edit, { 'If-Match': '*' })).status, 204);
});

test('an entity tag with the suffix of a compressing proxy matches the same revision', async (t) => {
  const { alice } = t.context;
  const edit = `/1/software/${await begun(t)}/metadata/`;
  const tag = (await alice.get(edit)).headers.get('etag') ?? '';
  for (const coding of ['gzip', 'br', 'zstd']) {
    const coded = tag.replace(/"$/, `-${coding}"`);
    t.is((await alice.get(edit, { 'If-None-Match': coded })).status, 304);
    t.is((await alice.get(edit, { 'If-None-Match': `W/${coded}` })).status, 304);
    const other = { ...entryHeaders(), ...partial, 'If-Match': coded.replace(/-\d+-/, '-99-') };
    await assertSwordError(t, await alice.put(edit, helloEntry, other), 412, 'ETagNotMatched');
  }
  const coded = { ...entryHeaders(), ...partial, 'If-Match': tag.replace(/"$/, '-gzip"') };
  t.is((await alice.put(edit, helloEntry, coded)).status, 204);
});

test('a write with If-None-Match is refused while the resource exists', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const [edit, media] = [`/1/software/${id}/metadata/`, `/1/software/${id}/media/`];
  const tag = (await alice.get(edit)).headers.get('etag') ?? '';
  for (const excluded of ['*', `"other", ${tag}`]) {
    const headers = { ...partial, 'If-None-Match': excluded };
    const answers = [
      await alice.put(edit, helloEntry, { ...entryHeaders(), ...headers }),
      await alice.post(media, helloZip, { ...archiveHeaders(), ...headers }),
      await alice.delete(edit, headers),
    ];
    for (const answer of answers) await assertSwordError(t, answer, 412, 'ETagNotMatched');
  }
  t.is((await alice.delete(edit, { 'If-None-Match': '"other"' })).status, 204);
});

test('If-None-Match: * does not apply to a new deposit, and If-Match applies to reads as well', async (t) => {
  const { alice } = t.context;
  const any = { ...archiveHeaders(), ...partial, 'If-None-Match': '*' };
  const created = await alice.post('/1/software/', helloZip, any);
  t.is(created.status, 201);
  const edit = new URL(created.headers.get('location') ?? '').pathname;
  const tag = created.headers.get('etag') ?? '';
  const ofDeposit = tag.replace('-xml', '');
  for (const iri of ['metadata', 'media', 'media/1', 'status', 'content', 'statement', 'history']) {
    const target = edit.replace('metadata', iri);
    await assertSwordError(t, await alice.get(target, { 'If-Match': '"1-99"' }), 412, 'ETagNotMatched', iri);
    const head = await alice.send('HEAD', target, { headers: { 'If-Match': '"1-99"' } });
    t.is(head.status, 412, iri);
    for (const matching of [tag, ofDeposit, '*'])
      t.true((await alice.get(target, { 'If-Match': matching })).ok, `${iri} ${matching}`);
  }
});

test('PUT with Content-Range is refused, since the part would replace the whole', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const media = `/1/software/${id}/media/`;
  const range = { 'Content-Range': 'bytes 0-99/1000' };
  for (const [target, headers, body] of [
    [media, archiveHeaders(), helloZip],
    [`${media}1`, archiveHeaders(), helloZip],
    [`/1/software/${id}/metadata/`, entryHeaders(), helloEntry],
  ] as const) {
    const refused = await alice.put(target, body, { ...headers, ...partial, ...range });
    await assertSwordError(t, refused, 400, 'ErrorBadRequest', target);
  }
});

test('of concurrent writes with the same If-Match exactly one succeeds', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const edit = `/1/software/${id}/metadata/`;
  const tag = (await alice.get(edit)).headers.get('etag') ?? '';
  const headers = { ...entryHeaders(), ...partial, 'If-Match': tag };
  const answers = await Promise.all(Array.from({ length: 8 }, () => alice.put(edit, helloEntry, headers)));
  t.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [204, 412, 412, 412, 412, 412, 412, 412],
  );
  t.is((await eventTypes(t, id)).length, 4);
});

test('concurrently created deposits get distinct ids', async (t) => {
  const { alice } = t.context;
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => alice.post('/1/software/', helloForm, { ...formType, ...partial })),
  );
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  const ids = await Promise.all(answers.map(async (answer) => idIn(parsedBody(await answer.text()))));
  t.is(new Set(ids).size, 20);
  t.deepEqual(new Set(answers.map(({ headers }) => headers.get('location'))).size, 20);
});

test('concurrent final requests complete the deposit once', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const edit = `/1/software/${id}/metadata/`;
  const answers = await Promise.all(Array.from({ length: 20 }, () => alice.post(edit, null, final)));
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  await alice.waitFor(`/1/software/${id}/status/`, 'done');
  t.is((await eventTypes(t, id)).filter((type) => type === 'DepositCompleted').length, 1);
});

test('concurrent additions are all recorded', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const headers = { ...entryHeaders(), ...partial };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => alice.post(`/1/software/${id}/metadata/`, helloEntry, headers)),
  );
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  t.is((await eventTypes(t, id)).filter((type) => type === 'MetadataAdded').length, 9);
});

test('a declared MD5 is verified in hex of any case and base64, in both headers', async (t) => {
  const { alice } = t.context;
  const form = formOf([entryPart(), archivePart()]);
  const promises = [md5Of(helloZip), md5Of(helloZip).toUpperCase(), md5Of(helloZip, 'base64')];
  for (const md5 of promises) {
    for (const spelling of ['Content-MD5', 'CONTENT_MD5']) {
      const headers = { [spelling]: md5, ...partial };
      const binary = await alice.post('/1/software/', helloZip, { ...archiveHeaders(), ...headers });
      t.is(binary.status, 201, `${spelling} ${md5}`);
      const multipart = await alice.post('/1/software/', form, { ...formType, ...headers });
      t.is(multipart.status, 201, 'for a form it is the MD5 of the archive');
    }
  }
  const ofEntry = { 'Content-Type': ATOM_TYPE, 'Content-MD5': md5Of(helloEntry), ...partial };
  const entry = await alice.post('/1/software/', helloEntry, ofEntry);
  t.is(entry.status, 201);
});

test('a deposit accepts up to the configured number of archives', async (t) => {
  const { alice } = t.context;
  const id = await begun(t);
  const media = `/1/software/${id}/media/`;
  for (const name of ['second.zip', 'third.zip'])
    t.is((await alice.post(media, helloZip, archiveHeaders(name))).status, 201);
  const fourth = await alice.post(media, helloZip, archiveHeaders('fourth.zip'));
  t.regex(await assertSwordError(t, fourth, 400, 'ErrorBadRequest'), /3/);
});

test('a deposit at its limit of changes accepts only final ones, and refuses others before the body', async (t) => {
  const { alice, service } = t.context;
  const [ended, left] = [await begun(t), await begun(t)];
  for (const id of [ended, left]) await changeOften(service, id, MAX_CHANGES - 2); // it began with two
  const [edit, media] = [`/1/software/${ended}/metadata/`, `/1/software/${ended}/media/`];
  using connection = await RawConnection.to(service.url);
  const waiting = { 'Content-Length': 1000, Expect: '100-continue' };
  await connection.send(requestHead(`PUT ${media}`, alice, { ...archiveHeaders(), ...waiting }));
  const early = await connection.answers(1);
  t.is(early.status, 400);
  t.regex(early.body, /1000 changes.*complete it.*delete it/s);
  for (const target of [media, `${media}1/`]) {
    const text = await alice.put(target, 'x', archiveHeaders('x.txt', 'text/plain'));
    await assertSwordError(t, text, 415, 'ErrorContent', 'the type is judged first');
  }
  for (const answer of [
    await alice.delete(media),
    await alice.put(`${media}1/`, helloZip, archiveHeaders()),
    await alice.put(edit, helloEntry, { ...entryHeaders(), ...partial }),
    await alice.post(edit, helloEntry, { ...entryHeaders(), ...partial }),
  ])
    t.regex(await assertSwordError(t, answer, 400, 'ErrorBadRequest'), /1000 changes/);
  const last = await alice.put(media, helloZip, { ...archiveHeaders(), ...final });
  t.is(last.status, 204);
  t.true((await eventsOf(service, ended)).some(({ type }) => type === 'DepositCompleted'));
  t.is((await alice.delete(`/1/software/${left}/metadata/`)).status, 204);
});

test('the last allowed change of a deposit gets the same response when repeated', async (t) => {
  const { alice, service } = t.context;
  const id = await begun(t);
  await changeOften(service, id, MAX_CHANGES - 3); // it began with two
  const media = `/1/software/${id}/media/`;
  const keyed = { ...archiveHeaders(), 'Idempotency-Key': randomUUID() };
  const [first, again] = [
    await alice.post(media, helloZip, keyed),
    await alice.post(media, helloZip, keyed),
  ] as const;
  t.deepEqual([first.status, again.status], [201, 201]);
  t.is(again.headers.get('etag'), first.headers.get('etag'));
  const another = await alice.post(media, helloZip, { ...keyed, 'Idempotency-Key': randomUUID() });
  await assertSwordError(t, another, 400, 'ErrorBadRequest');
});

/** As a client that removes what it has added again and again would. */
async function changeOften({ service: { log } }: RunningService, id: number, times: number): Promise<void> {
  const stream = `deposit-${id}`;
  const [last] = await Array.fromAsync(log.readStream(stream, { backwards: true, limit: 1 }));
  if (!last) throw new Error(`Deposit ${id} not found.`);
  const { occurredAt, actor, schemaVersion } = last.metadata;
  const metadata = { occurredAt, actor, schemaVersion, $correlationId: randomUUID() } as JsonObject;
  const events = Array.from({ length: times }, () => {
    return { id: randomUUID(), type: 'ArchiveRemoved', data: { depositId: id, number: 2 }, metadata };
  });
  const sealed = sealAfter(stream, last.revision, chainHash(last), events);
  // In parts: on a busy machine one append of all takes longer than an append may.
  for (let from = 0, { revision } = last; from < sealed.length; from += 100)
    ({ revision } = await log.append(stream, revision, sealed.slice(from, from + 100)));
}

test('an archive with a generic type, or a part without one, is identified by its bytes', async (t) => {
  const { alice } = t.context;
  const tarGz = gzipSync(helloTar);
  const types = { 'application/zip': helloZip, 'application/x-tar': helloTar, 'application/gzip': tarGz };
  for (const label of ['octet-stream', 'x-zip-compressed', 'x-gtar-compressed']) {
    for (const [type, bytes] of Object.entries(types)) {
      const headers = { ...archiveHeaders('a', `application/${label}`), ...partial };
      const created = await alice.post('/1/software/', bytes, headers);
      t.is(created.status, 201, `${label} ${type}`);
      const media = `${pathOf(created)}media/`;
      t.is((await alice.get(media)).headers.get('content-type'), type);
    }
    const text = await alice.post('/1/software/', 'text', archiveHeaders('a', `application/${label}`));
    await assertSwordError(t, text, 415, 'ErrorContent', 'the bytes are no archive');
  }
  const { headers, body } = archivePart();
  const untyped = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'Content-Type'));
  const form = formOf([{ headers: untyped, body }, entryPart()]);
  t.is((await alice.post('/1/software/', form, { ...formType, ...partial })).status, 201);
});

test('an archive is returned under its label only if that fits its bytes', async (t) => {
  const { alice } = t.context;
  const tarGz = gzipSync(helloTar);
  const cases = [
    [helloTar, 'gzip', 'x-tar'],
    [helloTar, 'x-compressed-tar', 'x-tar'],
    [helloTar, 'x-gtar', 'x-gtar'],
    [helloZip, 'x-tar', 'zip'],
    [tarGz, 'x-xz', 'gzip'],
    [tarGz, 'zip', 'gzip'],
    [tarGz, 'x-gzip', 'x-gzip'],
    [tarGz, 'x-tar', 'x-tar'],
  ] as const;
  for (const [bytes, label, expected] of cases) {
    const headers = { ...archiveHeaders('a', `application/${label}`), ...partial };
    const created = await alice.post('/1/software/', bytes, headers);
    const media = `${pathOf(created)}media/`;
    t.is((await alice.get(media)).headers.get('content-type'), `application/${expected}`, label);
  }
});

test('a file name in any script is returned in the receipt and, in both forms, with the archive', async (t) => {
  const { alice } = t.context;
  const name = 'naïve 文.zip';
  const extended = `attachment; filename*=UTF-8''${encodeURIComponent(name)}`;
  const inHeader = { ...archiveHeaders(), ...partial, 'Content-Disposition': extended };
  const form = formOf([archivePart(helloZip, name), entryPart()]);
  const created = [
    await alice.post('/1/software/', helloZip, inHeader),
    await alice.post('/1/software/', form, { ...formType, ...partial }),
  ];
  for (const answer of created) {
    t.is(answer.status, 201);
    const edit = new URL(answer.headers.get('location') ?? '').pathname;
    t.true((await answer.text()).includes(`<deposit_archive>${name}</deposit_archive>`));
    for (const target of ['media', 'media/1']) {
      const got = await alice.get(edit.replace('metadata', target));
      t.is(
        got.headers.get('content-disposition'),
        `attachment; filename="na_ve _.zip"; filename*=UTF-8''${encodeURIComponent(name)}`,
      );
    }
  }
});

test('a collection accepts the archive types that it lists', async (t) => {
  const { alice } = t.context;
  const tar = archiveHeaders('hello.tar', 'application/x-tar');
  const form = formOf([archivePart(helloTar, 'hello.tar', 'application/gzip')]);
  for (const answer of [
    await alice.post('/1/zips/', helloTar, { ...tar, ...partial }),
    await alice.post('/1/zips/', helloTar, { ...archiveHeaders(), ...partial }), // labelled as a zip
    await alice.post('/1/zips/', form, { ...formType, ...partial }),
  ])
    await assertSwordError(t, answer, 415, 'ErrorContent');
  t.is((await alice.post('/1/zips/', helloZip, { ...archiveHeaders(), ...partial })).status, 201);
});

test('an origin is accepted only below the provider URL', async (t) => {
  const { acme, alice } = t.context;
  const naming = (url: string) =>
    entryXml(
      `<title>A</title><author><name>W</name></author><codemeta:url>https://acme.example/</codemeta:url><d:create_origin><d:origin url="${url}"/></d:create_origin>`,
    );
  const headers = { 'Content-Type': ATOM_TYPE, ...partial };
  const allowed = await acme.post('/1/software/', naming('https://acme.example/code/anvil'), headers);
  t.is(allowed.status, 201);
  const id = idIn(parsedBody(await allowed.text()));
  const outside = naming('https://acme.example/codex/anvil');
  for (const answer of [
    await acme.post('/1/software/', outside, headers),
    await acme.post('/1/software/', formOf([archivePart(), entryPart(outside)]), formType),
    await acme.put(`/1/software/${id}/metadata/`, outside, headers),
    await alice.post('/1/software/', outside, headers),
  ])
    await assertSwordError(t, answer, 403, 'Forbidden');
  await acme.post(`/1/software/${id}/media/`, helloZip, { ...archiveHeaders(), ...final });
  const status = parsedBody(await acme.waitFor(`/1/software/${id}/status/`, 'done', 'rejected'));
  const context = child(status, `${DEPOSIT}deposit_ref_id_context`).text;
  t.true(context.includes(';origin=https://acme.example/code/anvil;'));
});

test('non-ASCII metadata are returned unchanged, in any encoding', async (t) => {
  const { alice } = t.context;
  const text = '<entry xmlns="http://www.w3.org/2005/Atom"><title>Café ÿ</title></entry>';
  const latin1 = Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${text}`, 'latin1');
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
  for (const entry of [latin1, utf16]) {
    const untyped = formOf([{ headers: { 'Content-Disposition': 'form-data; name=atom' }, body: entry }]);
    for (const answer of [
      await alice.post('/1/software/', entry, { 'Content-Type': 'application/atom+xml', ...partial }),
      await alice.post('/1/software/', untyped, { ...formType, ...partial }),
    ])
      t.is(child(parsedBody(await answer.text()), `${ATOM}title`).text, 'Café ÿ');
  }
});

const author = '<author><name>Ada</name></author>';
const rejections: Record<string, { parts: FormPart[]; detail: RegExp }> = {
  'no archive': { parts: [entryPart()], detail: /^- The deposit has no software archive \(archive\)$/ },
  'no metadata': { parts: [archivePart()], detail: /^- The deposit has no metadata \(metadata\)$/ },
  'no author': {
    parts: [archivePart(), entryPart(entryXml('<title>T</title>'))],
    detail: /^- Mandatory fields are missing \(author\)$/,
  },
  'no title': {
    parts: [archivePart(), entryPart(entryXml(author))],
    detail: /^- Mandatory alternate fields are missing \(title, name\)$/,
  },
  'an archive that holds only an archive': {
    parts: [archivePart(zipOf([{ name: 'inner.zip', data: helloZip }]), 'outer.zip'), entryPart()],
    detail: /^- outer\.zip: .*archive.* \(archive\)$/,
  },
  'an archive that is cut off': {
    parts: [archivePart(helloZip.subarray(0, -30), 'cut.zip'), entryPart()],
    detail: /^- cut\.zip: .+ \(archive\)$/,
  },
  'a wrong checksum inside the archive': {
    parts: [archivePart(zipOf([{ name: 'a.txt', data: 'a', crc: 1 }]), 'crc.zip'), entryPart()],
    detail: /^- crc\.zip: .+ \(archive\)$/,
  },
  'a path out of the archive': {
    parts: [
      archivePart(tarOf([{ name: '../evil', data: 'x' }]), 'evil.tar', 'application/x-tar'),
      entryPart(),
    ],
    detail: /^- evil\.tar: .+ \(archive\)$/,
  },
  'an empty archive': {
    parts: [archivePart(tarOf([]), 'empty.tar', 'application/x-tar'), entryPart()],
    detail: /^- empty\.tar: .+ \(archive\)$/,
  },
};

const AFTER_REJECTION = '\nA rejected deposit cannot be changed: correct this and make a new deposit.';

for (const [what, { parts, detail }] of Object.entries(rejections)) {
  test(`${what} is rejected, with the reason in the status`, async (t) => {
    const { alice } = t.context;
    const answer = await alice.post('/1/software/', formOf(parts), { ...formType, ...final });
    t.is(answer.status, 201, 'a finding of the checks is no HTTP error');
    const receipt = parsedBody(await answer.text());
    const id = idIn(receipt);
    // The receipt says it at once, whether or not the checks have run.
    if (what === 'no archive' || what === 'no metadata')
      t.regex(child(receipt, `${DEPOSIT}deposit_status_detail`).text, new RegExp(detail.source.slice(1, -1)));
    const status = parsedBody(await alice.waitFor(`/1/software/${id}/status/`, 'rejected', 'done'));
    t.is(child(status, `${DEPOSIT}deposit_status`).text, 'rejected');
    const [reasons = '', warnings] = child(status, `${DEPOSIT}deposit_status_detail`).text.split(
      '\nWarnings:\n',
    );
    t.regex(reasons.replace(AFTER_REJECTION, ''), detail);
    t.true(reasons.endsWith(AFTER_REJECTION));
    const unvouched = '- Suggested fields are missing (metadata-provenance)';
    t.is(warnings, parts.length > 1 || what === 'no archive' ? unvouched : undefined);
    t.deepEqual(texts(status, `${DEPOSIT}deposit_ref_id`), []);
  });
}

test('the service document names the domain required for the urls of a client', async (t) => {
  for (const [client, domain] of [[t.context.acme, 'acme.example'], [t.context.alice]] as const) {
    const answer = await client.get('/1/servicedocument/', { Accept: 'application/json' });
    const { client_domain: found } = (await answer.json()) as { client_domain?: string };
    t.is(found, domain);
  }
});

test('all failures are reported together: metadata, archives, url', async (t) => {
  const { acme } = t.context;
  const entry = entryXml('<codemeta:url>https://elsewhere.example/</codemeta:url>');
  const parts = [archivePart(helloZip.subarray(0, -30), 'cut.zip'), entryPart(entry)];
  const id = idIn(parsedBody(await (await acme.post('/1/software/', formOf(parts), { ...formType })).text()));
  const status = parsedBody(await acme.waitFor(`/1/software/${id}/status/`, 'rejected', 'done'));
  const lines = child(status, `${DEPOSIT}deposit_status_detail`).text.split('\n');
  t.is(lines[0], '- Mandatory fields are missing (author)');
  t.is(lines[1], '- Mandatory alternate fields are missing (title, name)');
  t.regex(lines[2] ?? '', /^- cut\.zip: /);
  t.is(
    lines[3],
    "- At least one url field must be compatible with the client's domain name (codemeta:url): expected acme.example, found elsewhere.example",
  );
  t.deepEqual(lines.slice(4), [
    AFTER_REJECTION.trim(),
    'Warnings:',
    '- Suggested fields are missing (metadata-provenance)',
  ]);
});

/** A deposit with an archive and an entry; partial, unless told otherwise. */
async function begun(
  t: ExecutionContext<Context>,
  headers: Record<string, string> = partial,
): Promise<number> {
  const answer = await t.context.alice.post('/1/software/', helloForm, { ...formType, ...headers });
  return idIn(parsedBody(await answer.text()));
}

function idIn(receipt: Parsed): number {
  return Number(child(receipt, `${DEPOSIT}deposit_id`).text);
}

async function eventTypes(t: ExecutionContext<Context>, id: number): Promise<string[]> {
  return (await eventsOf(t.context.service, id)).map(({ type }) => type);
}

function eventsOf({ service }: RunningService, id: number): Promise<RecordedEvent[]> {
  return Array.fromAsync(service.log.readStream(`deposit-${id}`));
}
